// SPDX-License-Identifier: Apache-2.0
// One step of a campaign: some recipients whose time has come get their message. Messages, their price, the recipients and what the
// campaign has spent change in one transaction, so that nobody gets it twice and no budget is exceeded, whatever is killed when.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Job } from '../../../platform/work.ts'
import { acceptBulk, prepareBulk } from '../../email/area.ts'
import { chatForAccount, outcomesOfChats } from '../../messenger/area.ts'
import { acceptBatch } from '../../sms/area.ts'
import { callerOf } from '../caller.ts'
import { findCustomer, findPeople } from '../store.ts'
import { move } from './campaign.ts'
import { variablesOf } from './content.ts'
import { afterQuiet, zoneFor } from './hours.ts'
import { type Chosen, chatTemplate, chosen, contentFor, type Verdict } from './recipients.ts'
import {
  type CampaignRow,
  dueRecipients,
  findCampaign,
  findChat,
  insertBatches,
  lockCampaign,
  lockWaiting,
  reachedAt,
  refuseChat,
  settleRecipients,
  spendCampaign,
} from './store.ts'

/** Outcome of a recipient, as it is stored. */
interface Settled {
  readonly customer: string
  readonly state: 'sent' | 'left_out' | 'waiting'
  readonly reason?: string
  readonly channel?: string
  readonly variant?: number
  readonly address?: string
  readonly message?: string
  readonly cost?: bigint
  readonly due?: Date
}

interface SentBatch {
  readonly batch: string
  readonly channel: string
  readonly variant: number
}

/** Sends to some recipients whose time has come; false when there are none. */
export async function sendSome(app: App, caller: Caller, row: CampaignRow, limit: number): Promise<boolean> {
  const { tenant, nowMs } = caller
  const due = await app.db.query(dueRecipients, { ...tenant, id: row.id, at: new Date(nowMs), limit })
  if (due.length === 0) return false
  const found = await app.db.query(findPeople, { ...tenant, ids: due.map(({ customer_id }) => customer_id) })
  const later = new Map<string, Date>()
  if (row.quiet_hours !== null)
    for (const customer of found) {
      const zone = zoneFor(customer, caller.principal.facts.country)
      const atMs = afterQuiet(zone, row.quiet_hours, nowMs)
      if (atMs > nowMs) later.set(customer.id, new Date(atMs))
    }
  const known = new Set(found.filter(({ merged_into }) => merged_into === null).map(({ id }) => id))
  const verdicts = await chosen(
    app,
    caller,
    row,
    found.filter(({ id }) => known.has(id) && !later.has(id)),
  )
  const gone = due.filter(({ customer_id: id }) => !known.has(id)).map(({ customer_id }) => customer_id)
  const mails = await preparedMails(app, caller, row, verdicts)
  await app.db.tx(tenant, (tx) => store(app, tx, caller, row, { verdicts, later, gone, mails }))
  return true
}

type Mails = readonly {
  variant: number
  input: Parameters<typeof prepareBulk>[1]
  prepared: Awaited<ReturnType<typeof prepareBulk>>
}[]

/** Bulks of mail, one for each variant, checked before the transaction. */
async function preparedMails(app: App, caller: Caller, row: CampaignRow, verdicts: readonly Verdict[]): Promise<Mails> {
  const mailed = verdicts.flatMap((one) => ('channel' in one && one.channel === 'email' ? [one] : []))
  const variants = [...new Set(mailed.map(({ variant }) => variant))]
  return Promise.all(
    variants.map(async (variant) => {
      const content = contentFor(row, variant, 'email')
      if (!content) throw new Error('a campaign has no mail')
      const { from, subject, html, text } = content
      const recipients = mailed
        .filter((one) => one.variant === variant)
        .map(({ address, customer }) => ({ email: address, variables: variablesOf(customer) }))
      const bodies = { ...(html === undefined ? {} : { html }), ...(text === undefined ? {} : { text }) }
      const input = { from, subject, ...bodies, recipients, batch_size: 1_000 }
      return { variant, input, prepared: await prepareBulk(app, input, caller) }
    }),
  )
}

interface Decided {
  readonly verdicts: readonly Verdict[]
  /** Recipients for whom it is night, and until when. */
  readonly later: ReadonlyMap<string, Date>
  /** Recipients who are no customers any more. */
  readonly gone: readonly string[]
  readonly mails: Mails
}

async function store(app: App, tx: Tx, caller: Caller, before: CampaignRow, decided: Decided): Promise<void> {
  const { tenant } = caller
  const row = await maybe(tx.query(lockCampaign, { ...tenant, id: before.id }))
  // Paused, cancelled or taken over since it was read.
  if (row?.state !== 'running' || row.job !== before.job) return
  const { verdicts, later, gone, mails } = decided
  const customers = [...verdicts.map(({ customer }) => customer.id), ...later.keys(), ...gone]
  const locked = await tx.query(lockWaiting, { ...tenant, id: row.id, customers })
  const waiting = new Set(locked.map(({ customer_id }) => customer_id))
  const own = await withoutDuplicates(
    tx,
    row,
    caller,
    verdicts.filter(({ customer }) => waiting.has(customer.id)),
  )
  const { taken, isOver } = withinBudget(row, own)
  const settled: Settled[] = [
    ...[...later].map(([customer, due]): Settled => ({ customer, state: 'waiting', due })),
    ...gone.map((customer): Settled => ({ customer, state: 'left_out', reason: 'no_address' })),
    ...own.flatMap((one): Settled[] =>
      'reason' in one ? [{ customer: one.customer.id, state: 'left_out', reason: one.reason }] : [],
    ),
  ]
  const batches: SentBatch[] = []
  for (const variant of new Set(taken.map((one) => one.variant))) {
    const some = taken.filter((one) => one.variant === variant)
    await sendChats(app, tx, caller, row, some, settled)
    await sendMails(app, tx, caller, some, mails, variant, settled, batches)
    await sendTexts(app, tx, caller, row, some, variant, settled, batches)
  }
  const still = settled.filter(({ customer }) => waiting.has(customer))
  await tx.query(settleRecipients, {
    ...{ ...tenant, id: row.id, at: new Date(caller.nowMs) },
    customers: still.map((one) => one.customer),
    states: still.map((one) => one.state),
    reasons: still.map((one) => one.reason ?? ''),
    channels: still.map((one) => one.channel ?? ''),
    variants: still.map((one) => one.variant ?? 0),
    addresses: still.map((one) => one.address ?? ''),
    messages: still.map((one) => one.message ?? ''),
    costs: still.map((one) => String(one.cost ?? 0n)),
    dues: still.map((one) => one.due?.toISOString() ?? ''),
  })
  if (batches.length > 0)
    await tx.query(insertBatches, {
      ...{ ...tenant, id: row.id, batches: batches.map((one) => one.batch) },
      channels: batches.map((one) => one.channel),
      variants: batches.map((one) => one.variant),
    })
  const cost = still.reduce((sum, one) => sum + (one.cost ?? 0n), 0n)
  if (cost > 0n) await tx.query(spendCampaign, { ...tenant, id: row.id, cost })
  if (isOver)
    await move(
      app,
      tx,
      caller,
      { ...row, spent: row.spent + cost },
      { state: 'stopped_budget', reason: 'BUDGET_REACHED' },
    )
}

/** Leaves out who has an address at which somebody got the campaign before: it was another customer's then. */
async function withoutDuplicates(
  tx: Tx,
  { id }: CampaignRow,
  { tenant }: Caller,
  verdicts: readonly Verdict[],
): Promise<Verdict[]> {
  const addresses = verdicts.flatMap((one) => ('address' in one ? [one.address] : []))
  const found = addresses.length === 0 ? [] : await tx.query(reachedAt, { ...tenant, id, addresses })
  const reached = new Set(found.map(({ address }) => address))
  return verdicts.map(
    (one): Verdict =>
      'address' in one && reached.has(one.address) ? { customer: one.customer, reason: 'duplicate' } : one,
  )
}

/** Recipients whom the budget covers, in their order, and whether it leaves out some. */
function withinBudget(
  { budget, spent }: CampaignRow,
  verdicts: readonly Verdict[],
): { taken: Chosen[]; isOver: boolean } {
  const all = verdicts.flatMap((one) => ('channel' in one ? [one] : []))
  if (budget === null) return { taken: all, isOver: false }
  let left = budget - spent
  const taken: Chosen[] = []
  for (const one of all) {
    if (one.cost > left) return { taken, isOver: true }
    left -= one.cost
    taken.push(one)
  }
  return { taken, isOver: false }
}

async function sendTexts(
  app: App,
  tx: Tx,
  caller: Caller,
  row: CampaignRow,
  taken: readonly Chosen[],
  variant: number,
  settled: Settled[],
  batches: SentBatch[],
): Promise<void> {
  const texted = taken.flatMap((one, index) => (one.entry === null ? [] : [{ ...one, entry: { ...one.entry, index } }]))
  if (texted.length === 0) return
  const metadata = { campaign_id: idOf('campaign', row.id) }
  const { batch, outcomes } = await acceptBatch(
    app,
    tx,
    texted.map(({ entry }) => entry),
    metadata,
    caller,
  )
  batches.push({ batch, channel: 'sms', variant })
  for (const [i, { customer, address: to }] of texted.entries()) {
    const outcome = outcomes[i]
    const isSent = outcome?.error_code === null && outcome.message_id !== null
    const message = (isSent && uuidOf('sms', outcome.message_id ?? '')) || ''
    settled.push(
      isSent
        ? { customer: customer.id, state: 'sent', channel: 'sms', variant, address: to, message, cost: outcome.cost }
        : {
            customer: customer.id,
            state: 'left_out',
            reason: outcome?.error_code === 'OPTED_OUT' ? 'no_consent' : 'blocked',
          },
    )
  }
}

async function sendMails(
  app: App,
  tx: Tx,
  caller: Caller,
  taken: readonly Chosen[],
  mails: Mails,
  variant: number,
  settled: Settled[],
  batches: SentBatch[],
): Promise<void> {
  const mailed = new Map(taken.flatMap((one) => (one.channel === 'email' ? [[one.address, one] as const] : [])))
  const mail = mails.find((one) => one.variant === variant)
  if (mailed.size === 0 || !mail) return
  const entries = mail.prepared.entries.filter(({ email }) => mailed.has(email.toLowerCase()))
  const reached = new Set(entries.map(({ email }) => email.toLowerCase()))
  if (entries.length > 0) {
    const { bulk_id, messages } = await acceptBulk(app, tx, mail.input, caller, { ...mail.prepared, entries })
    batches.push({ batch: uuidOf('emailBulk', bulk_id) ?? '', channel: 'email', variant })
    for (const { email, message_id } of messages) {
      const one = mailed.get(email.toLowerCase())
      if (one)
        settled.push({
          ...{ customer: one.customer.id, state: 'sent', channel: 'email', variant, address: one.address },
          ...{ message: uuidOf('email', message_id) ?? '', cost: one.cost },
        })
    }
  }
  for (const [address, { customer }] of mailed)
    if (!reached.has(address)) settled.push({ customer: customer.id, state: 'left_out', reason: 'no_consent' })
}

const ChatPayload = Type.Object({ campaign: Type.String(), customer: Type.String() })

/** Job of a chat, which is sent once under the key of campaign and customer. */
export const chatJob: Job<App, typeof ChatPayload> = {
  lane: 'customers.chat',
  role: 'dispatch',
  payload: ChatPayload,
  concurrency: 64,
  retrySeconds: [1, 5, 30, 120, 600],
  async handle(app, { tenant, payload: { campaign: id, customer } }) {
    if (!tenant) throw new Error('a campaign belongs to an account')
    const [row] = await app.db.query(findCampaign, { ...tenant, id })
    const [chat] = await app.db.query(findChat, { ...tenant, id, customer })
    const [person] = await app.db.query(findCustomer, { ...tenant, id: customer })
    if (!row || !chat || !person) return { kind: 'done' }
    try {
      if (chat.address === null) {
        // Erased: it was sent before, or never is.
        if ((await outcomesOfChats(app.db, tenant, [chat.message_id])).length > 0) return { kind: 'done' }
        throw new AppError('NOT_FOUND', 'the customer was erased')
      }
      const caller = await callerOf(app, tenant, row)
      const template = chatTemplate(row, chat.variant, person)
      const key = `campaign ${id} ${customer}`
      await chatForAccount(app, caller, { to: chat.address, id: chat.message_id, template, key })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      await app.db.tx(tenant, async (tx) => {
        await tx.query(lockCampaign, { ...tenant, id })
        const refused = await maybe(tx.query(refuseChat, { ...tenant, id, customer, reason: 'blocked' }))
        if (refused && refused.cost > 0n) await tx.query(spendCampaign, { ...tenant, id, cost: -refused.cost })
      })
    }
    return { kind: 'done' }
  },
}

async function sendChats(
  app: App,
  tx: Tx,
  { tenant, receivedMs }: Caller,
  row: CampaignRow,
  taken: readonly Chosen[],
  settled: Settled[],
): Promise<void> {
  for (const { channel, customer, variant, address, cost } of taken) {
    if (channel !== 'messenger') continue
    const job = app.work.prepare(chatJob, tenant, { campaign: row.id, customer: customer.id })
    await app.work.add(tx, job)
    tx.afterCommit(() => app.work.begin(job))
    settled.push({
      ...{ customer: customer.id, state: 'sent', channel, variant, address, cost },
      message: newUuid(receivedMs),
    })
  }
}
