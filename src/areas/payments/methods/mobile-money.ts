// SPDX-License-Identifier: Apache-2.0
// Payments by mobile money: the provider of the payer's number prompts the phone, or has a page that the payer is sent
// to.
import { idOf } from '../../../kernel/ids.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { type Asked, isAsAsked, type MobileMoney, type Verdict } from '../providers/provider.ts'
import { collectionFeeOf } from '../providers/terms.ts'
import { callbackUrl } from '../records/callback-address.ts'
import { missing, phoneOf } from '../records/input.ts'
import { traceOf } from '../records/provider-trace.ts'
import { comeBackUrl, sentTo } from '../records/redirect-address.ts'
import { type AttemptRow, marketOf, noteCalled, noteKept, type PaymentRow } from '../records/store.ts'
import type { PaymentMethod } from './method.ts'
import { answersByHand } from './mobile-money-by-hand.ts'
import { requireProvider } from './mobile-money-providers.ts'

/** Length of an id without its prefix. */
const shortIdLength = 26
const paidAsAsked: Verdict = { kind: 'paid', receipt: null, micros: null }

export const mobileMoney: PaymentMethod = {
  name: 'mobile_money',
  budgetMs: 8_000,
  polls: [10, 20, 35, 60, 90, 120, 150, 300, 900, 3_600, 21_600, 86_400, 259_200],
  isQueued: true,
  refusals: {},
  isMeant: ({ phone, phone_number }) => phone !== undefined || phone_number !== undefined,

  async plan(app, _tx, { tenant }, input, money) {
    const { method, provider: named } = input
    const phone = phoneOf(input)
    if (phone === undefined)
      throw missing('phone', method === undefined ? '; or give card, or method bank_transfer' : '')
    const found = requireProvider(app, tenant, 'in', { phone, provider: named }, money)
    const { provider, country, terms, ussdCode } = found
    // Typing a PIN takes real time, however fast the sandbox's passes.
    const scale = (await answersByHand(app, tenant, phone)) ? gatewayOf(app).timeScale(tenant.environment) : 1
    const expirySeconds = found.expirySeconds / scale
    const isSentOn = found.confirmsOn === 'page'
    return {
      provider,
      country,
      fee: collectionFeeOf(terms, money),
      phone,
      expirySeconds,
      // A page that is over cannot be paid on, and a payment does not wait for what cannot come.
      ...(isSentOn ? { maxSeconds: expirySeconds } : {}),
      details: {
        ...(ussdCode === null ? {} : { ussd_code: ussdCode }),
        ...(isSentOn && input.return_url !== undefined ? { return_url: input.return_url } : {}),
      },
    }
  },

  isKnownByAttempt: (app, tenant, attempt) => carrierOf(app, tenant, attempt)?.knownByAttempt === true,
  isRepeatable: (app, tenant, attempt) => carrierOf(app, tenant, attempt)?.repeatable === true,

  async send(app, tenant, attempt, payment) {
    const { id, reference, description } = payment
    const ordered = orderedAs(app, tenant, attempt, payment)
    const collection = {
      ...ordered,
      reference: reference ?? idOf('payment', id).slice(-12),
      description: description ?? '',
      callbackUrl: callbackUrl(app, tenant, attempt),
      returnUrl: comeBackUrl(app, tenant, attempt),
      isByHand: await answersByHand(app, tenant, ordered.phone),
    }
    return gatewayOf(app).ask('mobile_money', attempt, tenant.environment, async (carrier) =>
      taken(app, tenant, attempt, await carrier.collect(collection)),
    )
  },

  async query(app, tenant, attempt, payment) {
    const { provider_id } = attempt
    // The sending node died, and its progress is unknown.
    if (provider_id === null) return { kind: 'unknown', reason: 'the node that sent it is gone' }
    const carrier = carrierOf(app, tenant, attempt)
    // A payment that an earlier poll reported as paid is not asked about again: its callback was waited for.
    const ask = async () =>
      carrier?.query({ ...(await askedOf(app, tenant, attempt, payment)), providerId: provider_id })
    const verdict = attempt.said_paid_at ? paidAsAsked : await ask()
    if (!verdict) return null
    if (verdict.kind === 'action') return taken(app, tenant, attempt, verdict)
    // The unconfirmed callback is confirmed now.
    const called = calledOf(attempt)
    return verdict.kind === 'paid' && called ? surer(verdict, called) : verdict
  },

  async heard(app, tenant, attempt, { body }, payment) {
    const carrier = carrierOf(app, tenant, attempt)
    const asked = await askedOf(app, tenant, attempt, payment)
    const told = carrier?.readCallback(body, asked) ?? null
    // A caller that knows the token but not the provider's id is not the provider.
    if (!carrier || !told || (attempt.provider_id !== null && attempt.provider_id !== told.providerId)) return null
    const { providerId, verdict: said } = told
    const verdict = said.kind === 'paid' ? fuller(said, calledOf(attempt), payment) : said
    const isNews = attempt.state !== 'accepted'
    const accepted = isNews ? [{ kind: 'accepted', providerId } as const] : []
    const { thanks } = carrier
    // A provider that knows our id tells everything when polled, so that a callback is only a reason to poll.
    if (carrier.knownByAttempt)
      return { verdicts: [...accepted, await carrier.query({ ...asked, providerId })], thanks }
    if (verdict.kind !== 'paid' && verdict.kind !== 'unreadable') return { verdicts: [...accepted, verdict], thanks }
    const confirmed = attempt.said_paid_at ? paidAsAsked : await carrier.query({ ...asked, providerId })
    const isPaid = confirmed.kind === 'paid'
    // The next poll may not name the amount: neither of an unconfirmed success, nor of one whose amount was not told or read.
    if (!isPaid || verdict.kind === 'unreadable' || verdict.micros === null)
      await noteCall(app, tenant, attempt, verdict)
    return { verdicts: isPaid ? [...accepted, surer(confirmed, verdict)] : accepted, thanks }
  },
}

type Paid = Extract<Verdict, { kind: 'paid' }>
type Called = Extract<Verdict, { kind: 'paid' | 'unreadable' }>
type Noted = Pick<AttemptRow, 'called_amount' | 'called_currency' | 'called_words' | 'called_receipt'>

/** Verdict of two that both say that it was paid: what the provider tells when it is asked counts, and a call's for the rest. */
export function surer(confirmed: Paid, called: Called): Verdict {
  const receipt = confirmed.receipt ?? called.receipt
  if (called.kind === 'unreadable') return confirmed.micros === null ? called : { ...confirmed, receipt }
  const { micros, currency } = confirmed
  return { kind: 'paid', receipt, micros: micros ?? called.micros, currency: currency ?? called.currency }
}

/** What a call tells of the money. Where it names neither an amount nor another currency, what an earlier call told counts. */
export function fuller(called: Paid, noted: Called | null, asked: Pick<PaymentRow, 'amount' | 'currency'>): Called {
  if (noted === null || called.micros !== null || !isAsAsked(asked, called)) return called
  return { ...noted, receipt: noted.receipt ?? called.receipt }
}

async function noteCall(app: App, tenant: Tenant, { id }: AttemptRow, called: Called): Promise<void> {
  const { receipt } = called
  const told =
    called.kind === 'unreadable'
      ? { amount: null, currency: null, words: called.words }
      : { amount: called.micros, currency: called.currency ?? null, words: null }
  const isTold = told.amount !== null || told.currency !== null || told.words !== null
  if (isTold) await app.db.query(noteCalled, { ...tenant, id, receipt, ...told })
}

/** What a call told of the money; null when none did. */
export function calledOf({
  called_amount,
  called_currency,
  called_words: words,
  called_receipt,
}: Noted): Called | null {
  if (called_amount === null && words !== null) return { kind: 'unreadable', receipt: called_receipt, words }
  if (called_amount === null && called_currency === null) return null
  const currency = called_currency === null ? undefined : currencyOf(called_currency)
  return { kind: 'paid', receipt: called_receipt, micros: called_amount, currency }
}

/** Order to the provider for an attempt. */
function orderedAs(app: App, tenant: Tenant, attempt: AttemptRow, { amount: micros, phone }: PaymentRow) {
  if (phone === null) throw new Error('a stored payment has no phone')
  return {
    ...marketOf(attempt),
    trace: traceOf(app, tenant, attempt),
    attempt: attempt.id,
    shortId: idOf('paymentAttempt', attempt.id).slice(-shortIdLength),
    micros,
    phone,
  }
}

async function askedOf(app: App, tenant: Tenant, attempt: AttemptRow, payment: PaymentRow): Promise<Asked> {
  const { kept, provider_id: providerId } = attempt
  const opened = kept && (await app.secrets.open(tenant, keptPlaceOf(attempt), kept))
  return {
    ...orderedAs(app, tenant, attempt, payment),
    providerId,
    kept: opened === null ? {} : JSON.parse(opened.toString()),
  }
}

/** Stores the data of an answer before the payment changes; payers are sent on from an address of ours. */
async function taken(app: App, tenant: Tenant, attempt: AttemptRow, verdict: Verdict): Promise<Verdict> {
  if (verdict.kind !== 'accepted' && verdict.kind !== 'action') return verdict
  if (verdict.keeps) {
    const kept = await app.secrets.seal(tenant, keptPlaceOf(attempt), JSON.stringify(verdict.keeps))
    await app.db.query(noteKept, { ...tenant, id: attempt.id, kept })
  }
  const { page_url: page } = verdict.details ?? {}
  if (verdict.kind !== 'action' || page === undefined) return verdict
  return { ...verdict, details: { ...verdict.details, ...sentTo(app, tenant, attempt, page) } }
}

function keptPlaceOf({ id }: AttemptRow): string {
  return `payments.attempts.kept:${id}`
}

function carrierOf(app: App, { environment }: Tenant, attempt: AttemptRow): MobileMoney | null {
  return gatewayOf(app).carrier('mobile_money', attempt, environment)
}
