// SPDX-License-Identifier: Apache-2.0
// The pages of 3-D Secure. In earnest the payer is sent on to its bank and comes back; in the sandbox this page plays the
// bank. Either way the acquirer is asked what came of it: what a browser brings along is believed by nobody.
import { isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one } from '../../../platform/db.ts'
import { formOf, type Hook, type HookAnswer, type HookCall, hook, redirect } from '../../../platform/hook.ts'
import { ProviderClient } from '../../../platform/outbound/provider-http.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { html } from '../../../platform/web/html.ts'
import { askedBy } from '../../../platform/web/language.ts'
import { type Reader, readerOf } from '../../../platform/web/reader.ts'
import { refusalPage } from '../../../platform/web/refusal.ts'
import { notice, page } from '../../../platform/web/shell.ts'
import { attemptNamed, nothingHere } from '../callbacks/address.ts'
import { gatewayOf } from '../providers/gateway.ts'
import { simulatedAccounts } from '../providers/simulated.ts'
import { settle } from '../settle.ts'
import { type AttemptRow, findPayment, type PaymentRow } from '../store.ts'
import { challengeTexts } from './challenge-texts.ts'
import { card, challengeSeconds } from './method.ts'
import { landingUrl } from './return-url.ts'
import { type CardRow, decideChallenge, findCard } from './store.ts'

const maxFormBytes = 1_024
const decisionMs = 10_000
const decisions = ['approve', 'fail', 'abandon'] as const

interface Challenge {
  tenant: Tenant
  attempt: AttemptRow
  payment: PaymentRow
  known: CardRow
}

type Handle = (app: App, challenge: Challenge, reader: Reader, call: HookCall<{ name: string }>) => Promise<HookAnswer>

const challengeHook = (methods: Hook['methods'], path: '/3ds/:name' | '/3ds/:name/return', handle: Handle): Hook =>
  hook({
    methods,
    path,
    operation: 'payments.challenge',
    summary: 'A payer proves to the bank that a card is theirs',
    maxBytes: maxFormBytes,
    limits: [{ by: 'name', perMinute: 120 }],
    handle: async (app, call) => {
      const challenge = await challengeNamed(app, call.params.name)
      return handle(app, challenge, readerOf(askedBy(call), 'UTC'), call)
    },
    refused: (_app, call, error) => refusalPage(call, error, ({ words }) => words(challengeTexts)('noPayment')),
  })

export const challengeHooks = [
  challengeHook(['GET', 'HEAD'], '/3ds/:name', show),
  challengeHook(['POST'], '/3ds/:name', decide),
  challengeHook(['GET', 'HEAD'], '/3ds/:name/return', comeBack),
]

async function challengeNamed(app: App, name: string): Promise<Challenge> {
  const { tenant, attempt } = await attemptNamed(app, name)
  const payment = await one(app.db.query(findPayment, { ...tenant, id: attempt.payment_id }))
  const known = await maybe(app.db.query(findCard, { ...tenant, payment: payment.id }))
  if (!known) throw nothingHere()
  return { tenant, attempt, payment, known }
}

async function show(app: App, challenge: Challenge, reader: Reader): Promise<HookAnswer> {
  const { payment, known } = challenge
  if (!isAwaited(app, challenge) || known.challenge_url === null) return over(reader)
  if (!isPlayed(app, known)) return redirect(known.challenge_url, 302)
  const { amount: micros, currency } = payment
  const say = reader.words(challengeTexts)
  const sum = isCurrency(currency) ? reader.money({ micros, currency }) : currency
  const buttons = decisions.map(
    (word) =>
      html`<button name="decision" value="${word}"${word !== 'approve' && html` class="quiet"`}>${say(word)}</button>`,
  )
  const content = html`<p class="soft">${say('question', { digits: known.last4 })}</p>
<h1 class="amount">${sum}</h1>
<form method="post">${buttons}</form>
<footer class="soft">${say('standsForBank')}</footer>`
  const shown = { title: say('title'), language: reader.language, from: say('bank'), isTest: true, content }
  // The answer to the form may lead to the site that the payer came from.
  return page(200, shown, 'anywhere')
}

async function decide(
  app: App,
  challenge: Challenge,
  reader: Reader,
  call: Pick<HookCall, 'bytes'>,
): Promise<HookAnswer> {
  const { tenant, payment, known } = challenge
  const { challenge_url: url } = known
  const given = formOf(call).get('decision')
  const decision = decisions.find((word) => word === given)
  if (url === null || !isPlayed(app, known) || !isAwaited(app, challenge)) return over(reader)
  if (decision === undefined) return end(reader, 400, 'bad', 'notTaken', 'chooseOne')
  const at = new Date(app.clock.nowMs())
  const isFirst = (await app.db.query(decideChallenge, { ...tenant, payment: payment.id, at })).length > 0
  if (!isFirst) return over(reader)
  const client = new ProviderClient(app.carrierOutbound)
  await client.ask({ method: 'POST', url, headers: {}, body: { decision }, timeoutMs: decisionMs })
  return comeBack(app, challenge, reader)
}

/** Asks the acquirer what came of it, and sends the payer where the account wants it. */
async function comeBack(app: App, challenge: Challenge, reader: Reader): Promise<HookAnswer> {
  const { tenant, attempt, payment, known } = challenge
  const verdict = await card.query(app, tenant, attempt, payment)
  const after = verdict ? await settle(app, tenant, attempt, verdict) : payment
  const nowMs = app.clock.nowMs() + Number(attempt.clock_offset_ms)
  if (known.return_url !== null) return redirect(await landingUrl(app, tenant, after, known.return_url, nowMs))
  if (after.receipt_url !== null) return redirect(after.receipt_url)
  const isDone = after.status === 'completed' || after.status === 'processing'
  if (isDone) return end(reader, 200, 'good', 'thanks', 'made')
  return after.status === 'requires_action'
    ? end(reader, 200, 'waiting', 'oneMoment', 'lookedInto')
    : end(reader, 200, 'bad', 'notPaid', 'notMade')
}

/** Whether the payer may still decide. */
function isAwaited(app: App, { tenant, attempt, payment }: Challenge): boolean {
  const nowMs = app.clock.nowMs() + Number(attempt.clock_offset_ms)
  const lifeMs = challengeSeconds * 1_000 * gatewayOf(app).timeScale(tenant.environment)
  const endMs = Math.min(payment.expires_at.getTime(), attempt.created_at.getTime() + lifeMs)
  return payment.status === 'requires_action' && nowMs < endMs
}

/** Whether the bank is one of the sandbox. */
function isPlayed(app: App, { challenge_url }: CardRow): boolean {
  const simulated = simulatedAccounts(app).acquirer?.base_url
  return simulated !== undefined && challenge_url?.startsWith(`${simulated}/`) === true
}

function over(reader: Reader): HookAnswer {
  return end(reader, 410, 'bad', 'over', 'beginAgain')
}

type Sign = Parameters<typeof notice>[0]
type Text = keyof typeof challengeTexts

function end(reader: Reader, status: number, sign: Sign, title: Text, sentence: Text): HookAnswer {
  const say = reader.words(challengeTexts)
  const content = notice(sign, say(title), html`<p>${say(sentence)}</p>`)
  return page(status, { title: say(title), language: reader.language, content })
}
