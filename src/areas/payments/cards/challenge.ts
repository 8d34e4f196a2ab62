// SPDX-License-Identifier: Apache-2.0
// The pages of 3-D Secure. In earnest the payer is sent on to its bank and comes back; in the sandbox this page plays the
// bank. Either way the acquirer is asked what came of it: what a browser brings along is believed by nobody.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../kernel/errors.ts'
import { isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one } from '../../../platform/db.ts'
import { ProviderClient } from '../../../platform/provider-http.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { html } from '../../../platform/web/html.ts'
import { readerOf } from '../../../platform/web/reader.ts'
import { givePage, notice, pageHeaders } from '../../../platform/web/shell.ts'
import { attemptNamed, nothingHere } from '../callback-address.ts'
import { gatewayOf } from '../gateway.ts'
import { settle } from '../settle.ts'
import { type AttemptRow, findPayment, type PaymentRow } from '../store.ts'
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

type Named = { Params: { name: string } }
type Handle = (challenge: Challenge, request: FastifyRequest<Named>, reply: FastifyReply) => Promise<FastifyReply>

export function mountChallenges(http: FastifyInstance, app: App): void {
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: maxFormBytes }, (_request, body, done) =>
      done(null, body),
    )
    const page = (method: 'GET' | 'POST', url: string, handle: Handle): void => {
      scope.route<Named>({
        method,
        url,
        config: { open: true },
        handler: async (request, reply) => {
          const challenge = await challengeNamed(app, request.params.name)
          return challenge
            ? handle(challenge, request, reply)
            : end(reply, 404, 'bad', 'No such page', 'There is no payment at this address. Check the link.')
        },
      })
    }
    page('GET', '/3ds/:name', (challenge, { headers }, reply) =>
      show(app, challenge, headers['accept-language'], reply),
    )
    page('POST', '/3ds/:name', (challenge, request, reply) => decide(app, challenge, String(request.body), reply))
    page('GET', '/3ds/:name/return', (challenge, _request, reply) => comeBack(app, challenge, reply))
  })
}

async function challengeNamed(app: App, name: string): Promise<Challenge | null> {
  const named = await attemptNamed(app, name).catch((error: unknown) => {
    if (error instanceof AppError && error.code === nothingHere().code) return null
    throw error
  })
  if (!named) return null
  const { tenant, attempt } = named
  const payment = await one(app.db.query(findPayment, { ...tenant, id: attempt.payment_id }))
  const known = await maybe(app.db.query(findCard, { ...tenant, payment: payment.id }))
  return known && { tenant, attempt, payment, known }
}

async function show(
  app: App,
  challenge: Challenge,
  acceptLanguage: string | undefined,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { payment, known } = challenge
  if (!isAwaited(app, challenge) || known.challenge_url === null) return over(reply)
  if (!isPlayed(app, known)) return reply.redirect(known.challenge_url, 302)
  const { amount: micros, currency } = payment
  const reader = readerOf(acceptLanguage, 'UTC')
  const sum = isCurrency(currency) ? reader.money({ micros, currency }) : currency
  const buttons = decisions.map(
    (word) =>
      html`<button name="decision" value="${word}"${word !== 'approve' && html` class="quiet"`}>${titles[word]}</button>`,
  )
  const content = html`<p class="soft">Is it you who pays with the card that ends in ${known.last4}?</p>
<h1 class="amount">${sum}</h1>
<form method="post">${buttons}</form>
<footer class="soft">This page stands for the payer’s bank in the sandbox.</footer>`
  // The answer to the form may lead to the site that the payer came from.
  return givePage(reply, 200, { title: 'Card payment', from: 'Test bank', isTest: true, content }, 'anywhere')
}

const titles = { approve: 'Approve', fail: 'Fail', abandon: 'Abandon' } as const

async function decide(app: App, challenge: Challenge, form: string, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant, payment, known } = challenge
  const { challenge_url: url } = known
  const given = new URLSearchParams(form).get('decision')
  const decision = decisions.find((word) => word === given)
  if (url === null || !isPlayed(app, known) || !isAwaited(app, challenge)) return over(reply)
  if (decision === undefined) return end(reply, 400, 'bad', 'Not taken', 'Go back, and choose one of the three.')
  const at = new Date(app.clock.nowMs())
  const isFirst = (await app.db.query(decideChallenge, { ...tenant, payment: payment.id, at })).length > 0
  if (!isFirst) return over(reply)
  const client = new ProviderClient(app.carrierOutbound)
  await client.ask({ method: 'POST', url, headers: {}, body: { decision }, timeoutMs: decisionMs })
  return comeBack(app, challenge, reply)
}

/** Asks the acquirer what came of it, and sends the payer where the account wants it. */
async function comeBack(app: App, challenge: Challenge, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant, attempt, payment, known } = challenge
  const verdict = await card.query(app, tenant, attempt, payment)
  const after = verdict ? await settle(app, tenant, attempt, verdict) : payment
  reply.headers(pageHeaders())
  const nowMs = app.clock.nowMs() + Number(attempt.clock_offset_ms)
  if (known.return_url !== null)
    return reply.redirect(await landingUrl(app, tenant, after, known.return_url, nowMs), 303)
  if (after.receipt_url !== null) return reply.redirect(after.receipt_url, 303)
  if (after.status === 'completed' || after.status === 'processing')
    return end(reply, 200, 'good', 'Paid, thank you', 'The payment is made. You can close this page.')
  return after.status === 'requires_action'
    ? end(reply, 200, 'waiting', 'One moment', 'The payment is being looked into. You can close this page.')
    : end(reply, 200, 'bad', 'It was not paid', 'The payment was not made. You can close this page.')
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
  const simulated = app.simulators.payments.acquirer?.base_url
  return simulated !== undefined && challenge_url?.startsWith(`${simulated}/`) === true
}

function over(reply: FastifyReply): FastifyReply {
  const sentence = 'This page was used, or its time is over. Go back to where you pay, and begin again.'
  return end(reply, 410, 'bad', 'This page is over', sentence)
}

type Sign = Parameters<typeof notice>[0]

function end(reply: FastifyReply, status: number, sign: Sign, title: string, sentence: string): FastifyReply {
  return givePage(reply, status, { title, content: notice(sign, title, html`<p>${sentence}</p>`) })
}
