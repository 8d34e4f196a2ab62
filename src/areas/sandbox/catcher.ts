// SPDX-License-Identifier: Apache-2.0
// Address of a sandbox hook, /h/<token>: it keeps requests and answers as its query says. It is public, since only its
// owner and those told know the token; it stores a bounded amount and sends nothing.
import { setTimeout as pause } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { newUuid } from '../../kernel/ids.ts'
import { type HookAnswer, type HookCall, hook, text } from '../../platform/api/hook.ts'
import type { App } from '../../platform/app.ts'
import { maybe, one } from '../../platform/db.ts'
import { queryChecker } from '../../platform/http/validate.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { isSignedBy, secretsFor } from '../webhooks/area.ts'
import { hookUrl, secretPlace } from './hooks.ts'
import { bytesKept, countAlike, countCaught, forgetOldest, hookOfToken, insertCaught } from './store.ts'

const maxKept = 1_000
/** Bytes kept of a body. */
const maxBodyBytes = 64 * 1024
const maxSentBytes = 1024 * 1024
/** Bytes kept by all hooks of an account, per environment. */
const maxAccountBytes = 16 * 1024 * 1024
/** Bytes of a row beside the request. */
const rowBytes = 200
const maxDelayMs = 10_000
/** Answers that are being held back at one time. */
const maxWaiting = 500
const failedStatus = 500
const redirectedStatus = 302

const Script = Type.Object({
  status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599, rule: 'must be 200 to 599' })),
  delay: Type.Optional(Type.Integer({ minimum: 0, rule: 'must be a number of milliseconds' })),
  fail: Type.Optional(Type.Integer({ minimum: 0, maximum: maxKept, rule: `must be 0 to ${maxKept}` })),
  close: Type.Optional(Type.Boolean({ rule: 'must be 1 or 0' })),
  'hub.challenge': Type.Optional(Type.String({ pattern: '^[\\w-]{1,200}$', rule: 'must be a short word' })),
  redirect: Type.Optional(Type.String({ maxLength: 2_048, pattern: '^[\\x21-\\x7e]+$', rule: 'must be a URL' })),
})

const checkScript = queryChecker(Script)

/** Answers that are being held back, of all hooks of this process. */
const load = { waiting: 0 }

export const catcherHook = hook({
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  path: '/h/:token',
  operation: 'sandbox.catch',
  summary: 'Send a request to a sandbox hook',
  maxBytes: maxSentBytes,
  limits: [{ by: 'token', perSecond: 1_000 }],
  handle: async (app, call) => {
    const { token } = call.params
    const script = checkScript(call.query).value
    const owner = /^[\w-]{1,64}$/.test(token) ? await maybe(app.db.query(hookOfToken, { token })) : null
    if (!owner) throw new AppError('NOT_FOUND', 'there is no such hook, or it was deleted')
    const { id, secret: sealed, ...tenant } = owner
    const given = call.headers['x-service-signature']
    const signature = typeof given === 'string' ? given : null
    const secrets = signature === null ? [] : await secretsOf(app, tenant, id, token, sealed)
    const status = await keep(app, { tenant, hook: id, signature, secrets, script }, call)
    if (script.delay && load.waiting < maxWaiting) await heldBack(Math.min(script.delay, maxDelayMs), call)
    return answer(status, script, call)
  },
})

interface Catch {
  tenant: Tenant
  hook: string
  signature: string | null
  /** Secrets that its requests may be signed with. */
  secrets: readonly string[]
  script: Static<typeof Script>
}

async function secretsOf(
  app: App,
  tenant: Tenant,
  hook: string,
  token: string,
  sealed: Buffer | null,
): Promise<string[]> {
  if (sealed === null) return secretsFor(app, tenant, hookUrl(app, token))
  return [(await app.secrets.open(tenant, secretPlace(hook), sealed)).toString()]
}

/** Keeps a request and decides what it is answered; null cuts the line. */
async function keep(
  app: App,
  { tenant, hook, signature, secrets, script }: Catch,
  { method, url, headers, bytes: body }: Pick<HookCall, 'method' | 'url' | 'headers' | 'bytes'>,
): Promise<number | null> {
  const query = url.split('?').slice(1).join('?')
  return app.db.tx(tenant, async (tx) => {
    const counted = await maybe(tx.query(countCaught, { ...tenant, id: hook }))
    if (!counted) throw new AppError('NOT_FOUND', 'the hook was deleted')
    const { count } = await one(tx.query(countAlike, { ...tenant, hook, query }))
    const status = script.close ? null : statusOf(script, count)
    const shown = JSON.stringify(headersOf(headers))
    const sent = textOf(body.subarray(0, maxBodyBytes))
    const bytes = rowBytes + Buffer.byteLength(shown) + Buffer.byteLength(query) + Buffer.byteLength(sent)
    const kept = await one(tx.query(bytesKept, tenant))
    const free = Math.max(0, kept.bytes + bytes - maxAccountBytes)
    const { freed_bytes } =
      free > 0 || counted.caught > maxKept
        ? await one(tx.query(forgetOldest, { ...tenant, hook, keep: maxKept - 1, free }))
        : { freed_bytes: 0 }
    // When other hooks of the account fill the space, the request is counted and answered, but not kept.
    if (freed_bytes < free) return status
    await tx.query(insertCaught, {
      ...tenant,
      hook,
      id: newUuid(app.clock.nowMs()),
      method,
      query,
      headers: shown,
      body: sent,
      truncated: body.length > maxBodyBytes,
      bytes,
      signatureValid: signature === null ? null : isSignedBy(secrets, signature, body),
      status,
    })
    return status
  })
}

function statusOf({ status = 200, fail = 0, redirect }: Static<typeof Script>, before: number): number {
  if (before < fail) return failedStatus
  return redirect === undefined ? status : redirectedStatus
}

function headersOf(headers: HookCall['headers']): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) kept[name] = String(value)
  return kept
}

/** Bytes as a text that can be stored: PostgreSQL cannot hold U+0000. */
function textOf(bytes: Buffer): string {
  return bytes.toString().replaceAll('\u0000', '\ufffd')
}

async function heldBack(delayMs: number, { gone }: Pick<HookCall, 'gone'>): Promise<void> {
  load.waiting++
  await pause(delayMs, undefined, { signal: gone() }).catch(() => undefined)
  load.waiting--
}

function answer(
  status: number | null,
  { redirect, 'hub.challenge': challenge }: Static<typeof Script>,
  { headers }: Pick<HookCall, 'headers'>,
): HookAnswer | 'cut' {
  if (status === null) return 'cut'
  const words = status < 300 ? (challenge ?? 'caught\n') : `caught, and answered ${status} as its query says\n`
  const said = text(words, status)
  // Programs are redirected; a person's browser is not led elsewhere from an address of this installation.
  const leads = status === redirectedStatus && redirect !== undefined && headers['sec-fetch-mode'] === undefined
  return leads ? { ...said, headers: { ...said.headers, location: redirect } } : said
}
