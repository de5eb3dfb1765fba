// Tells mcpdeck, if it runs, what OpenCode asks and does, and answers as mcpdeck says.
// Written by "mcpdeck setup opencode --prompts"; the same with --undo removes it.
import { readFileSync, statSync } from "node:fs"
import { resolve } from "node:path"

const mostText = 1 << 15 // characters of a file whose change is said
const asked = new Map() // open prompts by ID: the line, and the client that answers
const calls = new Map() // the states last said of tool calls that were asked about, by ID
const known = new Map() // the last lines about each session, by event or call
const clients = new Map() // what reaches the server of each session, by its ID
const roles = new Map() // who wrote a message, by its ID
const steps = new Map(), inputs = new Map() // the states last said of tool calls, and what commands are called with, by ID
const texts = new Map() // what files had in them before they were written, by the call's ID
let hello

const open = () => [hello, ...[...known.values()].flatMap((lines) => [...lines.values()]), ...[...asked.values()].map(({ line }) => line)]

const post = (url, body, done) => {
  const [, id, session] = /^\/(?:(?:permission|question)\/([\w-]+)\/re(?:ply|ject)|session\/([\w-]+)\/prompt_async)$/.exec(url) ?? []
  const client = asked.get(id)?.client ?? clients.get(session)
  if (!client) return done(404)
  client._client.post({ url, body, headers: { "Content-Type": "application/json" } }).then((r) => done(r.response.status), () => done(0))
}

// put keeps the newest entries.
const put = (map, key, value, most) => map.set(key, value).size > most && map.delete(map.keys().next().value)

// keep has a line sent again to a deck that comes later. Where there is too much about a session, what it did first goes.
const keep = (session, event, line) => {
  if (!known.has(session)) put(known, session, new Map(), 64)
  const lines = known.get(session).set(event, line)
  let size = [...lines.values()].join("").length
  for (const [key, { length }] of lines) {
    if (size <= most) return
    if (/^(?:info|status|user|assistant|cut)$/.test(key)) continue
    size -= length
    lines.delete(key)
    lines.set("cut", JSON.stringify({ event: "message.cut", properties: { sessionID: session } }))
  }
}

// record says what was asked and said, and what tools are called and change.
const record = ({ type, sessionID, messageID, text, synthetic, ignored, time, tool, callID, state }) => {
  const role = roles.get(messageID)
  const say = (event, key, more) => {
    const line = JSON.stringify({ event: "message." + event, properties: { sessionID, at: Date.now(), ...more } })
    keep(sessionID, key, line)
    send(line)
  }
  if (type === "text" && role && text && !synthetic && !ignored && (role === "user" || time?.end)) {
    if (!known.get(sessionID)?.get(role)?.includes(messageID)) known.get(sessionID)?.delete(role) // it comes after what was done before
    say(role, role, { messageID, text: text.slice(0, 8192) })
  }
  if (type !== "tool" || state.status === "pending" || steps.get(callID) === state.status) return
  put(steps, callID, state.status, 64)
  const { status, input = {}, metadata = {}, error } = state
  const { filediff, files = filediff ? [filediff] : [], exists, exit } = metadata
  const before = texts.get(callID)
  const whole = tool === "write" && status === "completed" && (before !== undefined || !exists) && input.content.length <= mostText
  if (status === "completed" || status === "error") texts.delete(callID)
  const about = ["command", "filePath", "path", "pattern", "query", "url", "description", "prompt"].filter((k) => typeof input[k] === "string").slice(0, 1)
  say("tool", callID, {
    callID, tool, status, before: whole ? before : undefined, content: whole ? input.content : undefined, input: Object.fromEntries(about.map((k) => [k, input[k].slice(0, 4096)])), exit, error: error && String(error).slice(0, 200), overwrote: tool === "write" && exists,
    lines: tool === "write" ? String(input.content).split("\n").length - String(input.content).endsWith("\n") : undefined,
    files: files.slice(0, 200).map((f, i) => ({ file: f.file ?? f.filePath, additions: f.additions, deletions: f.deletions, patch: i < 12 ? f.patch?.slice(0, 8192) : undefined })),
  })
}

// writes keeps what a command is called with, and what is in a file before a call writes another text: nobody says it afterwards.
const writes = quietly((directory, { tool, callID }, { args }) => {
  if (tool === "bash") put(inputs, callID, args, 64)
  const path = tool === "write" && resolve(directory, args.filePath)
  if (path && statSync(path).isFile() && statSync(path).size <= mostText) put(texts, callID, readFileSync(path, "utf8"), 16)
})

// part says what becomes of a tool call after its prompt was settled.
const part = ({ sessionID, callID, state: { status } }) => {
  if (!calls.has(callID) || calls.get(callID) === status) return
  calls.set(callID, status)
  send(JSON.stringify({ event: "tool.part", properties: { sessionID, callID, status } }))
}

const take = quietly((client, { type, properties: p }) => {
  if (type === "message.updated") return void put(roles, p.info.id, p.info.summary !== true && p.info.role, 256) // a summary is for the model
  if (type === "message.part.updated") {
    record(p.part)
    return p.part.type === "tool" && part(p.part)
  }
  const [, kind, what] = /^(permission|question|session)\.(\w+)$/.exec(type) ?? []
  const session = kind === "session" && /^(?:created|updated|deleted|status|idle)$/.test(what)
  if (!session && !/^(?:asked|replied|rejected)$/.test(what)) return
  const { id, parentID, title, directory, version, agent, model, cost, tokens, time } = p.info ?? {}
  if (id) put(clients, id, client, 64), (p = { sessionID: id, prompts: true, info: { id, parentID, title, directory, version, agent, model, cost, tokens, time } })
  else if (session) p = { ...p, at: Date.now() }
  if (what === "asked") p = { ...p, parts: true, input: inputs.get(p.tool?.callID) } // what becomes of the call will be said
  let line = JSON.stringify({ event: type, properties: p })
  if (line.length > most) line = JSON.stringify({ event: type, properties: { id: p.id, sessionID: p.sessionID, large: true } })
  if (what === "asked") asked.set(p.id, { line, client, call: p.tool?.callID })
  else if (!session) {
    const { call } = asked.get(p.requestID) ?? {}
    if (call) put(calls, call, "", 64)
    asked.delete(p.requestID)
  }
  else if (what === "deleted") [known, clients].forEach((map) => map.delete(p.sessionID))
  else keep(p.sessionID, id ? "info" : "status", line)
  send(line)
})

export const Mcpdeck = async ({ client, directory }) => {
  const first = (globalThis[Symbol.for("mcpdeck")] ??= asked) // the user and the project may both have this file
  if (first !== asked || process.env.MCPDECK_ACP) return {} // or mcpdeck acp shows what an editor is asked
  if (!hello) {
    hello = JSON.stringify({ v: 1, hello: "opencode", mode: "stream", directory })
    connect(open, post)
  }
  return { event: async ({ event }) => take(client, event), "tool.execute.before": async (call, about) => writes(directory, call, about) }
}
