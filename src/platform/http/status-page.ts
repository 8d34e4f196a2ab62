// SPDX-License-Identifier: Apache-2.0
// Public status page, where the operator allows it: which parts of the service work now, as a page in the reader's language
// and as JSON. It names no carrier, no machine and no error.
import type { FastifyInstance } from 'fastify'
import type { App } from '../app.ts'
import { atMostEvery } from '../telemetry/metrics.ts'
import { html } from '../web/html.ts'
import { askedBy } from '../web/language.ts'
import { readerOf } from '../web/reader.ts'
import { notice, page } from '../web/shell.ts'
import type { Readiness } from './health.ts'
import { statusTexts } from './status-texts.ts'

/** However many people look, the checks are made at most this often. */
const cacheMs = 5_000
const refreshSeconds = 60

type State = 'works' | 'slow' | 'down'
type Part = 'api' | 'texts' | 'background'

interface Status {
  readonly status: State
  readonly parts: Readonly<Record<Part, State>>
  readonly checked_at: Date
}

export function statusPage(http: FastifyInstance, app: Pick<App, 'clock'>, check: () => Promise<Readiness>): void {
  const current = atMostEvery(cacheMs, async () => statusOf(await check(), new Date(app.clock.nowMs())))
  http.get('/status', { config: { open: true } }, async (request, reply) => {
    const status = await current()
    if (/json/.test(request.headers.accept ?? '')) return reply.header('cache-control', 'no-store').send(status)
    const { headers, body } = pageOf(status, askedBy(request))
    return reply.headers(headers).send(body)
  })
}

function statusOf({ checks }: Readiness, checkedAt: Date): Status {
  const isReached = checks.database === 'ok' && checks.writes === 'ok'
  const stateOf = (check: string, otherwise: State): State =>
    isReached ? ((checks[check] ?? 'ok') === 'ok' ? 'works' : otherwise) : 'down'
  const parts = {
    api: isReached ? 'works' : 'down',
    texts: stateOf('sms', 'slow'),
    background: stateOf('queue', 'slow'),
  } as const
  const isWell = Object.values(parts).every((state) => state === 'works')
  return { status: isReached ? (isWell ? 'works' : 'slow') : 'down', parts, checked_at: checkedAt }
}

const heads = {
  works: ['good', 'allWorks'],
  slow: ['waiting', 'someWork'],
  down: ['bad', 'noneWorks'],
} as const

function pageOf({ status, parts, checked_at }: Status, asked: ReturnType<typeof askedBy>) {
  const reader = readerOf(asked, 'UTC')
  const say = reader.words(statusTexts)
  const [sign, head] = heads[status]
  const rows = (['api', 'texts', 'background'] as const).map(
    (part) => html`<tr><th scope="row">${say(part)}</th><td>${say(parts[part])}</td></tr>`,
  )
  const checked = say('checked', { at: reader.moment(checked_at) })
  const content = notice(sign, say(head), html`<table>${rows}</table><p class="soft">${checked}</p>`)
  return page(200, { title: say('title'), language: reader.language, next: { seconds: refreshSeconds }, content })
}
