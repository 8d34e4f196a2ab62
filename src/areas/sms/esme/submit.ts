// SPDX-License-Identifier: Apache-2.0
// submit_sm, query_sm and cancel_sm of a bound customer. A submit is answered with 0 when its text, or its part of one, is
// stored; a receipt that it asks for is stored with it.
import { AppError, type ErrorCode } from '../../../kernel/errors.ts'
import { newId, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { isUnavailable, one, statement } from '../../../platform/db.ts'
import { ToldCache } from '../../../platform/nodes/told-cache.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { CancelSm, QuerySm, QuerySmAnswer, SubmitSm } from '../../../protocols/smpp/pdu.ts'
import type { SubmitAnswer } from '../../../protocols/smpp/session.ts'
import { commandStatus } from '../../../protocols/smpp/status.ts'
import type { Sending } from '../sending/accept.ts'
import { cancel } from '../sending/cancel.ts'
import { sendForAccount } from '../sending/send-for-account.ts'
import { findMessage } from '../store.ts'
import type { SmppCredential } from './credentials.ts'
import { expectReceipt, finishDelivery, judgeReceipts } from './deliveries.ts'
import { forgetText, type Joined, storePart, TooManyTexts } from './parts.ts'
import { readSubmit, type Submitted, textOfParts } from './read-submit.ts'
import { absoluteTime, stateNumber, stateOf } from './receipt.ts'

/** Customer behind a session. */
export interface Customer {
  readonly tenant: Tenant
  readonly credential: SmppCredential
  readonly address: string
}

/** Optional parameter of ours in a refusal: the error code as text. */
const codeTag = 0x1400

const statuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  INVALID_PHONE: commandStatus.ESME_RINVDSTADR,
  SENDER_NOT_ALLOWED: commandStatus.ESME_RINVSRCADR,
  NUMBER_NOT_OWNED: commandStatus.ESME_RINVSRCADR,
  MESSAGE_TOO_LONG: commandStatus.ESME_RINVMSGLEN,
  VALIDATION_ERROR: commandStatus.ESME_RINVMSGLEN,
  RATE_LIMITED: commandStatus.ESME_RTHROTTLED,
  SERVICE_UNAVAILABLE: commandStatus.ESME_RSYSERR,
  INTERNAL_ERROR: commandStatus.ESME_RSYSERR,
}

interface Standing {
  clock_offset_ms: bigint
  most: number | null
}

const standingOf = statement.home<{ account: string; environment: string }, Standing>(
  'sms.smpp_standing_of',
  `select accounts.clock_offset_ms($account::uuid, $environment::text) as clock_offset_ms,
          accounts.limit_of($account, 'sms') as most`,
)

/** Clock and limit of accounts, until they change. */
const standings = onePerApp((app) => {
  const known = new ToldCache<Standing>(app.signals, { most: 10_000, goodForMs: 30_000 })
  app.signals.on('accounts', (account) => {
    for (const environment of ['test', 'live']) known.forget(`${environment} ${account}`)
  })
  return known
})

/** Answer to a submit_sm. `reserve` is told the UUID of the text before anything is stored. */
export async function submit(
  app: App,
  customer: Customer,
  message: SubmitSm,
  reserve: (id: string) => void,
): Promise<SubmitAnswer> {
  try {
    const standing = await standingFor(app, customer)
    if (!(await isAdmitted(app, customer, standing))) return refused(commandStatus.ESME_RTHROTTLED)
    const sending = sendingOf(app, customer, standing)
    const submitted = readSubmit(message, sending.nowMs)
    if (typeof submitted === 'number') return refused(submitted)
    return submitted.part === null
      ? await submitWhole(app, customer, sending, submitted, reserve)
      : await submitPart(app, customer, sending, submitted, reserve)
  } catch (error) {
    return refusal(app, error)
  }
}

/** State of a text; null when the account has no such text. */
export async function query(app: App, { tenant }: Customer, { messageId }: QuerySm): Promise<QuerySmAnswer | null> {
  const id = uuidOfMessage(messageId)
  const row = id === null ? null : await findMessage(app.db, tenant, id)
  if (row?.direction !== 'outbound') return null
  const isOver = row.status === 'delivered' || row.status === 'failed'
  const endedAt = row.delivered_at ?? row.failed_at
  return {
    messageId,
    finalDate: isOver && endedAt ? absoluteTime(endedAt) : '',
    messageState: stateNumber(isOver ? stateOf(row) : 'ENROUTE'),
    errorCode: 0,
  }
}

export async function callOff(app: App, customer: Customer, { messageId }: CancelSm): Promise<number> {
  const { tenant } = customer
  try {
    const sending = sendingOf(app, customer, await standingFor(app, customer))
    await app.db.tx(tenant, (tx) => cancel(app, tx, sending, uuidOfMessage(messageId)))
    return commandStatus.ESME_ROK
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return commandStatus.ESME_RCANCELFAIL
    return refusal(app, error).status
  }
}

async function submitWhole(
  app: App,
  customer: Customer,
  sending: Sending,
  submitted: Submitted,
  reserve: (id: string) => void,
): Promise<SubmitAnswer> {
  const id = newUuid(sending.receivedMs)
  reserve(id)
  const { coding, octets, scheduledAt, validity } = submitted
  await expect(app, customer, sending, submitted, id, 1)
  try {
    await send(app, sending, submitted, { id, parts: [{ part: 1, coding, octets }], scheduledAt, validity })
  } catch (error) {
    if (submitted.wants !== 0) await finishDelivery(app.db, customer.tenant, { id, part: 1 })
    throw error
  }
  return { status: 0, messageId: messageIdOf(id, 1) }
}

async function submitPart(
  app: App,
  customer: Customer,
  sending: Sending,
  submitted: Submitted,
  reserve: (id: string) => void,
): Promise<SubmitAnswer> {
  const { tenant, credential } = customer
  const number = submitted.part?.number ?? 1
  const { id, whole } = await storePart(app, tenant, credential.id, submitted)
  reserve(id)
  await expect(app, customer, sending, submitted, id, number)
  if (whole === null) return { status: 0, messageId: messageIdOf(id, number) }
  try {
    await send(app, sending, submitted, whole)
  } catch (error) {
    // The last part is refused in its answer, those before it in their receipts. What may pass is left for another try.
    if (!(error instanceof AppError) || error.status >= 500) throw error
    await finishDelivery(app.db, tenant, { id, part: number })
    await judgeReceipts(app.db, tenant, id, 'REJECTD')
    await forgetText(app, tenant, id)
    throw error
  }
  await forgetText(app, tenant, id)
  return { status: 0, messageId: messageIdOf(id, number) }
}

async function expect(
  app: App,
  { tenant, credential }: Customer,
  { receivedMs }: Sending,
  { wants, userReference, from, to }: Submitted,
  id: string,
  part: number,
): Promise<void> {
  if (wants === 0) return
  const at = new Date(receivedMs)
  await expectReceipt(app.db, tenant, {
    ...{ id, part, credential: credential.id, wants, userReference, sender: from, recipient: to, at },
  })
}

/** Under the key of its id, a text is sent once, also when its last part comes again. */
async function send(app: App, sending: Sending, { from, to }: Submitted, text: Joined): Promise<void> {
  const { id, parts, scheduledAt, validity } = text
  const message = textOfParts(parts)
  const key = parts.length > 1 ? { key: `smpp ${id}` } : {}
  await sendForAccount(app, sending, { from, to, message, id, scheduledAt, validity, ...key })
}

function standingFor(app: App, { tenant: { account, environment } }: Customer): Promise<Standing> {
  return standings(app).of(`${environment} ${account}`, () => one(app.db.query(standingOf, { account, environment })))
}

function sendingOf(app: App, { tenant, credential, address }: Customer, { clock_offset_ms }: Standing) {
  const receivedMs = app.clock.nowMs()
  const nowMs = receivedMs + Number(clock_offset_ms)
  const requestId = newId('request', receivedMs)
  return { tenant, receivedMs, nowMs, requestId, actor: `smpp:${credential.system_id}`, ip: address } satisfies Sending
}

async function isAdmitted(app: App, { tenant, credential }: Customer, { most }: Standing): Promise<boolean> {
  if (app.config.PAMOJA_RATE_LIMITS === 'off') return true
  const { account, environment } = tenant
  const own = { name: 'smpp', key: `smpp:${credential.id}`, limit: credential.rate, windowMs: 1_000, shared: true }
  const plan = { name: 'plan-sms', key: `plan:${account}:${environment}:sms`, windowMs: 60_000, shared: true }
  const { refusedBy } = await app.limits.admit(most === null ? [own] : [own, { ...plan, limit: most }])
  return !refusedBy
}

function refused(status: number): SubmitAnswer {
  return { status, messageId: '' }
}

function refusal(app: App, error: unknown): SubmitAnswer {
  if (error instanceof TooManyTexts) return refused(commandStatus.ESME_RMSGQFUL)
  if (error instanceof AppError) {
    const status = statuses[error.code] ?? commandStatus.ESME_RSUBMITFAIL
    return { status, messageId: '', tlvs: { unknown: [{ tag: codeTag, value: Buffer.from(error.code, 'latin1') }] } }
  }
  if (!isUnavailable(error))
    app.log.error({ error }, 'text submitted over SMPP not accepted: the customer gets an error; check the database')
  return refused(commandStatus.ESME_RSYSERR)
}

/** Id in SMPP: the digits of the UUID, with the number of a later part behind. */
export function messageIdOf(uuid: string, part: number): string {
  const hex = uuid.replaceAll('-', '')
  return part > 1 ? `${hex}-${part}` : hex
}

function uuidOfMessage(messageId: string): string | null {
  const [hex = ''] = messageId.toLowerCase().split('-', 1)
  return /^[0-9a-f]{32}$/.test(hex) ? hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') : null
}
