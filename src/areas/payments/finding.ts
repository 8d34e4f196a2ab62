// SPDX-License-Identifier: Apache-2.0
// Operator search for a payment or payout by id, reference, or the provider's own id.
import { idOf } from '../../kernel/ids.ts'
import { elsewhere, finder } from '../../platform/operator/finding.ts'
import { kinds } from './carriers/kinds.ts'

const providers = kinds.map(({ facts: { provider } }) => `'${provider}'`).join(', ')

/** Search by the provider's reference, such as the code of an M-Pesa receipt. Index: <table>_provider_reference. */
const atProvider = (table: string) =>
  elsewhere(
    `${table}_found_by_provider_reference`,
    `select p.account_id, p.environment, p.id, p.status, null::uuid as parent,
            p.reference as label from ${table} p
      where p.environment in ('test', 'live') and p.provider in (${providers}) and p.provider_reference = $text
        and p.bucket = any($buckets::smallint[]) and p.account_id = any($accounts::uuid[])
      limit $most::int`,
  )

export const paymentFinders = [
  finder({
    kind: 'payment',
    prefix: 'payment',
    table: 'payments.payments',
    ...{ scope: 'payments:read', label: 't.reference' },
    status: 't.status',
    words: ['reference'],
    others: [atProvider('payments.payments')],
    path: (id) => `/payments/${idOf('payment', id)}`,
  }),
  finder({
    kind: 'payout',
    prefix: 'payout',
    table: 'payments.payouts',
    ...{ scope: 'payouts:read', label: 't.reference' },
    status: 't.status',
    words: ['reference'],
    others: [atProvider('payments.payouts')],
    path: (id) => `/payouts/${idOf('payout', id)}`,
  }),
]
