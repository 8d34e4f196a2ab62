// SPDX-License-Identifier: Apache-2.0
// Paying with mobile money: the payer is asked on the phone by whoever keeps the account of its number.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { callbackUrl } from '../callbacks/address.ts'
import { missing, phoneOf } from '../input.ts'
import type { PaymentMethod } from '../method.ts'
import { gatewayOf } from '../providers/gateway.ts'
import { isBare, type Market, type MobileMoney, type Verdict } from '../providers/provider.ts'
import { collectionFeeOf } from '../providers/terms.ts'
import { type AttemptRow, marketOf, noteCalled } from '../store.ts'
import { traceOf } from '../timeline.ts'
import { answersByHand } from './by-hand.ts'
import { requireProvider } from './providers.ts'

const defaultExpirySeconds = 120
const paidAsAsked: Verdict = { kind: 'paid', receipt: null, micros: null }

export const mobileMoney: PaymentMethod = {
  name: 'mobile_money',
  budgetMs: 8_000,
  looks: [10, 20, 35, 60, 90, 120, 150, 300, 900, 3_600, 21_600, 86_400, 259_200],
  isQueued: true,
  refusals: {},
  isMeant: ({ phone, phone_number }) => phone !== undefined || phone_number !== undefined,

  async plan(app, _tx, { tenant }, input, money) {
    const { method, provider: named } = input
    const phone = phoneOf(input)
    if (phone === undefined)
      throw missing('phone', method === undefined ? '; or give card, or method bank_transfer' : '')
    const { provider, country, terms, ussdCode } = requireProvider(app, tenant, 'in', { phone, provider: named }, money)
    const fee = collectionFeeOf(terms, money)
    // Somebody who types a PIN takes the time that they take, however fast the sandbox's passes.
    const scale = (await answersByHand(app, tenant, phone)) ? gatewayOf(app).timeScale(tenant.environment) : 1
    const expirySeconds = defaultExpirySeconds / scale
    return { provider, country, fee, phone, expirySeconds, details: { ussd_code: ussdCode } }
  },

  isKnownByAttempt: (app, tenant, attempt) => carrierOf(app, tenant, attempt)?.knownByAttempt === true,
  isRepeatable: (app, tenant, attempt) => carrierOf(app, tenant, attempt)?.repeatable === true,

  async send(app, tenant, attempt, { id, amount: micros, phone, reference, description }) {
    if (phone === null) throw new Error('a stored payment cannot be sent')
    const collection = {
      ...tracedMarket(app, tenant, attempt),
      attempt: attempt.id,
      micros,
      phone,
      reference: reference ?? idOf('payment', id).slice(-12),
      description: description ?? '',
      callbackUrl: callbackUrl(app, tenant, attempt),
      isByHand: await answersByHand(app, tenant, phone),
    }
    return gatewayOf(app).ask('mobile_money', attempt, tenant.environment, (carrier) => carrier.collect(collection))
  },

  async query(app, tenant, attempt) {
    const { provider_id } = attempt
    // Whoever was sending it is gone, and nobody knows how far it came.
    if (provider_id === null) return { kind: 'unknown', reason: 'the node that sent it is gone' }
    const { said_paid_at, called_amount: micros, called_receipt: receipt } = attempt
    const carrier = carrierOf(app, tenant, attempt)
    // It has said so before, and the callback that says how much was waited for.
    const verdict = said_paid_at ? paidAsAsked : await carrier?.query(provider_id, tracedMarket(app, tenant, attempt))
    if (!verdict) return null
    // What a callback said that could not be confirmed is so now.
    return isBare(verdict) && micros !== null ? { kind: 'paid', receipt, micros } : verdict
  },

  async heard(app, tenant, attempt, { body }) {
    const carrier = carrierOf(app, tenant, attempt)
    const told = carrier?.readCallback(body) ?? null
    // Whoever knows the token and not what was agreed on is not the provider.
    if (!carrier || !told || (attempt.provider_id !== null && attempt.provider_id !== told.providerId)) return null
    const { providerId, verdict } = told
    const market = tracedMarket(app, tenant, attempt)
    const isNews = attempt.state !== 'accepted'
    const accepted = isNews ? [{ kind: 'accepted', providerId } as const] : []
    const { thanks } = carrier
    // Whoever knows it by our id tells everything when asked, so that a callback is a reason to ask and nothing else.
    if (carrier.knownByAttempt) return { verdicts: [...accepted, await carrier.query(providerId, market)], thanks }
    if (verdict.kind !== 'paid') return { verdicts: [...accepted, verdict], thanks }
    const confirmed = attempt.said_paid_at ? paidAsAsked : await carrier.query(providerId, market)
    if (confirmed.kind === 'paid') return { verdicts: [...accepted, verdict], thanks }
    // What cannot be confirmed now is found by the next poll, which may not hear how much it was.
    const { micros: amount, receipt } = verdict
    if (amount !== null) await app.db.query(noteCalled, { ...tenant, id: attempt.id, amount, receipt })
    return { verdicts: accepted, thanks }
  },
}

function tracedMarket(app: App, tenant: Tenant, attempt: AttemptRow): Market {
  return { ...marketOf(attempt), trace: traceOf(app, tenant, attempt) }
}

function carrierOf(app: App, { environment }: Tenant, attempt: AttemptRow): MobileMoney | null {
  return gatewayOf(app).carrier('mobile_money', attempt, environment)
}
