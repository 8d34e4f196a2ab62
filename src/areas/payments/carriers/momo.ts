// SPDX-License-Identifier: Apache-2.0
// MTN MoMo: payments, over its collections product. The attempt's own id is the reference of the order.
import { formatMicros } from '../../../kernel/money.ts'
import { requestToPayBody } from '../../../protocols/momo.ts'
import { payerHeaders } from '../../../protocols/sandbox-payer.ts'
import { baseUrl, openText, type ProviderKind, type Surroundings, secretText } from '../providers/kind.ts'
import type { Collection, FailureReason, MobileMoney, RefundCarrier, Taken, Verdict } from '../providers/provider.ts'
import type { BearerClient } from './bearer.ts'
import { momoFacts } from './momo-facts.ts'
import { type MomoAccess, MomoOrders, momoClient } from './momo-orders.ts'
import { MomoOutgoing } from './momo-outgoing.ts'
import { MomoRefunds } from './momo-refunds.ts'
import { noRefunds } from './no-refunds.ts'

interface PayoutSettings {
  payout_subscription_key: string
  payout_api_user: string
  payout_api_key: string
}

type MomoSettings = MomoAccess & Partial<PayoutSettings>

const path = '/collection/v1_0/requesttopay'

/** Failure reasons by the provider's words. Any other word is a fault on its side. */
const reasons: Readonly<Record<string, FailureReason>> = {
  NOT_ENOUGH_FUNDS: 'INSUFFICIENT_FUNDS',
  LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED: 'INSUFFICIENT_FUNDS',
  APPROVAL_REJECTED: 'USER_CANCELLED',
  TRANSACTION_CANCELED: 'USER_CANCELLED',
  PAYER_NOT_FOUND: 'PAYER_NOT_FOUND',
  PAYER_LIMIT_REACHED: 'PAYER_LIMIT_REACHED',
  EXPIRED: 'TRANSACTION_TIMEOUT',
  COULD_NOT_PERFORM_TRANSACTION: 'TRANSACTION_TIMEOUT',
  SERVICE_UNAVAILABLE: 'PROVIDER_UNAVAILABLE',
}

class MomoCarrier implements MobileMoney {
  readonly method = 'mobile_money'
  readonly provider = momoFacts.provider
  readonly knownByAttempt = true
  readonly repeatable = true
  readonly outgoing: MomoOutgoing | null
  readonly thanks = {}
  readonly refunds: RefundCarrier
  readonly #orders: MomoOrders
  readonly #client: BearerClient
  readonly #disbursementClient: BearerClient | null

  constructor(settings: MomoSettings, surroundings: Surroundings) {
    this.#client = momoClient('collection', settings, surroundings)
    this.#orders = new MomoOrders(settings, this.#client, path, reasons)
    if (paysOut(settings)) {
      const access = disbursementsOf(settings)
      this.#disbursementClient = momoClient('disbursement', access, surroundings)
      this.outgoing = new MomoOutgoing(access, this.#disbursementClient)
      this.refunds = new MomoRefunds(access, this.#disbursementClient)
    } else {
      this.#disbursementClient = null
      this.outgoing = null
      this.refunds = noRefunds('gives nothing back until its operator has entered an account for disbursements')
    }
  }

  async collect({
    attempt,
    micros,
    currency,
    phone,
    reference,
    description,
    callbackUrl,
    isByHand,
    trace,
  }: Collection) {
    const body = requestToPayBody({
      amount: formatMicros(micros),
      currency: this.#orders.currencyOf(currency),
      externalId: attempt,
      phone,
      payerMessage: description || reference,
      payeeNote: reference,
    })
    return this.#orders.send(attempt, body, callbackUrl, { headers: payerHeaders(isByHand), trace })
  }

  query({ providerId, trace }: Taken): Promise<Verdict> {
    return this.#orders.query(providerId, trace)
  }

  readCallback(body: unknown): { providerId: string; verdict: Verdict } | null {
    const heard = this.#orders.read(body)
    return heard && { providerId: heard.id, verdict: heard.verdict }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#client.close(), this.#disbursementClient?.close()])
  }
}

function paysOut(settings: MomoSettings): settings is MomoSettings & PayoutSettings {
  return settings.payout_api_user !== undefined && settings.payout_api_key !== undefined
}

/** Disbursements are another product, with keys of its own. */
function disbursementsOf({ base_url, target_environment, ...settings }: MomoAccess & PayoutSettings): MomoAccess {
  return {
    base_url,
    target_environment,
    subscription_key: settings.payout_subscription_key,
    api_user: settings.payout_api_user,
    api_key: settings.payout_api_key,
  }
}

export const momo: ProviderKind = {
  method: 'mobile_money',
  facts: momoFacts,
  open: {
    base_url: baseUrl,
    target_environment: openText(
      '^[a-z]{3,40}$',
      'must have 3 to 40 small letters, such as mtnuganda',
      'Target environment of MTN, such as mtnuganda',
    ),
  },
  secret: {
    subscription_key: secretText('Subscription key of the collections product'),
    api_user: secretText('API user of the collections product'),
    api_key: secretText('Key of the API user'),
  },
  outgoing: {
    open: {},
    secret: {
      payout_subscription_key: secretText('Subscription key of the disbursements product'),
      payout_api_user: secretText('API user of the disbursements product'),
      payout_api_key: secretText('Key of the API user for payouts, of the disbursements product'),
    },
  },
  identity: ['base_url', 'target_environment', 'api_user', 'payout_api_user'],
  connect: (settings: MomoSettings, surroundings) => new MomoCarrier(settings, surroundings),
}
