// SPDX-License-Identifier: Apache-2.0
// The pages of 3-D Secure. In earnest the payer is sent on to its bank and comes back; in the sandbox this page plays the
// bank. Either way the acquirer is asked what came of it: what a browser brings along is believed by nobody.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../kernel/errors.ts'
import { formatMoney, isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one } from '../../../platform/db.ts'
import { ProviderClient } from '../../../platform/provider-http.ts'
import type { Tenant } from '../../../platform/tenant.ts'
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
          return challenge ? handle(challenge, request, reply) : end(reply, 404, 'There is no payment at this address.')
        },
      })
    }
    page('GET', '/3ds/:name', (challenge, _request, reply) => show(app, challenge, reply))
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

async function show(app: App, challenge: Challenge, reply: FastifyReply): Promise<FastifyReply> {
  const { payment, known } = challenge
  if (!isAwaited(app, challenge) || known.challenge_url === null) return over(reply)
  if (!isPlayed(app, known)) return reply.redirect(known.challenge_url, 302)
  const { amount: micros, currency } = payment
  const sum = isCurrency(currency) ? formatMoney({ micros, currency }) : currency
  const buttons = decisions.map((word) => `<button name="decision" value="${word}">${titles[word]}</button>`).join('\n')
  return html(
    reply,
    200,
    `<h1>Test bank</h1>
<p>Is it you who pays <strong>${escaped(sum)}</strong> with the card that ends in ${known.last4}?</p>
<form method="post">${buttons}</form>
<p>No money moves here: this page stands for the payer's bank.</p>`,
  )
}

const titles = { approve: 'Approve', fail: 'Fail', abandon: 'Abandon' } as const

async function decide(app: App, challenge: Challenge, form: string, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant, payment, known } = challenge
  const { challenge_url: url } = known
  const given = new URLSearchParams(form).get('decision')
  const decision = decisions.find((word) => word === given)
  if (url === null || !isPlayed(app, known) || !isAwaited(app, challenge)) return over(reply)
  if (decision === undefined) return end(reply, 400, 'Go back, and choose one of the three.')
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
  reply.headers(pageHeaders)
  const nowMs = app.clock.nowMs() + Number(attempt.clock_offset_ms)
  if (known.return_url !== null)
    return reply.redirect(await landingUrl(app, tenant, after, known.return_url, nowMs), 303)
  const isDone = after.status === 'completed' || after.status === 'processing'
  if (isDone) return end(reply, 200, 'Thank you: the payment is made. You can close this page.')
  return after.status === 'requires_action'
    ? end(reply, 200, 'The payment is being looked into. You can close this page.')
    : end(reply, 200, 'The payment was not made. You can close this page.')
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
  return end(reply, 410, 'This page was used, or its time is over.')
}

function end(reply: FastifyReply, status: number, sentence: string): FastifyReply {
  return html(reply, status, `<p>${escaped(sentence)}</p>`)
}

const pageHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
} as const

function html(reply: FastifyReply, status: number, body: string): FastifyReply {
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Card payment</title>
<style>body{font:1rem/1.5 sans-serif;max-width:28rem;margin:3rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}</style>
${body}
</html>
`
  return reply.code(status).headers(pageHeaders).type('text/html; charset=utf-8').send(page)
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
