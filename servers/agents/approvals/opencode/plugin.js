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
const roles = new Map() // who wrote a message, by its ID
const steps = new Map() // the states last said of tool calls, by ID
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

// put keeps the newest entries.
const put = (map, key, value, most) => map.set(key, value).size > most && map.delete(map.keys().next().value)

// keep has a line sent again to a deck that comes later.
const keep = (session, event, line) => {
  if (!known.has(session)) put(known, session, new Map(), 64)
  known.get(session).set(event, line)
}

// record says what was asked and said, and what tools are called and change.
const record = ({ type, sessionID, messageID, text, synthetic, ignored, time, tool, callID, state }) => {
  const role = roles.get(messageID)
  const say = (event, more) => JSON.stringify({ event: "message." + event, properties: { sessionID, at: Date.now(), ...more } })
  if (type === "text" && role && text && !synthetic && !ignored && (role === "user" || time?.end)) {
    send(say(role, { messageID, text: text.slice(0, 8192) }))
  }
  if (type !== "tool" || state.status === "pending" || steps.get(callID) === state.status) return
  put(steps, callID, state.status, 64)
  const { status, input = {}, metadata = {}, error } = state
  const { filediff, files = filediff ? [filediff] : [], exists, exit } = metadata
  const about = ["command", "filePath", "path", "pattern", "query", "url", "description", "prompt"].filter((k) => typeof input[k] === "string").slice(0, 1)
  send(say("tool", {
    callID, tool, status, input: Object.fromEntries(about.map((k) => [k, input[k].slice(0, 4096)])), exit, error: error && String(error).slice(0, 200), overwrote: tool === "write" && exists,
    lines: tool === "write" ? String(input.content).split("\n").length - String(input.content).endsWith("\n") : undefined,
    files: files.slice(0, 200).map((f) => ({ file: f.file ?? f.filePath, additions: f.additions, deletions: f.deletions })),
  }))
}

// part says what becomes of a tool call after its prompt was settled.
const part = ({ sessionID, callID, state: { status } }) => {
  if (!calls.has(callID) || calls.get(callID) === status) return
  calls.set(callID, status)
  send(JSON.stringify({ event: "tool.part", properties: { sessionID, callID, status } }))
}

const take = quietly((client, { type, properties: p }) => {
  if (type === "message.updated") return void put(roles, p.info.id, p.info.role, 256)
  if (type === "message.part.updated") {
    record(p.part)
    return p.part.type === "tool" && part(p.part)
  }
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
    if (call) put(calls, call, "", 64)
    asked.delete(p.requestID)
  }
  else if (what === "deleted") known.delete(p.sessionID)
  else keep(p.sessionID, id ? "info" : "status", line)
  send(line)
})

export const Mcpdeck = async ({ client, directory }) => {
  const first = (globalThis[Symbol.for("mcpdeck")] ??= asked) // the user and the project may both have this file
  if (first !== asked) return {}
  if (!hello) connect(hello = JSON.stringify({ v: 1, hello: "opencode", mode: "stream", directory }))
  return { event: async ({ event }) => take(client, event) }
}
