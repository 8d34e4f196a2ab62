// SPDX-License-Identifier: Apache-2.0
// The pages of 3-D Secure. In earnest the payer is sent on to its bank and comes back; in the sandbox this page plays the
// bank. Either way the acquirer is asked what came of it: what a browser brings along is believed by nobody.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../kernel/errors.ts'
import { isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one } from '../../../platform/db.ts'
import { ProviderClient } from '../../../platform/outbound/provider-http.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { html } from '../../../platform/web/html.ts'
import { askedBy } from '../../../platform/web/language.ts'
import { type Reader, readerOf } from '../../../platform/web/reader.ts'
import { givePage, notice, pageHeaders } from '../../../platform/web/shell.ts'
import { pageTexts } from '../../../platform/web/texts.ts'
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

type Named = { Params: { name: string } }

/** Whom the answer goes to, and in which language. */
interface Payer {
  reader: Reader
  reply: FastifyReply
}

type Handle = (challenge: Challenge, payer: Payer, request: FastifyRequest<Named>) => Promise<FastifyReply>

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
          const payer = { reader: readerOf(askedBy(request), 'UTC'), reply }
          const challenge = await challengeNamed(app, request.params.name)
          return challenge ? handle(challenge, payer, request) : nothing(payer)
        },
      })
    }
    page('GET', '/3ds/:name', (challenge, payer) => show(app, challenge, payer))
    page('POST', '/3ds/:name', (challenge, payer, { body }) => decide(app, challenge, String(body), payer))
    page('GET', '/3ds/:name/return', (challenge, payer) => comeBack(app, challenge, payer))
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

async function show(app: App, challenge: Challenge, payer: Payer): Promise<FastifyReply> {
  const { payment, known } = challenge
  const { reader, reply } = payer
  if (!isAwaited(app, challenge) || known.challenge_url === null) return over(payer)
  if (!isPlayed(app, known)) return reply.redirect(known.challenge_url, 302)
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
  const page = { title: say('title'), language: reader.language, from: say('bank'), isTest: true, content }
  // The answer to the form may lead to the site that the payer came from.
  return givePage(reply, 200, page, 'anywhere')
}

async function decide(app: App, challenge: Challenge, form: string, payer: Payer): Promise<FastifyReply> {
  const { tenant, payment, known } = challenge
  const { challenge_url: url } = known
  const given = new URLSearchParams(form).get('decision')
  const decision = decisions.find((word) => word === given)
  if (url === null || !isPlayed(app, known) || !isAwaited(app, challenge)) return over(payer)
  if (decision === undefined) return end(payer, 400, 'bad', 'notTaken', 'chooseOne')
  const at = new Date(app.clock.nowMs())
  const isFirst = (await app.db.query(decideChallenge, { ...tenant, payment: payment.id, at })).length > 0
  if (!isFirst) return over(payer)
  const client = new ProviderClient(app.carrierOutbound)
  await client.ask({ method: 'POST', url, headers: {}, body: { decision }, timeoutMs: decisionMs })
  return comeBack(app, challenge, payer)
}

/** Asks the acquirer what came of it, and sends the payer where the account wants it. */
async function comeBack(app: App, challenge: Challenge, payer: Payer): Promise<FastifyReply> {
  const { tenant, attempt, payment, known } = challenge
  const { reply } = payer
  const verdict = await card.query(app, tenant, attempt, payment)
  const after = verdict ? await settle(app, tenant, attempt, verdict) : payment
  reply.headers(pageHeaders())
  const nowMs = app.clock.nowMs() + Number(attempt.clock_offset_ms)
  if (known.return_url !== null)
    return reply.redirect(await landingUrl(app, tenant, after, known.return_url, nowMs), 303)
  if (after.receipt_url !== null) return reply.redirect(after.receipt_url, 303)
  const isDone = after.status === 'completed' || after.status === 'processing'
  if (isDone) return end(payer, 200, 'good', 'thanks', 'made')
  return after.status === 'requires_action'
    ? end(payer, 200, 'waiting', 'oneMoment', 'lookedInto')
    : end(payer, 200, 'bad', 'notPaid', 'notMade')
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

function over(payer: Payer): FastifyReply {
  return end(payer, 410, 'bad', 'over', 'beginAgain')
}

function nothing({ reader, reply }: Payer): FastifyReply {
  const sentence = reader.words(challengeTexts)('noPayment')
  return give({ reader, reply }, 404, 'bad', reader.words(pageTexts)('noSuchPage'), sentence)
}

type Sign = Parameters<typeof notice>[0]
type Text = keyof typeof challengeTexts

function end(payer: Payer, status: number, sign: Sign, title: Text, sentence: Text): FastifyReply {
  const say = payer.reader.words(challengeTexts)
  return give(payer, status, sign, say(title), say(sentence))
}

function give({ reader, reply }: Payer, status: number, sign: Sign, title: string, sentence: string): FastifyReply {
  const content = notice(sign, title, html`<p>${sentence}</p>`)
  return givePage(reply, status, { title, language: reader.language, content })
}
