// Tells mcpdeck, if it runs, what Copilot CLI asks, and answers and sends prompts as mcpdeck says.
// Written by "mcpdeck setup copilot --prompts"; the same with --undo removes it.
import { joinSession } from "@github/copilot-sdk/extension"

const asked = new Map() // what waits, by ID: its kind, and the line
let session

const post = (url, body, done) => {
  const [, kind, id] = /^\/(permission|elicitation|session)\/([\w-]+)$/.exec(url) ?? []
  const { permissions, ui } = session.rpc
  if (kind === "session" && id === session.sessionId) session.send(body.text).then(() => done(200), () => done(0))
  else if (!kind || asked.get(id)?.kind !== kind) done(404)
  else {
    const answer = { requestId: id, result: body }
    const given = kind === "permission" ? permissions.handlePendingPermissionRequest(answer) : ui.handlePendingElicitation(answer)
    given.then((r) => done(r.success ? 200 : 409), () => done(0))
  }
}

const take = quietly(({ type, data }) => {
  const [, kind, what] = /^(permission|elicitation)\.(requested|completed)$/.exec(type) ?? []
  if (!kind) return
  const { promptRequest, ...said } = data
  const { newFileContents, fileEdits, commandSegments, ...request } = said.permissionRequest ?? {}
  const properties = { ...said, sessionId: session.sessionId, permissionRequest: kind === "permission" ? request : undefined }
  let line = JSON.stringify({ event: type, properties })
  if (line.length > most) line = JSON.stringify({ event: type, properties: { sessionId: session.sessionId, requestId: data.requestId, large: true } })
  if (what === "requested") asked.set(data.requestId, { kind, line })
  else asked.delete(data.requestId)
  send(line)
})

session = await joinSession({ onPermissionRequest: async () => ({ kind: "no-result" }) }) // the terminal asks
session.on(take)
const open = () => [
  JSON.stringify({ v: 1, hello: "copilot", mode: "stream", directory: process.cwd() }),
  JSON.stringify({ event: "session.joined", properties: { sessionId: session.sessionId } }),
  ...[...asked.values()].map(({ line }) => line),
]
if (!process.env.MCPDECK_ACP) connect(open, post) // mcpdeck acp shows what an editor is asked
