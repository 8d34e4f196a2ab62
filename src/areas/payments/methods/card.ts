// SPDX-License-Identifier: Apache-2.0
// Payments by card. The card is in the request alone, so the request sends it; if the answer gets lost, the acquirer is
// polled by the attempt's id, and the card is never sent again.
import { allCountries } from '../../../kernel/countries.ts'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import type { Currency, Money } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { traced } from '../../../platform/outbound/provider-http.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { noticeSubject } from '../../../protocols/acquirer.ts'
import type { Subject } from '../fraud/fields.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import type { Acquirer, CardOutcome } from '../providers/acquirer.ts'
import { dataOf, invalidCard, type KeptCard, keptOf } from '../providers/card.ts'
import type { Verdict } from '../providers/provider.ts'
import { collectionFeeOf, requireWithin, type Terms, termsOf } from '../providers/terms.ts'
import { callbackUrl } from '../records/callback-address.ts'
import { missing, type NewPayment } from '../records/input.ts'
import { traceOf } from '../records/provider-trace.ts'
import { comeBackUrl, sentTo } from '../records/redirect-address.ts'
import { type AttemptRow, findPayment, marketOf, type PaymentRow } from '../records/store.ts'
import { findCard, findToken, insertCard, saveCard, type TokenRow } from './card-store.ts'
import type { PaymentMethod } from './method.ts'

export const cardProvider = 'acquirer'
/** A card is charged wherever it comes from: the acquirer has one account for all. */
export const cardCountry = allCountries
/** Time for a payer's 3-D Secure challenge. */
const challengeSeconds = 900
/** Time for which issuers hold an authorised amount; also in the sandbox, whose clock can be moved. */
const authorisedSeconds = 7 * 86_400

export const card: PaymentMethod = {
  name: 'card',
  budgetMs: 20_000,
  polls: [5, 15, 60, 300, 600, 930, 3_600, 21_600, 86_430, 259_200, 604_800],
  isQueued: false,
  refusals: {
    CARD_DECLINED: 'CARD_DECLINED',
    CARD_EXPIRED: 'CARD_EXPIRED',
    INCORRECT_CVV: 'INCORRECT_CVV',
    AUTHENTICATION_FAILED: 'AUTHENTICATION_FAILED',
    INSUFFICIENT_FUNDS: 'INSUFFICIENT_FUNDS',
    PROVIDER_ERROR: 'CARD_DECLINED',
  },
  isMeant: ({ card, card_token, provider }) =>
    card !== undefined || card_token !== undefined || provider?.toLowerCase() === cardProvider,

  async plan(app, tx, { tenant, nowMs, receivedMs }, input, money) {
    if (input.provider !== undefined && input.provider.toLowerCase() !== cardProvider)
      throw new AppError('UNSUPPORTED_PROVIDER', `cards are charged by ${cardProvider}, not by ${input.provider}`)
    const kept = await cardOf(app, tx, tenant, input, nowMs)
    const terms = cardTermsOf(app, tenant, money.currency)
    requireWithin('the acquirer', terms, money)
    const { brand, last4, exp_month, exp_year } = kept
    return {
      provider: cardProvider,
      country: cardCountry,
      fee: collectionFeeOf(terms, money),
      phone: null,
      expirySeconds: challengeSeconds,
      // 3-D Secure cannot follow later, and a payment does not wait for what cannot come.
      maxSeconds: challengeSeconds,
      details: {
        card: { brand, last4, exp_month, exp_year },
        ...(input.return_url === undefined ? {} : { return_url: input.return_url }),
        ...(input.save_card && input.card ? { card_token: idOf('cardToken', newUuid(receivedMs)) } : {}),
      },
      judged: judgedOf(kept, input.card === undefined),
    }
  },

  async store(app, tx, { tenant, nowMs }, input, { id, details }) {
    const { bin, fingerprint, brand, last4, exp_month, exp_year } = await cardOf(app, tx, tenant, input, nowMs)
    const { card_token } = details
    await tx.query(insertCard, {
      ...tenant,
      payment: id,
      brand,
      last4,
      bin,
      expMonth: exp_month,
      expYear: exp_year,
      fingerprint,
      captures: input.capture ?? true,
      require3ds: input.require_3ds ?? false,
      chargedToken: input.card ? null : uuidOf('cardToken', input.card_token ?? ''),
      savedToken: card_token === undefined ? null : uuidOf('cardToken', card_token),
    })
  },

  isKnownByAttempt: () => true,
  isRepeatable: () => false,

  async send(app, tenant, attempt, payment, input) {
    const { amount: micros, description } = payment
    const known = await one(app.db.query(findCard, { ...tenant, payment: payment.id }))
    const token = known.charged_token && (await maybe(app.db.query(findToken, { ...tenant, id: known.charged_token })))
    const source = input?.card ? { card: dataOf(input.card) } : token ? { token: token.acquirer_token } : null
    if (!source) return { kind: 'unavailable', reason: 'whoever brought the card is gone' }
    const { currency } = marketOf(attempt)
    return gatewayOf(app).ask('card', attempt, tenant.environment, async (carrier) => {
      const wanted = {
        attempt: attempt.id,
        micros,
        currency,
        source,
        captures: known.captures,
        challenges: known.require_3ds,
        keeps: known.saved_token !== null,
        returnUrl: comeBackUrl(app, tenant, attempt),
        notifyUrl: callbackUrl(app, tenant, attempt),
        description: description ?? '',
      }
      const outcome = await traced(traceOf(app, tenant, attempt), () => carrier.authorise(wanted))
      return verdictOf(app, tenant, attempt, outcome)
    })
  },

  async query(app, tenant, attempt, payment) {
    const carrier = carrierOf(app, tenant, attempt)
    if (!carrier) return null
    const { currency } = marketOf(attempt)
    const found = await traced(traceOf(app, tenant, attempt), () => carrier.query(attempt.id, currency))
    const known = await one(app.db.query(findCard, { ...tenant, payment: payment.id }))
    if (found.kind !== 'authorised' || known.capture_asked_at === null) return verdictOf(app, tenant, attempt, found)
    // A partial capture may have been stored since the payment was read: both were stored at once.
    return capture(app, tenant, attempt, await one(app.db.query(findPayment, { ...tenant, id: payment.id })))
  },

  async withdraw(app, tenant, attempt) {
    const carrier = carrierOf(app, tenant, attempt)
    if (!carrier) return { kind: 'unknown', reason: 'nobody here speaks to the acquirer' }
    const { currency } = marketOf(attempt)
    const outcome = await traced(traceOf(app, tenant, attempt), () => carrier.withdraw(attempt.id, currency))
    return verdictOf(app, tenant, attempt, outcome)
  },

  async heard(app, tenant, attempt, { bytes, headers }) {
    const carrier = carrierOf(app, tenant, attempt)
    if (!carrier?.isSigned(bytes, headers)) return null
    const { currency } = marketOf(attempt)
    const outcome = await traced(traceOf(app, tenant, attempt), () => carrier.query(attempt.id, currency))
    const verdicts = [await verdictOf(app, tenant, attempt, outcome)]
    return { verdicts, thanks: {}, follows: noticeSubject(bytes) }
  },
}

/** Takes what was set aside for a payment, as much of it as the payment now is. */
export async function capture(
  app: App,
  tenant: Tenant,
  attempt: AttemptRow,
  { amount: micros }: PaymentRow,
): Promise<Verdict> {
  const carrier = carrierOf(app, tenant, attempt)
  if (!carrier) return { kind: 'unknown', reason: 'nobody here speaks to the acquirer' }
  const { currency } = marketOf(attempt)
  const trace = traceOf(app, tenant, attempt)
  const outcome = await traced(trace, () => carrier.capture(attempt.id, { micros, currency }))
  return verdictOf(app, tenant, attempt, outcome)
}

export function cardTermsOf(app: App, tenant: Pick<Tenant, 'account'>, currency: Currency): Terms {
  const way = { direction: 'in', method: 'card', provider: cardProvider, country: cardCountry } as const
  return termsOf(app, tenant, way, currency)
}

/** Requires a saved card of the account that can be charged the amount. */
export async function requireSavedCard(
  app: App,
  tx: Tx,
  tenant: Tenant,
  card_token: string,
  money: Money,
): Promise<void> {
  const id = uuidOf('cardToken', card_token)
  const known = id === null ? null : await maybe(tx.query(findToken, { ...tenant, id }))
  if (!known) throw invalidCard('card_token', 'names no saved card')
  requireWithin('the acquirer', cardTermsOf(app, tenant, money.currency), money)
}

/** Facts of a card by which its payment is judged. */
function judgedOf(
  { brand, bin, fingerprint, riskHint = null }: Omit<KeptCard, 'last4' | 'exp_month' | 'exp_year'>,
  isSaved: boolean,
): Pick<Subject, 'card' | 'riskHint'> {
  return { card: { brand, bin, fingerprint: fingerprint.toString('hex'), isSaved }, riskHint }
}

/** Kept part of the card that a request brings or names. */
async function cardOf(
  app: App,
  tx: Tx,
  tenant: Tenant,
  { card, card_token }: NewPayment,
  nowMs: number,
): Promise<KeptCard | TokenRow> {
  if (card) return keptOf(app, card, tenant.environment, nowMs)
  if (card_token === undefined) throw missing('card')
  const id = uuidOf('cardToken', card_token)
  const known = id === null ? null : await maybe(tx.query(findToken, { ...tenant, id }))
  if (!known) throw invalidCard('card_token', 'names no saved card')
  return known
}

/** Verdict of an outcome, whose data is stored first. */
async function verdictOf(app: App, tenant: Tenant, attempt: AttemptRow, outcome: CardOutcome): Promise<Verdict> {
  const { payment_id: payment, clock_offset_ms } = attempt
  const nowMs = app.clock.nowMs() + Number(clock_offset_ms)
  if ((outcome.kind === 'paid' || outcome.kind === 'authorised') && outcome.token !== null)
    await app.db.query(saveCard, { ...tenant, payment, acquirerToken: outcome.token, at: new Date(nowMs) })
  switch (outcome.kind) {
    case 'paid':
      return { kind: 'paid', receipt: outcome.id, micros: outcome.micros, currency: outcome.currency }
    case 'authorised': {
      const until = new Date(nowMs + authorisedSeconds * 1_000)
      return { kind: 'authorised', until, details: { authorised_until: until.toISOString() } }
    }
    case 'challenge':
      return { kind: 'action', providerId: attempt.id, details: sentTo(app, tenant, attempt, outcome.url) }
    case 'withdrawn':
      return { kind: 'refused', reason: 'TRANSACTION_TIMEOUT', code: 'canceled' }
    default:
      return outcome
  }
}

function carrierOf(app: App, { environment }: Tenant, attempt: AttemptRow): Acquirer | null {
  return gatewayOf(app).carrier('card', attempt, environment)
}
