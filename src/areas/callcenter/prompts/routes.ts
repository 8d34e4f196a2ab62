// SPDX-License-Identifier: Apache-2.0
// Routes of prompts: sounds that an account uploads for its IVRs.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { download, list, multipart, noContent, type Route, write } from '../../../platform/api/route.ts'
import { maybe, one } from '../../../platform/db.ts'
import { At, listQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import { maxPromptSeconds, maxPromptUploadBytes, openPrompt, storePrompt, wavHeader } from '../../voice/area.ts'
import { requireFewer, requireSmaller } from '../limits.ts'
import { holdSwitchboard } from '../switchboard.ts'
import { deletePrompt, insertPrompt, ivrWithPrompt, listPrompts, type PromptRow } from './store.ts'

const PromptId = Type.Object({ prompt_id: Type.String({ description: 'Id of the prompt, prm_…' }) })
const headBytes = 44
const slackBytes = 64 * 1_024

const PromptRecord = Type.Object(
  {
    prompt_id: Type.String({ description: 'Id of the prompt, such as `prm_…`, for `prompt_id` in menus' }),
    name: Type.String({ description: 'Name; default: the file name' }),
    duration_seconds: Type.Number({ description: 'Length in seconds' }),
    size_bytes: Type.Integer({ description: 'Size of the stored phone audio' }),
    created_at: At({ description: 'Time of the upload' }),
  },
  { title: 'Prompt' },
)

function promptRecord({ id, name, duration_ms, bytes, created_at }: PromptRow): Static<typeof PromptRecord> {
  return {
    prompt_id: idOf('prompt', id),
    name,
    duration_seconds: duration_ms / 1_000,
    size_bytes: Number(bytes),
    created_at,
  }
}

const noPrompt = () => new AppError('NOT_FOUND', 'there is no such prompt; ids of prompts begin with prm_')

function promptUuid(id: string): string {
  const uuid = uuidOf('prompt', id)
  if (uuid === null) throw noPrompt()
  return uuid
}

const upload = multipart({
  path: '/v1/voice/prompts',
  operation: 'callcenter.uploadPrompt',
  summary: 'Upload a prompt',
  description: `A sound for IVR menus to play instead of speaking a text: WAV (PCM or G.711) or MP3, at most 10 MB and ${maxPromptSeconds} seconds. Stored as phone audio until deleted. At most 1,000 per account, of 1 GiB in all.`,
  scope: 'callcenter:write',
  body: Type.Object({
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        rule: 'must have 1 to 64 characters',
        description: 'Name; default: the file name',
      }),
    ),
  }),
  files: {
    file: {
      maxBytes: maxPromptUploadBytes,
      types: ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave', 'audio/mpeg', 'audio/mp3'],
      description: 'WAV or MP3',
    },
  },
  bodyLimitBytes: maxPromptUploadBytes + slackBytes,
  reply: { status: 201, schema: PromptRecord },
  errors: ['PAYLOAD_TOO_LARGE', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
  receive: (app, { name, bytes }, _input, caller) => storePrompt(app, caller, name?.slice(0, 240) ?? null, bytes),
  discard: (app, { file }) => app.storage.discard(file),
  handle: async (app, tx, { body }, caller, [received]) => {
    if (!received) throw new AppError('VALIDATION_ERROR', 'file is missing')
    const { tenant, nowMs } = caller
    const { file, durationMs } = received.kept
    await holdSwitchboard(tx, tenant)
    await app.storage.keep(tx, file)
    const name = body.name ?? (file.name ?? 'Prompt').slice(0, 64)
    const kept = { id: file.id, name, durationMs, bytes: BigInt(file.bytes), at: new Date(nowMs) }
    const row = await one(tx.query(insertPrompt, { ...tenant, ...kept }))
    await requireFewer(tx, tenant, 'prompts')
    await requireSmaller(tx, tenant, 'prompts')
    await record(tx, caller, 'prompt.upload', idOf('prompt', row.id), { after: { name, bytes: file.bytes } })
    return promptRecord(row)
  },
})

const listOwn = list({
  path: '/v1/voice/prompts',
  operation: 'callcenter.listPrompts',
  summary: 'List prompts',
  scope: 'callcenter:read',
  query: Type.Object(listQuery),
  row: PromptRecord,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, { tenant }) => {
    const rows = await app.db.query(listPrompts, tenant)
    return pageOfWhole({ limit: 50, ...query }, rows.map(promptRecord), ({ prompt_id }) => prompt_id)
  },
})

const hear = download({
  path: '/v1/voice/prompts/:prompt_id/audio',
  operation: 'callcenter.downloadPrompt',
  summary: 'Download a prompt',
  description: 'WAV with 8,000 samples per second, as played to callers.',
  scope: 'callcenter:read',
  params: PromptId,
  types: ['audio/wav'],
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const stored = await openPrompt(app, tenant, promptUuid(params.prompt_id))
    if (!stored) throw noPrompt()
    const { bytes, sha256 } = stored.file
    return {
      type: 'audio/wav',
      name: `${params.prompt_id}.wav`,
      size: headBytes + bytes,
      tag: sha256.toString('hex'),
      open: (range) => sound(stored.read, bytes, range ?? { first: 0, last: headBytes + bytes - 1 }),
    }
  },
})

/** Bytes of the WAV file from the first to the last: of its head, and of the samples as they are stored. */
async function* sound(
  read: (range: { start: number; end: number }) => AsyncIterable<Buffer>,
  bytes: number,
  { first, last }: { first: number; last: number },
): AsyncGenerator<Buffer> {
  if (first < headBytes) yield wavHeader(bytes, 1).subarray(first, Math.min(headBytes, last + 1))
  if (last >= headBytes) yield* read({ start: Math.max(0, first - headBytes), end: last + 1 - headBytes })
}

const remove = write({
  method: 'DELETE',
  path: '/v1/voice/prompts/:prompt_id',
  operation: 'callcenter.deletePrompt',
  summary: 'Delete a prompt',
  description: 'Refused with CONFLICT while an IVR uses it.',
  scope: 'callcenter:write',
  params: PromptId,
  reply: noContent,
  errors: ['NOT_FOUND', 'CONFLICT'],
  handle: async (app, tx, { params }, caller) => {
    const { tenant } = caller
    const id = promptUuid(params.prompt_id)
    await holdSwitchboard(tx, tenant)
    if (!(await maybe(tx.query(deletePrompt, { ...tenant, id })))) throw noPrompt()
    const user = await maybe(tx.query(ivrWithPrompt, { ...tenant, prompt: params.prompt_id }))
    if (user) throw new AppError('CONFLICT', `the IVR ${user.name} uses it: change the IVR first`)
    await app.storage.drop(tx, tenant, [id])
    await record(tx, caller, 'prompt.delete', params.prompt_id)
    return {}
  },
})

export const promptRoutes: readonly Route[] = [upload, listOwn, hear, remove]
