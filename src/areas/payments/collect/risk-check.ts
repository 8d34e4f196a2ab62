// SPDX-License-Identifier: Apache-2.0
// Asking in advance, or again: what would be decided, and why. The question is stored; nothing moves and nothing is counted.

import { type Static, Type } from 'typebox'
import { brandOfBeginning } from '../../../kernel/card.ts'
import { invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { isCurrency } from '../../../kernel/money.ts'
import { currencyTaken, microsOf } from '../../../ledger/currencies.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import { At, OneOf, OneOfAnyCase } from '../../../platform/schema/fields.ts'
import { type Assessment, storeCheck, weigh } from '../fraud/assess.ts'
import { blacklistTypes } from '../fraud/blacklist.ts'
import { cardOf, isCardNumber, riskHintOf } from '../fraud/card.ts'
import { actions } from '../fraud/decide.ts'
import { type Facts, type RiskHint, readFacts, type Subject, type SubjectCard } from '../fraud/fields.ts'
import { directions } from '../fraud/rules.ts'
import { componentNames } from '../fraud/score.ts'
import { findCheck } from '../fraud/store.ts'
import { findCard, findToken } from '../methods/card-store.ts'
import { cardFields, invalidCard } from '../providers/card.ts'
import { risk } from '../records/event-fields.ts'
import { PaymentCreate, phoneOf } from '../records/input.ts'
import { noSuchPayment, paymentUuid } from '../records/payment.ts'
import { findPayment } from '../records/store.ts'

const { amount, currency, provider, phone, phone_number, ...others } = PaymentCreate.properties

const digits = (length: string, rule: string, description: string) =>
  Type.String({ pattern: `^\\d{${length}}$`, rule, description })

const Card = Type.Object(
  {
    // The card of a payment, as it would be sent there; the number alone is looked at.
    ...Type.Partial(cardFields.card).properties,
    number: Type.Optional(
      Type.String({
        maxLength: 23,
        rule: 'must be a card number',
        sensitive: true,
        description: 'Number compared with the blacklist, and not stored',
      }),
    ),
    bin: Type.Optional(
      digits(
        '6,8',
        'must be the first 6 to 8 digits',
        'First digits (BIN), which identify the bank and type of the card; alternative to `number`',
      ),
    ),
    last4: Type.Optional(digits('4', 'must be the last 4 digits', 'Accepted, but not evaluated')),
  },
  {
    additionalProperties: false,
    sensitive: true,
    rule: 'must be a card as a payment takes it, its number alone, or its bin and last4',
    description: 'Card to charge',
  },
)

const RiskCheckCreate = Type.Object({
  // A payment as it would be asked for: what says nothing about its risk is taken, and not looked at.
  ...others,
  payment_id: Type.Optional(Type.String({ description: 'Id of an existing payment; alternative to all other fields' })),
  direction: Type.Optional(
    OneOf(directions, {
      description: 'Direction of the money: incoming (`payment`) or outgoing (`payout`); default `payment`',
    }),
  ),
  amount: Type.Optional(amount),
  currency: Type.Optional(currency),
  method: Type.Optional(
    OneOfAnyCase(['mobile_money', 'card', 'bank_transfer'], {
      description: 'Payment method; derived from `phone`, `card` or `bank` by default',
    }),
  ),
  provider,
  phone,
  phone_number,
  card: Type.Optional(Card),
  bank: Type.Optional(
    Type.Object(
      {
        account_number: Type.Optional(
          Type.String({ maxLength: 40, description: 'Number compared with the blacklist' }),
        ),
        bank_code: Type.Optional(
          Type.String({ maxLength: 20, description: 'Bank code, as in `banks` of GET /v1/payments/methods' }),
        ),
        account_name: Type.Optional(Type.String({ maxLength: 100, description: 'Holder of the account' })),
      },
      { description: 'Account to debit, or to pay to' },
    ),
  ),
})

const RiskCheck = Type.Object(
  {
    risk_check_id: Type.String({ description: 'Id of the check, such as `rsk_…`' }),
    ...risk,
    decision: OneOf(actions, { description: 'Resulting decision' }),
    risk_assessment: Type.Object(risk, { description: 'Same values in the format of identity checks' }),
    matched_rules: Type.Array(
      Type.Object({
        rule_id: Type.String({ description: 'Id of the rule, such as `frl_…`' }),
        name: Type.String({ description: 'Name of the rule' }),
        action: OneOf(actions, { description: 'Action of the rule' }),
        dry_run: Type.Boolean({ description: 'True if the match is only recorded (dry run)' }),
      }),
      { description: 'Your rules that match' },
    ),
    blacklist_hits: Type.Array(
      Type.Object({
        blacklist_id: Type.String({ description: 'Id of the entry' }),
        type: OneOf(blacklistTypes, { description: 'Kind of value' }),
        value: Type.String({ description: 'Normalised value; card numbers are masked' }),
      }),
      { description: 'Values that are on your blacklist' },
    ),
    components: Type.Object(
      {
        velocity: Type.Integer({ description: 'Score for recent use of the phone, device, IP address or card' }),
        amount: Type.Integer({ description: 'Score for an unusual amount' }),
        identity: Type.Integer({ description: 'Score for unusual data of the payer' }),
        card: Type.Integer({ description: 'Score for unusual data of the card' }),
        geo: Type.Integer({ description: 'Score for different countries of IP address and phone' }),
        history: Type.Integer({ description: 'Score for failures of the phone in the last day' }),
        rules: Type.Integer({ description: 'Sum of the scores of your rules' }),
      },
      { description: `Parts that add up to the score: ${componentNames.join(', ')}` },
    ),
    created_at: At({ description: 'Time of the check' }),
  },
  { title: 'RiskCheck' },
)

interface Prepared {
  card: SubjectCard | null
  hint: RiskHint | null
}

const riskCheck = write({
  method: 'POST',
  path: '/v1/payments/risk-check',
  operation: 'payments.checkRisk',
  summary: 'Assess the risk of a payment or payout',
  description:
    'Moves no money and does not count towards velocity. With `payment_id`, an existing payment is evaluated by the current rules.',
  scope: 'fraud:write',
  limit: 'payments',
  bodyLimitBytes: 16 * 1_024,
  body: RiskCheckCreate,
  reply: { status: 200, schema: RiskCheck },
  errors: [
    'VALIDATION_ERROR',
    'INVALID_PHONE',
    'INVALID_CARD',
    'UNSUPPORTED_CURRENCY',
    'NOT_FOUND',
    'PAYLOAD_TOO_LARGE',
  ],
  examples: [
    {
      name: 'A payment from a phone',
      body: { amount: 1500, currency: 'KES', phone: '+254700000001', device_id: 'device-7', country: 'KE' },
    },
  ],
  prepare: (app, { body }, { tenant }) => preparedCard(app, body.card, tenant.environment),
  handle: async (app, tx, { body }, caller, prepared) => {
    const { subject, known } =
      body.payment_id === undefined
        ? { subject: asked(app, body, caller, await withSaved(tx, body, caller, prepared)), known: undefined }
        : await existing(tx, body.payment_id, caller)
    const mode = known ? 'repeated' : 'asked'
    const { assessment, check } = await weigh(app, tx, { occasion: caller, subject, mode, known: known ?? new Map() })
    await storeCheck(tx, caller, check)
    return shown(assessment, caller)
  },
})

async function preparedCard(
  app: App,
  card: Static<typeof Card> | undefined,
  environment: Caller['tenant']['environment'],
): Promise<Prepared> {
  if (card === undefined) return { card: null, hint: null }
  const { number: written, bin } = card
  if (written === undefined) {
    if (bin === undefined) throw invalid('card', 'must have number or bin')
    return { card: { bin, brand: brandOfBeginning(bin) }, hint: null }
  }
  const number = written.replace(/[ -]/g, '')
  if (!isCardNumber(number)) throw invalid('card.number', 'must be a card number')
  return { card: cardOf(app, number), hint: riskHintOf(number, environment) }
}

/** Card of the request; a saved one, where it is named, is known again as when it was brought. */
async function withSaved(
  tx: Tx,
  { card, card_token }: Static<typeof RiskCheckCreate>,
  { tenant }: Caller,
  prepared: Prepared,
): Promise<Prepared> {
  if (card_token === undefined) return prepared
  if (card !== undefined) throw invalid('card_token', 'cannot be combined with card')
  const id = uuidOf('cardToken', card_token)
  const saved = id === null ? null : await maybe(tx.query(findToken, { ...tenant, id }))
  if (!saved) throw invalidCard('card_token', 'names no saved card')
  const { brand, bin, fingerprint } = saved
  return { ...prepared, card: { brand, bin, fingerprint: fingerprint.toString('hex'), isSaved: true } }
}

function asked(
  app: App,
  body: Static<typeof RiskCheckCreate>,
  { receivedMs }: Caller,
  { card, hint }: Prepared,
): Subject {
  if (body.amount === undefined || body.currency === undefined)
    throw invalid(body.amount === undefined ? 'amount' : 'currency', 'is required; or give payment_id')
  const currency = currencyTaken(app, body.currency)
  return {
    id: newUuid(receivedMs),
    direction: body.direction ?? 'payment',
    micros: microsOf('amount', body.amount, currency),
    currency,
    method: body.method?.toLowerCase() ?? (card ? 'card' : body.bank ? 'bank_transfer' : 'mobile_money'),
    provider: body.provider?.toLowerCase() ?? null,
    phone: phoneOf(body) ?? null,
    customer: body.customer ?? {},
    metadata: body.metadata ?? {},
    ipAddress: body.ip_address ?? null,
    deviceId: body.device_id ?? null,
    country: body.country ?? null,
    card,
    bank: body.bank ? { code: body.bank.bank_code ?? null, accountNumber: body.bank.account_number ?? null } : null,
    riskHint: hint,
  }
}

/** A payment as it is stored, with what its own check knew beside it. */
async function existing(
  tx: Tx,
  id: string,
  { tenant, receivedMs }: Caller,
): Promise<{ subject: Subject; known: Facts }> {
  const payment = await maybe(tx.query(findPayment, { ...tenant, id: paymentUuid(id) }))
  if (!payment) throw noSuchPayment()
  const { amount: micros, currency, method, provider, phone, customer, metadata, details } = payment
  if (!isCurrency(currency)) throw new Error(`a payment in an unknown currency: ${currency}`)
  const check = await maybe(tx.query(findCheck, { ...tenant, id: payment.id }))
  const known = readFacts(check?.inputs.facts ?? {})
  const charged = await maybe(tx.query(findCard, { ...tenant, payment: payment.id }))
  const text = (name: string): string | null => {
    const fact = known.get(name)
    return typeof fact === 'string' ? fact : null
  }
  return {
    known,
    subject: {
      id: newUuid(receivedMs),
      direction: 'payment',
      micros,
      currency,
      method,
      provider,
      phone,
      customer,
      metadata,
      ipAddress: text('ip_address'),
      deviceId: text('device_id'),
      country: text('ip_country')?.toUpperCase() ?? null,
      card: {
        bin: text('card_bin'),
        country: text('card_country'),
        fingerprint: text('card_fingerprint'),
        isSaved: charged !== null && charged.charged_token !== null,
      },
      bank: details.bank ? { code: details.bank.bank_code, accountNumber: details.bank.account_number } : null,
    },
  }
}

function shown(assessment: Assessment, { nowMs }: Caller): Static<typeof RiskCheck> {
  const { checkId, score, level, flags, decision, matched, blacklistHits, components } = assessment
  const risk = { risk_score: score, risk_level: level, flags: [...flags] }
  return {
    risk_check_id: idOf('riskCheck', checkId),
    ...risk,
    decision,
    risk_assessment: risk,
    matched_rules: matched.map(({ id, name, action, dryRun }) => ({
      rule_id: idOf('fraudRule', id),
      name,
      action,
      dry_run: dryRun,
    })),
    blacklist_hits: blacklistHits.map(({ id, type, shown }) => ({
      blacklist_id: idOf('blacklistEntry', id),
      type,
      value: shown,
    })),
    components,
    created_at: new Date(nowMs),
  }
}

export const riskRoutes: readonly Route[] = [riskCheck]
