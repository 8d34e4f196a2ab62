// SPDX-License-Identifier: Apache-2.0
// Discrepancies: payments for which a provider reported other money than was asked for: another amount, another currency, or
// words from which neither can be read. If nothing was booked yet, the money is kept in suspense; if the payment was
// completed already, the books and the provider differ, and likewise if a provider takes back more than was paid. An
// operator resolves them; until then they stay on the list.

import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { buckets, idOf, uuidOf } from '../../../kernel/ids.ts'
import type { Money } from '../../../kernel/money.ts'
import { requireRoom } from '../../../ledger/ceiling.ts'
import { post, postedLegs, reverse } from '../../../ledger/wallets.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { firstBy } from '../../../platform/db/merging.ts'
import { maybe, statement, type Tx } from '../../../platform/db.ts'
import { Amount, At, EnvironmentName, listQuery, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { type Tenant, tenantOf } from '../../../platform/tenant.ts'
import { isAsAsked, type Verdict } from '../providers/provider.ts'
import { Payment } from './events.ts'
import type { PaymentRow } from './store.ts'

const every = 'd.bucket = any($buckets::smallint[])'

interface DiscrepancyRow {
  /** The payment's. */
  id: string
  account_id: string
  environment: PaymentRow['environment']
  bucket: number
  purpose: PaymentRow['purpose']
  status: PaymentRow['status']
  provider: string
  currency: string
  asked_amount: bigint
  /** Null where it was not told, or cannot be read. */
  told_amount: bigint | null
  /** Null where it is the payment's, or cannot be read. */
  told_currency: string | null
  told_words: string | null
  receipt: string | null
  found_at: Date
  resolved_at: Date | null
  note: string | null
}

const columns = `d.payment_id as id, d.bucket, d.account_id, d.environment, p.purpose, p.status, d.provider, d.currency, d.asked_amount,
  d.told_amount, d.told_currency, d.told_words, d.receipt, d.found_at, d.resolved_at, d.note`
const ofPayment = `p.bucket = d.bucket and p.account_id = d.account_id and p.environment = d.environment and p.id = d.payment_id`

/** Money as the provider tells of it, with its receipt. */
interface Told {
  told: bigint | null
  toldCurrency: string | null
  words: string | null
  receipt: string | null
}

type Found = Tenant &
  Told & {
    payment: string
    provider: string
    currency: string
    asked: bigint
    at: Date
  }

const insert = `insert into payments.discrepancies as d (bucket, account_id, environment, payment_id, provider, currency,
     asked_amount, told_amount, told_currency, told_words, receipt, found_at)
   values ($bucket, $account, $environment, $payment, $provider, $currency, $asked, $told, $toldCurrency, $words, $receipt, $at)`

const replace = `on conflict (bucket, account_id, environment, payment_id) do update
      set told_amount = excluded.told_amount, told_currency = excluded.told_currency, told_words = excluded.told_words,
          receipt = excluded.receipt, found_at = excluded.found_at, resolved_at = null, note = null`

/** Stores a discrepancy, once; an amount takes the place of what could not be read. No row when it was known. */
const insertDiscrepancy = statement.tenant<Found, { payment_id: string }>(
  'payments.insert_discrepancy',
  `${insert} ${replace} where d.told_amount is null and excluded.told_amount is not null returning d.payment_id`,
)

/** Replaces a discrepancy: a second dispute counts anew. */
const replaceDiscrepancy = statement.tenant<Found, object>('payments.replace_discrepancy', `${insert} ${replace}`)

const listOpen = statement.everywhere<
  { buckets: readonly number[]; after: string | null; limit: number },
  DiscrepancyRow
>(
  'payments.list_discrepancies',
  `select ${columns} from payments.discrepancies d join payments.payments p on ${ofPayment}
    where ${every} and d.resolved_at is null and ($after::uuid is null or d.payment_id > $after)
    order by d.payment_id limit $limit::int + 1`,
  {
    merge: firstBy(
      ({ id }) => id,
      ({ limit }) => limit + 1,
    ),
  },
)

const resolveOne = statement.everywhere<
  { buckets: readonly number[]; payment: string; note: string | null; at: Date },
  DiscrepancyRow
>(
  'payments.resolve_discrepancy',
  `update payments.discrepancies d set resolved_at = $at, note = $note from payments.payments p
    where ${every} and d.payment_id = $payment and d.resolved_at is null and ${ofPayment}
   returning ${columns}`,
)

/** Money that the provider reports, if it is not what was asked for, or cannot be read. */
export function otherMoney(payment: PaymentRow, verdict: Verdict): Told | null {
  if (verdict.kind === 'unreadable')
    return { told: null, toldCurrency: null, words: verdict.words, receipt: verdict.receipt }
  if (verdict.kind !== 'paid' || isAsAsked(payment, verdict)) return null
  const { micros: told, currency: toldCurrency = null, receipt } = verdict
  return { told, toldCurrency, words: null, receipt }
}

/** Puts a payment on the operator's list, once, if the provider told of other money than was asked for. */
export async function noteDiscrepancy(app: App, payment: PaymentRow, verdict: Verdict): Promise<void> {
  const other = otherMoney(payment, verdict)
  if (!other) return
  const { bucket, account_id: account, environment, id, provider, currency, amount: asked } = payment
  const at = new Date(app.clock.nowMs())
  const found = { bucket, account, environment, payment: id, provider, currency, asked, at, ...other }
  const isNews = (await app.db.query(insertDiscrepancy, found)).length > 0
  if (isNews)
    app.log.error(
      { payment: idOf('payment', id), provider },
      'collected amount or currency differs from the request: resolve it under GET /v1/operator/payments/discrepancies',
    )
}

/** Puts a payment on the list, or there once more, of which lost disputes and the refunds together take more than was paid. */
export async function noteTakenTwice(
  app: App,
  tx: Tx,
  { bucket, account_id: account, environment, id, provider, currency, amount: asked, refunded }: PaymentRow,
  dispute: { provider_id: string },
  disputed: bigint,
): Promise<void> {
  const told = refunded + disputed
  const at = new Date(app.clock.nowMs())
  const found = { bucket, account, environment, payment: id, provider, currency, asked, at }
  const taken = { told, toldCurrency: null, words: null, receipt: dispute.provider_id }
  await tx.query(replaceDiscrepancy, { ...found, ...taken })
  app.log.error(
    { payment: idOf('payment', id), provider },
    'refunds and lost disputes exceed the payment: resolve it under GET /v1/operator/payments/discrepancies',
  )
}

const Discrepancy = Type.Object(
  {
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    account_id: Type.String({ description: 'Id of the account it belongs to, such as `acc_…`' }),
    environment: EnvironmentName({ description: '`test` or `live`' }),
    status: Payment.properties.status,
    provider: Type.String({ description: 'Provider that collected it, such as `mpesa`' }),
    currency: Type.String({ description: 'Currency of `asked_amount`' }),
    asked_amount: Amount({ description: 'Amount requested from the payer' }),
    told_amount: Nullable(
      Amount({
        description:
          'Amount collected according to the provider, or the sum of refunds and lost disputes; null if not reported or unreadable',
      }),
    ),
    told_currency: Nullable(Type.String({ description: 'Currency according to the provider; null if unreadable' })),
    told_words: Nullable(Type.String({ description: 'Text of the provider, if it cannot be read' })),
    provider_reference: Nullable(Type.String({ description: 'Receipt of the provider, or its id of the dispute' })),
    found_at: At({ description: 'Time at which the difference was found' }),
    resolved_at: Nullable(At({ description: 'Time of resolution; null while it is open' })),
    note: Nullable(Type.String({ description: 'Note of the resolution; null if there is none' })),
  },
  { title: 'PaymentDiscrepancy' },
)

const listRoute = list({
  path: '/v1/operator/payments/discrepancies',
  operation: 'operator.listPaymentDiscrepancies',
  summary: 'List payments whose reported amount or currency differs',
  description:
    'The money of a `failed` payment is in `suspense:<provider>`, if its amount was reported. A payment with an unreadable amount stays pending until it expires. A `completed` payment was booked as requested before the amount was reported, or its refunds and lost disputes exceed the amount paid: compare it with the provider’s statement.',
  scope: 'operator',
  query: Type.Object({ limit: listQuery.limit, cursor: listQuery.cursor }),
  row: Discrepancy,
  examples: [{ name: 'The oldest' }],
  handle: async (app, { query }) => {
    const { limit, after } = windowOf(query)
    const rows = await app.db.query(listOpen, { buckets, limit, after })
    return pageOf({ limit, after, descending: false }, rows, shown)
  },
})

const actions = ['none', 'credit_account', 'returned_to_payer'] as const

const Resolved = Type.Object(
  {
    ...Discrepancy.properties,
    action: OneOf(actions, { description: 'Action on the money in suspense' }),
    amount_moved: Amount({ description: 'Amount moved out of suspense' }),
    currency_moved: Type.String({ description: 'Currency of `amount_moved`' }),
  },
  { title: 'PaymentDiscrepancyResolved' },
)

const resolveRoute = writeAcross({
  method: 'POST',
  path: '/v1/operator/payments/discrepancies/:payment_id/resolve',
  operation: 'operator.resolvePaymentDiscrepancy',
  summary: 'Resolve a payment discrepancy',
  description:
    '`credit_account` moves the money in suspense to the wallet of the account, without a fee; `returned_to_payer` books a refund that you have made at the provider yourself. The payment stays failed. `none` moves no money.',
  scope: 'operator',
  params: Type.Object({ payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }) }),
  body: Type.Object({
    note: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        rule: 'must have 1 to 500 characters',
        description: 'Note on the resolution; required if money moves',
      }),
    ),
    action: Type.Optional(OneOf(actions, { description: 'Action on the money in suspense; default `none`' })),
  }),
  reply: { status: 200, schema: Resolved },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'INVALID_STATE', 'AMOUNT_TOO_HIGH'],
  handle: async (app, tx, { params, body }, caller) => {
    const { action = 'none', note = null } = body
    if (action !== 'none' && note === null) throw invalid('note', 'is required: the reason for moving the money')
    const payment = uuidOf('payment', params.payment_id)
    const at = new Date(app.clock.nowMs())
    const found = payment && (await maybe(tx.query(resolveOne, { buckets, payment, note, at })))
    if (!found) throw new AppError('NOT_FOUND', 'no payment with this id is on the list of discrepancies')
    const moved = action === 'none' ? null : await moveOut(app, tx, found, action)
    const amount_moved = moved?.micros ?? 0n
    const currency_moved = moved?.currency ?? found.currency
    await record(tx, caller, 'payment.resolve_discrepancy', params.payment_id, {
      after: { note, action, amount: amount_moved.toString(), currency: currency_moved },
    })
    return { ...shown(found), action, amount_moved, currency_moved }
  },
})

/** Moves what is kept apart for a payment, once; gives how much that was. */
async function moveOut(
  app: App,
  tx: Tx,
  row: DiscrepancyRow,
  action: 'credit_account' | 'returned_to_payer',
): Promise<Money> {
  const { id: sourceId, purpose, status, note } = row
  const tenant = tenantOf(row)
  const step = `${purpose}:mismatch`
  // The posted amount counts, not a later report.
  const [kept] = await postedLegs(tx, tenant, { sourceId, step })
  if (!kept)
    throw new AppError('INVALID_STATE', `the payment is ${status}, and has no money in suspense`, {
      extra: { status },
    })
  const { credit: suspense, micros, currency } = kept
  if (action === 'returned_to_payer') await reverse(tx, tenant, { sourceId, step }, app.clock.nowMs())
  else {
    await requireRoom(tx, tenant, currency, micros)
    const legs = [{ debit: suspense, credit: 'wallet', micros, currency }]
    await post(tx, tenant, { sourceId, step: `${purpose}:resolve` }, legs, app.clock.nowMs(), { description: note })
  }
  return { micros, currency }
}

function shown(row: DiscrepancyRow): Static<typeof Discrepancy> {
  const { id, account_id, receipt, ...rest } = row
  return {
    payment_id: idOf('payment', id),
    account_id: idOf('account', account_id),
    environment: rest.environment,
    status: rest.status,
    provider: rest.provider,
    currency: rest.currency,
    asked_amount: rest.asked_amount,
    told_amount: rest.told_amount,
    told_currency: rest.told_words === null ? (rest.told_currency ?? rest.currency) : null,
    told_words: rest.told_words,
    provider_reference: receipt,
    found_at: rest.found_at,
    resolved_at: rest.resolved_at,
    note: rest.note,
  }
}

export const discrepancyRoutes: readonly Route[] = [listRoute, resolveRoute]
