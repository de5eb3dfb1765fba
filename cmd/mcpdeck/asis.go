package main

// asIs is the flag of mcpdeck mcp with which a card has its tools under the names that
// the server gave them.
const asIs = "as-is"
