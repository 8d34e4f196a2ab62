// SPDX-License-Identifier: Apache-2.0
// Pages around a provider's page: a bank's 3-D Secure challenge, or a wallet that prompts no phone. Live payers are
// sent on and come back; in the sandbox this page plays the provider's. In both cases the provider is polled for the
// outcome: what the browser brings is not believed.
import { isCurrency } from '../../../kernel/money.ts'
import { formOf, type Hook, type HookAnswer, type HookCall, hook, redirect } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import { one } from '../../../platform/db.ts'
import { ProviderClient } from '../../../platform/outbound/provider-http.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { html } from '../../../platform/web/html.ts'
import { askedBy } from '../../../platform/web/language.ts'
import { type Reader, readerOf } from '../../../platform/web/reader.ts'
import { refusalPage } from '../../../platform/web/refusal.ts'
import { notice, page } from '../../../platform/web/shell.ts'
import { settle } from '../collect/settle.ts'
import { simulatedAccounts } from '../gateway/simulated.ts'
import { providerNamed } from '../methods/mobile-money-providers.ts'
import { methodOf } from '../methods/payment-methods.ts'
import { attemptOfPayer } from '../records/callback-address.ts'
import { landingUrl } from '../records/return-url.ts'
import { type AttemptRow, decideOnce, findPayment, type PaymentRow } from '../records/store.ts'
import { redirectTexts } from './redirect-texts.ts'

const maxFormBytes = 1_024
const decisionMs = 10_000

/** Buttons of the page that plays the other one. Of a wallet the payer's number decides what happens when it is approved. */
const decisions: Readonly<Record<PaymentRow['method'], readonly Decision[]>> = {
  card: ['approve', 'fail', 'abandon'],
  mobile_money: ['approve', 'abandon'],
  bank_transfer: [],
}
type Decision = 'approve' | 'fail' | 'abandon'

interface Visit {
  tenant: Tenant
  attempt: AttemptRow
  payment: PaymentRow
}

type Handle = (app: App, visit: Visit, reader: Reader, call: HookCall<{ name: string }>) => Promise<HookAnswer>

const visitHook = (methods: Hook['methods'], path: '/go/:name' | '/go/:name/return', handle: Handle): Hook =>
  hook({
    methods,
    path,
    operation: 'payments.redirect',
    summary: 'A payer is sent to a page to confirm, or comes back from it',
    maxBytes: maxFormBytes,
    limits: [{ by: 'name', perMinute: 120 }],
    handle: async (app, call) => {
      const { tenant, attempt } = await attemptOfPayer(app, call.params.name)
      const payment = await one(app.db.query(findPayment, { ...tenant, id: attempt.payment_id }))
      return handle(app, { tenant, attempt, payment }, readerOf(askedBy(call), 'UTC'), call)
    },
    refused: (_app, call, error) => refusalPage(call, error, ({ words }) => words(redirectTexts)('noPayment')),
  })

export const redirectHooks = [
  visitHook(['GET', 'HEAD'], '/go/:name', show),
  visitHook(['POST'], '/go/:name', decide),
  visitHook(['GET', 'HEAD'], '/go/:name/return', comeBack),
]

async function show(app: App, visit: Visit, reader: Reader): Promise<HookAnswer> {
  const { payment } = visit
  const { page_url: url } = payment.details
  if (!isAwaited(app, visit) || url === undefined) return over(reader)
  if (!isPlayed(app, payment)) return redirect(url, 302)
  const say = reader.words(redirectTexts)
  const { title, from, question, standsFor } = wordsOf(payment, reader)
  const { amount: micros, currency } = payment
  const sum = isCurrency(currency) ? reader.money({ micros, currency }) : currency
  const buttons = decisions[payment.method].map(
    (word) =>
      html`<button name="decision" value="${word}"${word !== 'approve' && html` class="quiet"`}>${say(word)}</button>`,
  )
  const content = html`<p class="soft">${question}</p>
<h1 class="amount">${sum}</h1>
<form method="post">${buttons}</form>
<footer class="soft">${standsFor}</footer>`
  // The answer to the form may lead to the site that the payer came from.
  return page(200, { title, language: reader.language, from, isTest: true, content }, 'anywhere')
}

/** A bank asks about a card, a wallet about a number. */
function wordsOf({ method, provider, phone, details }: PaymentRow, reader: Reader) {
  const say = reader.words(redirectTexts)
  if (method === 'card')
    return {
      title: say('cardTitle'),
      from: say('bank'),
      question: say('cardQuestion', { digits: details.card?.last4 ?? '' }),
      standsFor: say('standsForBank'),
    }
  const name = providerNamed(provider)?.name ?? provider
  return {
    title: say('walletTitle', { provider: name }),
    from: name,
    question: say('walletQuestion', { number: reader.leftToRight(phone ?? '') }),
    standsFor: say('standsForWallet', { provider: name }),
  }
}

async function decide(app: App, visit: Visit, reader: Reader, call: Pick<HookCall, 'bytes'>): Promise<HookAnswer> {
  const { tenant, attempt, payment } = visit
  const { page_url: url } = payment.details
  const given = formOf(call).get('decision')
  const decision = decisions[payment.method].find((word) => word === given)
  if (url === undefined || !isPlayed(app, payment) || !isAwaited(app, visit)) return over(reader)
  if (decision === undefined) return end(reader, 400, 'bad', 'notTaken', 'chooseOne')
  const at = new Date(app.clock.nowMs())
  const isFirst = (await app.db.query(decideOnce, { ...tenant, id: attempt.id, at })).length > 0
  if (!isFirst) return over(reader)
  const client = new ProviderClient(app.carrierOutbound)
  const body = { decision, ...(payment.phone === null ? {} : { phone: payment.phone }) }
  await client.ask({ method: 'POST', url, headers: {}, body, timeoutMs: decisionMs })
  return comeBack(app, visit, reader)
}

/** Asks the provider what came of it, and sends the payer where the account wants it. */
async function comeBack(app: App, { tenant, attempt, payment }: Visit, reader: Reader): Promise<HookAnswer> {
  const verdict = await methodOf(payment).query(app, tenant, attempt, payment)
  const after = verdict ? await settle(app, tenant, attempt, verdict) : payment
  const nowMs = app.clock.nowMs() + Number(attempt.clock_offset_ms)
  const { return_url: there } = payment.details
  if (there !== undefined) return redirect(await landingUrl(app, tenant, after, there, nowMs))
  if (after.receipt_url !== null) return redirect(after.receipt_url)
  const isDone = after.status === 'completed' || after.status === 'processing'
  if (isDone) return end(reader, 200, 'good', 'thanks', 'made')
  return after.status === 'requires_action'
    ? end(reader, 200, 'waiting', 'oneMoment', 'lookedInto')
    : end(reader, 200, 'bad', 'notPaid', 'notMade')
}

/** Whether the payer may still decide. */
function isAwaited(app: App, { attempt, payment }: Visit): boolean {
  const nowMs = app.clock.nowMs() + Number(attempt.clock_offset_ms)
  return payment.status === 'requires_action' && nowMs < payment.expires_at.getTime()
}

/** Whether the page is one of the sandbox. */
function isPlayed(app: App, { provider, details }: PaymentRow): boolean {
  const simulated = simulatedAccounts(app)[provider]?.base_url
  return simulated !== undefined && details.page_url?.startsWith(`${simulated}/`) === true
}

function over(reader: Reader): HookAnswer {
  return end(reader, 410, 'bad', 'over', 'beginAgain')
}

type Sign = Parameters<typeof notice>[0]
type Text = keyof typeof redirectTexts

function end(reader: Reader, status: number, sign: Sign, title: Text, sentence: Text): HookAnswer {
  const say = reader.words(redirectTexts)
  const content = notice(sign, say(title), html`<p>${say(sentence)}</p>`)
  return page(status, { title: say(title), language: reader.language, content })
}
