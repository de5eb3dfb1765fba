// Tells mcpdeck, if it runs, what OpenCode asks and does, and answers as mcpdeck says.
// Written by "mcpdeck setup opencode --prompts"; the same with --undo removes it.
import { createConnection } from "node:net"
import { homedir } from "node:os"
import { join } from "node:path"

const path = process.env.MCPDECK_PROMPTS_SOCKET || SOCKET
const most = 1 << 18 // characters of a line, and of what is not read yet
const asked = new Map() // open prompts by ID: the line, and the client that answers
const calls = new Map() // the states last said of tool calls that were asked about, by ID
const known = new Map() // the last lines about each session, by event
let hello, socket, connected, unread, wait = 1000
// quietly keeps what goes wrong here from OpenCode.
const quietly = (f) => (...args) => { try { return f(...args) } catch {} }

const send = quietly((line) => {
  if (connected && socket.writableLength > 4 * most) socket.destroy() // nobody reads
  else if (connected) socket.write(line + "\n")
})

const connect = quietly(() => {
  const s = (socket = createConnection(path))
  const again = quietly(() => {
    if (s !== socket) return
    connected = socket = undefined
    s.destroy()
    setTimeout(connect, wait).unref()
    wait = Math.min(2 * wait, 5000)
  })
  s.on("error", again).on("close", again).on("connect", quietly(() => {
    connected = true
    unread = ""
    wait = 1000
    send(hello)
    for (const lines of known.values()) lines.forEach(send)
    for (const prompt of asked.values()) send(prompt.line)
  })).on("data", quietly((data) => {
    const lines = (unread + data).split("\n")
    unread = lines.pop()
    if (unread.length > most) return again()
    lines.forEach(post)
  }))
  s.setEncoding("utf8").unref()
})

const post = quietly((line) => {
  const { post: url, body, n } = JSON.parse(line)
  if (!url) return // a sign of life
  const [, id] = /^\/(?:permission|question)\/([\w-]+)\/re(?:ply|ject)$/.exec(url) ?? []
  const done = (status) => send(JSON.stringify({ posted: n, status }))
  if (!asked.has(id)) return done(404)
  const request = { url, body, headers: { "Content-Type": "application/json" } }
  asked.get(id).client._client.post(request).then((r) => done(r.response.status), () => done(0))
})

// part says what becomes of a tool call after its prompt was settled.
const part = ({ sessionID, callID, state: { status } }) => {
  if (!calls.has(callID) || calls.get(callID) === status) return
  calls.set(callID, status)
  send(JSON.stringify({ event: "tool.part", properties: { sessionID, callID, status } }))
}

const take = quietly((client, { type, properties: p }) => {
  if (type === "message.part.updated") return p.part.type === "tool" && part(p.part)
  const [, kind, what] = /^(permission|question|session)\.(\w+)$/.exec(type) ?? []
  const session = kind === "session" && /^(?:created|updated|deleted|status|idle)$/.test(what)
  if (!session && !/^(?:asked|replied|rejected)$/.test(what)) return
  const { id, parentID, title, directory, version, agent, model, cost, tokens, time } = p.info ?? {}
  if (id) p = { sessionID: id, info: { id, parentID, title, directory, version, agent, model, cost, tokens, time } }
  if (what === "asked") p = { ...p, parts: true } // what becomes of the call will be said
  let line = JSON.stringify({ event: type, properties: p })
  if (line.length > most) line = JSON.stringify({ event: type, properties: { id: p.id, sessionID: p.sessionID, large: true } })
  if (what === "asked") asked.set(p.id, { line, client, call: p.tool?.callID })
  else if (!session) {
    const { call } = asked.get(p.requestID) ?? {}
    if (call && calls.set(call, "").size > 64) calls.delete(calls.keys().next().value)
    asked.delete(p.requestID)
  }
  else if (what === "deleted") known.delete(p.sessionID)
  else {
    if (!known.has(p.sessionID) && known.set(p.sessionID, new Map()).size > 64) known.delete(known.keys().next().value)
    known.get(p.sessionID).set(id ? "info" : "status", line)
  }
  send(line)
})

export const Mcpdeck = async ({ client, directory }) => {
  const first = (globalThis[Symbol.for("mcpdeck")] ??= asked) // the user and the project may both have this file
  if (first !== asked) return {}
  if (!hello) connect(hello = JSON.stringify({ v: 1, hello: "opencode", mode: "stream", directory }))
  return { event: async ({ event }) => take(client, event) }
}
