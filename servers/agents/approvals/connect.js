import { createConnection } from "node:net"
import { homedir } from "node:os"
import { join } from "node:path"

const path = process.env.MCPDECK_PROMPTS_SOCKET || SOCKET
const most = 1 << 18 // characters of a line, and of what is not read yet
let socket, connected, unread, timer, wait = 1000
// quietly keeps what goes wrong here from the agent's program.
const quietly = (f) => (...args) => { try { return f(...args) } catch {} }

const send = quietly((line) => {
  if (connected && socket.writableLength > 4 * most) socket.destroy() // nobody reads
  else if (connected) socket.write(line + "\n")
})

// connect tells each deck that comes the lines that open returns, and hands on what it posts.
const connect = quietly((open, post) => {
  const s = (socket = createConnection(path))
  const again = quietly(() => {
    if (s !== socket) return
    connected = socket = undefined
    s.destroy()
    setTimeout(connect, wait, open, post).unref()
    wait = Math.min(2 * wait, 5000)
  })
  // The end of a connection is not always told. A deck that is there says so every 15 s.
  const expect = () => (clearTimeout(timer), timer = setTimeout(again, 40_000).unref())
  const read = quietly((line) => {
    const { post: url, body, n } = JSON.parse(line)
    if (url) post(url, body, (status) => send(JSON.stringify({ posted: n, status }))) // else it is a sign of life
  })
  s.on("error", again).on("close", again).on("connect", quietly(() => {
    connected = true
    expect()
    unread = ""
    wait = 1000
    open().forEach(send)
  })).on("data", quietly((data) => {
    expect()
    const lines = (unread + data).split("\n")
    unread = lines.pop()
    if (unread.length > most) return again()
    lines.forEach(read)
  }))
  s.setEncoding("utf8").unref()
})
