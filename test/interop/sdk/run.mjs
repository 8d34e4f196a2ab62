// SPDX-License-Identifier: Apache-2.0
// Runs the cases with the TypeScript SDK and prints what came of each, a line of JSON a case. The same as run.py and run.php.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Pamoja, PamojaError, WebhookVerificationError, webhooks } from '@pamoja/sdk'

const { cases, bad, nowhere, sandbox, key } = JSON.parse(readFileSync(0, 'utf8'))

function clientOf({ at, client = {} }, index, pauses) {
  if (at === 'sandbox') return new Pamoja({ baseUrl: sandbox, apiKey: key })
  const { timeoutMs, ...options } = client
  const baseUrl = at === 'nowhere' ? nowhere : `${bad}/${index}`
  const sleep = async (ms) => void pauses.push(ms / 1000)
  return new Pamoja({
    baseUrl,
    apiKey: 'pmj_test_of_the_cases',
    ...options,
    ...(timeoutMs ? { timeout: timeoutMs } : {}),
    sleep,
  })
}

function given(value) {
  if (value === '$fresh') return randomUUID()
  if (value?.$file) return new File([value.$file], value.name, { type: value.type })
  return value
}

function called(pamoja, { operation, path = [], input, options }) {
  const [area, verb] = operation.split('.')
  const fields = input && Object.fromEntries(Object.entries(input).map(([name, value]) => [name, given(value)]))
  const { timeoutMs, ...own } = options ?? {}
  const last = { ...own, ...(timeoutMs ? { timeout: timeoutMs } : {}) }
  return pamoja[area][verb](...path, ...(fields ? [fields] : []), ...(options ? [last] : []))
}

async function taken(pamoja, call) {
  const { take, limit, pathFrom, times = 1 } = call
  if (pathFrom) call.path = [(await called(pamoja, pathFrom))[pathFrom.field]]
  if (call.options?.idempotencyKey === '$fresh') call.options.idempotencyKey = randomUUID()
  for (let i = 1; i < times; i++) await called(pamoja, call)
  const result = called(pamoja, call)
  const idOf = (row) => row.message_id ?? row.id
  if (take === 'rows') {
    const ids = []
    for await (const row of result) ids.push(idOf(row))
    return { ids }
  }
  if (take === 'array') return { ids: (await result.toArray({ limit })).map(idOf) }
  if (take === 'messages') {
    const ids = []
    for await (const { id } of result) if (ids.push(id) >= limit) break
    return { ids }
  }
  if (take === 'bytes') return { hex: Buffer.from(await (await result).arrayBuffer()).toString('hex') }
  const value = take === 'page' ? await result.page() : await result
  const { status, requestId, isReplayed, rateLimit } = value._response
  return { value, response: { status, requestId, isReplayed, rateLimit } }
}

async function received({ body, headers, secret, now, sign }) {
  if (sign) return { value: await webhooks.verify(sign, await webhooks.sign(sign, secret), secret) }
  return { value: await webhooks.verify(body, headers, secret, { now }) }
}

function failed(error) {
  if (error instanceof WebhookVerificationError) return { reason: error.reason }
  if (!(error instanceof PamojaError)) return { refused: String(error) }
  const { name: kind, status, code, message, details, fields, requestId, docUrl, retryAfter, idempotencyKey } = error
  return { error: { kind, status, code, message, details, fields, requestId, docUrl, retryAfter, idempotencyKey } }
}

for (const [index, one] of cases.entries()) {
  const pauses = []
  const outcome = await (one.webhook
    ? received(one.webhook)
    : (async () => taken(clientOf(one, index, pauses), one.call))()
  ).catch(failed)
  process.stdout.write(`${JSON.stringify({ ...outcome, pauses })}\n`)
}
process.exit(0)
