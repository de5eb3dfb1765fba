// Tells mcpdeck, if it runs, what OpenCode 2 asks and does, and answers as mcpdeck says.
// Written by "mcpdeck setup opencode --prompts"; the same with --undo removes it.
import { env } from "node:process"

const asked = new Map() // open permissions by ID: the line, the session, and what replies
const known = new Map() // the last lines about each session, by what they are about
const commands = new Map() // of calls that may be asked about, by ID
let hello

const open = () => [hello, ...[...known.values()].flatMap((lines) => [...lines.values()]), ...[...asked.values()].map(({ line }) => line)]

// put keeps the newest entries.
const put = (map, key, value) => map.set(key, value).size > 64 && map.delete(map.keys().next().value)

const post = (url, { reply, message }, done) => {
  const [, requestID] = /^\/permission\/([\w-]+)\/reply$/.exec(url) ?? []
  const { sessionID, permission } = asked.get(requestID) ?? {}
  if (!sessionID) return done(404)
  permission.reply({ sessionID, requestID, decision: reply, message }).then(() => done(200), () => done(0))
}

// say tells the deck; what is about a session is told again to one that comes later.
const say = (event, properties, about) => {
  const line = JSON.stringify({ event, properties: { ...properties, at: Date.now() } })
  if (about) {
    if (!known.has(properties.sessionID)) put(known, properties.sessionID, new Map())
    known.get(properties.sessionID).set(about, line)
  }
  send(line)
}

// describe says what a session is: its events do not.
const describe = async ({ session }, sessionID) => {
  const { id, parentID, title, location, agent, model, time } = await session.get({ sessionID })
  say("session.updated", { sessionID, info: { id, parentID, title, directory: location?.directory, version: "2", agent, model, time } }, "info")
}

const ask = ({ permission }, { id, sessionID, action, resources, metadata, source }) => {
  const command = metadata?.command ?? commands.get(source?.id ?? source?.callID)
  let line = JSON.stringify({ event: "permission.asked", properties: { id, sessionID, permission: action, patterns: resources, metadata: { ...metadata, command } } })
  if (line.length > most) line = JSON.stringify({ event: "permission.asked", properties: { id, sessionID, large: true } })
  put(asked, id, { line, sessionID, permission })
  send(line)
}

const take = quietly((context, { type, data }) => {
  const { sessionID, id, requestID, reply, input } = data
  const [, kind, what] = /^(permission|session)\.(?:v2\.)?([\w.]+)$/.exec(type) ?? []
  if (!kind || !sessionID) return
  if (kind === "permission" && what === "asked" && !asked.has(id)) ask(context, data)
  if (kind === "permission" && what === "replied") {
    asked.delete(requestID)
    send(JSON.stringify({ event: "permission.replied", properties: { sessionID, requestID, reply } }))
  }
  if (what === "deleted") {
    known.delete(sessionID)
    return say("session.deleted", { sessionID })
  }
  if (what === "tool.called" && typeof input?.command === "string") put(commands, id ?? data.callID, input.command)
  if (what === "execution.started") say("session.status", { sessionID, status: { type: "busy" } }, "status")
  if (/^(?:idle|execution\.(?:succeeded|failed|interrupted))$/.test(what)) say("session.idle", { sessionID }, "status")
  if (!known.get(sessionID)?.has("info") || /^(?:created|execution\.\w+)$/.test(what)) describe(context, sessionID).catch(() => {})
})

export default {
  id: "mcpdeck",
  setup: (context) => { // once for each folder
    if (env.MCPDECK_ACP) return // mcpdeck acp shows what an editor is asked
    if (!hello) {
      hello = JSON.stringify({ v: 1, hello: "opencode", mode: "stream", version: "2", directory: context.location?.directory })
      connect(open, post)
    }
    const stop = new AbortController()
    const listen = async () => {
      for await (const event of context.event.subscribe({ signal: stop.signal })) take(context, event)
    }
    listen().catch(() => {})
    return () => stop.abort()
  },
}
