// SPDX-License-Identifier: Apache-2.0
// The mobile-money app of a handset in the sandbox: which prompts it shows, and the PIN that approves or refuses one. The
// answer goes to the simulated provider, which tells it as it would in earnest.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { e164, numberInQuery } from '../../../kernel/phone.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Need, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { ProviderClient } from '../../../platform/outbound/provider-http.ts'
import { Amount, At, listQuery, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { idBounds, pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { type PayerAnswer, payerKeyHeader, payerPath } from '../../../protocols/sandbox-payer.ts'
import { payers, simulatedAccounts } from '../gateway/simulated.ts'
import { noSuchPayment, paymentUuid } from '../records/payment.ts'
import { attemptOfPayment, findPayment, listPayments, open, type PaymentRow } from '../records/store.ts'
import { everybody, keepByHand, readByHand } from './mobile-money-by-hand.ts'

const answerMs = 10_000
const maxNumbers = 100
/** PIN that is wrong on every handset. */
const wrongPin = '0000'

const Prompt = Type.Object(
  {
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    status: OneOf(['waiting', 'approved', 'refused', 'over'], {
      description: 'Status; `over`: expired, or could not be paid',
    }),
    provider: Type.String({ description: 'Provider of the prompt, such as `mpesa`' }),
    amount: Amount({ description: 'Amount to pay, in major units' }),
    currency: Type.String({ description: 'Currency of the amount, ISO 4217' }),
    reference: Nullable(Type.String({ description: 'Your own id for the payment; null if none was given' })),
    description: Nullable(
      Type.String({ description: 'Description of the payment, as the prompt shows it; null if none' }),
    ),
    failure_reason: Nullable(
      Type.String({ description: 'Failure code such as USER_CANCELLED; null unless it failed' }),
    ),
    asked_at: At({ description: 'Time of the prompt' }),
    expires_at: At({ description: 'Time at which it expires' }),
  },
  { title: 'SandboxPrompt' },
)

const prompts = list({
  path: '/v1/sandbox/payments/prompts',
  operation: 'sandbox.listPrompts',
  summary: 'List payment prompts on a simulated handset',
  description: 'Newest first. Pending prompts of payers in `by_hand` can be answered.',
  scope: 'sandbox:read',
  query: Type.Object({
    ...listQuery,
    phone: Type.String({
      pattern: '^[ +][1-9]\\d{6,14}$',
      rule: 'must be an E.164 number such as +254711000001',
      description: 'Number of the handset',
    }),
  }),
  row: Prompt,
  examples: [{ name: 'Prompts on Ada’s phone', query: { phone: '+254711000001' } }],
  async handle({ db }, { query }, { tenant }) {
    const window = windowOf(query)
    const phone = numberInQuery(query.phone)
    const rows = await db.query(listPayments, { ...tenant, ...window, ...everything, ...idBounds({}), phone })
    return pageOf(window, rows, promptOf)
  },
})

const everything = {
  ...{ since: null, until: null, status: null, currency: null, provider: null, method: 'mobile_money' },
  ...{ reference: null, purposes: null, metadata: null },
}

function promptOf(row: PaymentRow): Static<typeof Prompt> {
  return {
    payment_id: idOf('payment', row.id),
    status: statusOf(row),
    provider: row.provider,
    amount: row.amount,
    currency: row.currency,
    reference: row.reference,
    description: row.description,
    failure_reason: row.failure_reason,
    asked_at: row.created_at,
    expires_at: row.expires_at,
  }
}

function statusOf({ status, failure_reason }: PaymentRow): Static<typeof Prompt>['status'] {
  if (open.includes(status)) return 'waiting'
  if (status === 'completed') return 'approved'
  return failure_reason === 'USER_CANCELLED' ? 'refused' : 'over'
}

const Answer = Type.Object({
  decision: OneOf(['approve', 'refuse'], { description: '`approve` types the PIN, `refuse` cancels the prompt' }),
  pin: Type.Optional(
    Type.String({
      pattern: '^\\d{4,6}$',
      rule: 'must have 4 to 6 digits',
      sensitive: true,
      description: 'PIN for the approval; any PIN is right except 0000',
    }),
  ),
})

const aPrompt: Need = {
  operation: 'payments.create',
  id: 'payment_id',
  body: { amount: 150, currency: 'KES', method: 'mobile_money', phone: '+254711000003' },
}

const answer = write({
  method: 'POST',
  path: '/v1/sandbox/payments/:payment_id/answer',
  operation: 'sandbox.answerPrompt',
  summary: 'Answer a payment prompt on a simulated handset',
  description:
    'For payers listed as by_hand by PATCH /v1/sandbox/payments/behaviour. A wrong PIN ends the payment, as with real providers.',
  scope: 'sandbox:write',
  params: Type.Object({ payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }) }),
  body: Answer,
  reply: {
    status: 200,
    schema: Type.Object(
      {
        payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
        decision: Answer.properties.decision,
      },
      { title: 'SandboxPromptAnswer' },
    ),
  },
  errors: ['NOT_FOUND', 'INVALID_STATE', 'PROVIDER_UNAVAILABLE'],
  needs: aPrompt,
  prepare: (app, { params, body }, caller) => answerPrompt(app, caller, params.payment_id, body),
  handle: async (_app, tx, { body }, caller, paymentId) => {
    await record(tx, caller, 'sandbox.answer_prompt', paymentId, { after: { decision: body.decision } })
    return { payment_id: paymentId, decision: body.decision }
  },
})

async function answerPrompt(app: App, { tenant }: Caller, id: string, given: Static<typeof Answer>): Promise<string> {
  const payment = await maybe(app.db.query(findPayment, { ...tenant, id: paymentUuid(id) }))
  if (!payment) throw noSuchPayment()
  if (given.decision === 'approve' && given.pin === undefined)
    throw new AppError('VALIDATION_ERROR', 'pin must be given to approve', { extra: { field: 'pin' } })
  const { status } = payment
  if (!open.includes(status)) throw new AppError('INVALID_STATE', `the payment is ${status}`, { extra: { status } })
  const attempt = await maybe(app.db.query(attemptOfPayment, { ...tenant, payment: payment.id }))
  const taken = attempt?.provider_id ? await tell(app, attempt.provider, attempt.provider_id, endingOf(given)) : 409
  if (taken === 409)
    throw new AppError('INVALID_STATE', 'there is no prompt, or the payer is not in by_hand', {
      extra: { status },
    })
  if (taken !== 200)
    throw new AppError('PROVIDER_UNAVAILABLE', 'the simulated provider does not answer', { retryAfterSeconds: 5 })
  return idOf('payment', payment.id)
}

function endingOf({ decision, pin }: Static<typeof Answer>): PayerAnswer {
  if (decision === 'refuse') return 'declined'
  return pin === wrongPin ? 'wrong_pin' : 'paid'
}

/** Tells the simulator of an answer; returns its status, or null without one. */
async function tell(app: App, provider: string, id: string, ending: PayerAnswer): Promise<number | null> {
  const simulated = simulatedAccounts(app)
  const [settings, key] = [simulated[provider], simulated[payers]?.[provider]]
  if (!settings || key === undefined) return null
  const told = await new ProviderClient(app.carrierOutbound).ask({
    method: 'POST',
    url: `${settings.base_url}${payerPath}`,
    headers: { [payerKeyHeader]: key },
    body: { id, ending },
    timeoutMs: answerMs,
  })
  return told.kind === 'answered' ? told.status : null
}

const Behaviour = Type.Object(
  {
    by_hand: Type.Array(
      Type.String({ pattern: `${e164}|^\\*$`, rule: 'must be an E.164 number, or * for every payer' }),
      {
        maxItems: maxNumbers,
        rule: `must list at most ${maxNumbers} numbers`,
        description: `Payers whose prompt waits for a PIN; \`${everybody}\` for all. The result for others depends on their number`,
      },
    ),
  },
  { title: 'SandboxPayers' },
)

const readBehaviour = read({
  method: 'GET',
  path: '/v1/sandbox/payments/behaviour',
  operation: 'sandbox.paymentBehaviour',
  summary: 'Get the behaviour of simulated payers',
  scope: 'sandbox:read',
  reply: { status: 200, schema: Behaviour },
  examples: [{ name: 'As it is' }],
  handle: async ({ db }, _input, { tenant }) => ({ by_hand: [...(await readByHand(db, tenant))] }),
})

const changeBehaviour = write({
  method: 'PATCH',
  path: '/v1/sandbox/payments/behaviour',
  operation: 'sandbox.changePaymentBehaviour',
  summary: 'Set the behaviour of simulated payers',
  description: 'Applies to payments from now on. Their prompt stays for two minutes of real time.',
  scope: 'sandbox:write',
  body: Behaviour,
  reply: { status: 200, schema: Behaviour },
  errors: ['VALIDATION_ERROR'],
  examples: [{ name: 'One payer', body: { by_hand: ['+254711000020'] } }],
  handle: async (app, tx, { body }, caller) => {
    const by_hand = [...new Set(body.by_hand)]
    await keepByHand(app, tx, caller.tenant, by_hand)
    await record(tx, caller, 'sandbox.change_payment_behaviour', caller.accountId, { after: { by_hand } })
    return { by_hand }
  },
})

export const payerRoutes: readonly Route[] = [prompts, answer, readBehaviour, changeBehaviour]
