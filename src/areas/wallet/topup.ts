// SPDX-License-Identifier: Apache-2.0
// Top-up of a wallet: a payment of the account to itself, without a fee. It has two events, of the payment and of the
// wallet, both in the transaction that credits it.

import { type Static, Type } from 'typebox'
import { idOf } from '../../kernel/ids.ts'
import { formatMicros } from '../../kernel/money.ts'
import { requireFits } from '../../ledger/ceiling.ts'
import { currencyOf, microsOf } from '../../ledger/currencies.ts'
import { balanceAfter } from '../../ledger/entries.ts'
import { record } from '../../platform/api/audit.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { one, type Queryable, type Tx } from '../../platform/db.ts'
import type { Occasion } from '../../platform/events.ts'
import { tenantOf } from '../../platform/tenant.ts'
import {
  accept,
  declarePurpose,
  type NewPayment,
  Payment,
  PaymentCreate,
  type PaymentRow,
  paymentUuid,
  recordOf,
  sendNow,
  topupFields,
} from '../payments/area.ts'
import { rechargeEnded } from './auto-recharge.ts'
import { walletEvents } from './events.ts'
import { noteTopup } from './store.ts'
import { currentWallet, isLow, toldOf, walletId } from './wallet.ts'

const { amount, method, provider, phone, phone_number, card, card_token, save_card, return_url, bank } =
  PaymentCreate.properties
const { reference, metadata, callback_url } = PaymentCreate.properties

export const TopupCreate = Type.Object({
  amount,
  currency: Type.Optional(
    Type.String({ maxLength: 40, description: 'Currency of the wallet to top up; default: the account’s' }),
  ),
  method,
  provider,
  phone,
  phone_number,
  card,
  card_token,
  save_card,
  return_url,
  bank,
  reference,
  metadata,
  callback_url,
})

export const Topup = Type.Object(
  {
    ...Payment.properties,
    ...topupFields,
  },
  { title: 'Topup' },
)

export const topup = declarePurpose({
  name: 'topup',
  isFree: true,
  isOwn: true,
  completed: async (app, tx, occasion, payment) => {
    await rechargeEnded(app, tx, occasion, payment)
    await tellTopup(app, tx, occasion, payment)
  },
  failed: rechargeEnded,
  shown: ofTopup,
})

export async function acceptTopup(
  app: App,
  tx: Tx,
  input: Static<typeof TopupCreate>,
  caller: Caller,
  sendsInline: boolean,
): Promise<Static<typeof Topup>> {
  const payment = paymentFor(input, caller)
  await requireFitting(tx, payment, caller)
  const accepted = await accept(app, tx, { input: payment, occasion: caller, sendsInline, purpose: topup })
  const { id, status, amount, currency } = accepted
  await record(tx, caller, 'wallet.topup', idOf('payment', id), {
    after: { status, amount: formatMicros(amount), currency },
  })
  return topupOf(tx, accepted)
}

/** Refuses a top-up that the wallet has no room for; money that arrives meanwhile is taken all the same. */
async function requireFitting(tx: Tx, payment: NewPayment, { tenant, nowMs }: Caller): Promise<void> {
  const currency = currencyOf(payment.currency)
  const { wallet } = await currentWallet(tx, tenant, currency, nowMs)
  requireFits(wallet.balanceMicros, currency, microsOf('amount', payment.amount, currency))
}

/** Asks the provider, and gives the top-up as it is after its first word. */
export async function sendTopup(
  app: App,
  caller: Caller,
  paymentId: string,
  input: Static<typeof TopupCreate>,
): Promise<Static<typeof Topup>> {
  return topupOf(app.db, await sendNow(app, caller, paymentUuid(paymentId), paymentFor(input, caller)))
}

/** The payment that a top-up is. */
function paymentFor(input: Static<typeof TopupCreate>, { principal }: Caller): NewPayment {
  return { ...input, currency: input.currency ?? principal.facts.currency }
}

async function topupOf(queryable: Queryable, payment: PaymentRow): Promise<Static<typeof Topup>> {
  return { ...recordOf(payment), ...(await ofTopup(queryable, payment)) }
}

/** Fields of a top-up beside those of every payment. */
async function ofTopup(queryable: Queryable, payment: PaymentRow) {
  const { id: sourceId, status } = payment
  const tenant = tenantOf(payment)
  const currency = currencyOf(payment.currency)
  const isThere = status === 'completed'
  return {
    type: 'topup' as const,
    wallet_id: walletId(tenant, currency),
    new_balance: isThere ? await balanceAfter(queryable, tenant, currency, { sourceId, step: 'topup:settle' }) : null,
  }
}

async function tellTopup(app: App, tx: Tx, occasion: Occasion, payment: PaymentRow): Promise<void> {
  const { tenant } = occasion
  const currency = currencyOf(payment.currency)
  const current = await currentWallet(tx, tenant, currency, occasion.receivedMs)
  const low = isLow(current.wallet, current.threshold)
  const { sequence } = await one(tx.query(noteTopup, { ...tenant, currency, low }))
  await app.outbox.emit(tx, walletEvents.topupCompleted, occasion, walletId(tenant, currency), {
    ...toldOf(tenant, current, sequence),
    amount: payment.amount,
    payment_id: idOf('payment', payment.id),
  })
}
