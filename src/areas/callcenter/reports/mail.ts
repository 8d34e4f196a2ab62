// SPDX-License-Identifier: Apache-2.0
// Job that mails a report when it is due: the mail of each recipient has a key of its own, so that a job which is run again
// mails nobody twice, and the next time is noted only where this one has not been noted before.
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { DrawingDesk } from '../../../platform/paper/drawing-desk.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { root } from '../../../platform/program/root.ts'
import type { One, Tenant } from '../../../platform/tenant.ts'
import { html } from '../../../platform/web/html.ts'
import { directionOf } from '../../../platform/web/language.ts'
import type { Job } from '../../../platform/work.ts'
import { mailForAccount, suppressionsOf } from '../../email/area.ts'
import { occasionOf } from '../switchboard.ts'
import { type Contents, contentsAt } from './contents.ts'
import type { ReportPaper } from './paper.ts'
import { addressOf, periodAt, timeAfter } from './schedule.ts'
import {
  findSchedule,
  holdClock,
  type LastMailing,
  mailReport,
  noteMailing,
  reportingAccount,
  type ScheduleRow,
} from './store.ts'

/** Compiled worker: the bundle of `npm start` does not contain it. */
const workerFile = new URL('dist/src/areas/callcenter/reports/paper-worker.js', root)
const deskOf = onePerApp(() => new DrawingDesk<ReportPaper>(workerFile))

/** Queues the mailing of a report at a time, in the given transaction. */
export async function mailAt(app: App, tx: Tx, schedule: One, at: Date): Promise<void> {
  const { bucket, account, environment, id } = schedule
  const { ms } = await one(tx.query(holdClock, { bucket, account, environment }))
  const delayMs = Math.max(0, at.getTime() - app.clock.nowMs() - Number(ms))
  const payload = { schedule: id, atMs: at.getTime() }
  const job = app.work.prepare(mailReport, { bucket, account, environment }, payload, { key: id, delayMs })
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
}

export const mailReportJob: Job<App, typeof mailReport.payload> = {
  ...mailReport,
  role: 'timers',
  concurrency: 2,
  retrySeconds: [30, 300, 1_800],
  calendar: {},
  async handle(app, { tenant, payload, failures }) {
    if (!tenant) throw new Error('a report belongs to an account')
    const schedule = { ...tenant, id: payload.schedule }
    const row = await maybe(app.db.query(findSchedule, schedule))
    if (row?.next_at?.getTime() !== payload.atMs) return { kind: 'done' }
    const occasion = await occasionOf(app, tenant)
    if (occasion.nowMs < payload.atMs) return { kind: 'again', afterMs: payload.atMs - occasion.nowMs }
    const due = row.next_at
    const about = await one(app.db.query(reportingAccount, { account: tenant.account }))
    const { code, missed } = await mailTo(app, tenant, row, due)
    if (code !== null && isPassing(code) && failures < mailReportJob.retrySeconds.length)
      return { kind: 'retry', reason: code }
    const { from, to } = periodAt(row.document, due, about.timezone)
    const last: LastMailing = {
      ...{ at: due.toISOString(), from: from.toISOString(), to: to.toISOString() },
      ...{ status: code === null ? 'sent' : 'failed', code, not_sent: missed },
    }
    const nextAt = timeAfter(row.document, due, about.timezone)
    await app.db.tx(tenant, async (tx) => {
      const noted = await maybe(tx.query(noteMailing, { ...schedule, due, nextAt, last: JSON.stringify(last) }))
      if (noted) await mailAt(app, tx, schedule, nextAt)
    })
    if (code !== null)
      app.log.info({ code }, 'report not mailed: check the account’s sending domain and wallet; the next one is tried')
    return { kind: 'done' }
  },
}

const unknownFailure = 'INTERNAL_ERROR'
const passing: ReadonlySet<string> = new Set(['PROVIDER_UNAVAILABLE', 'SERVICE_UNAVAILABLE', unknownFailure])

/** Whether a later try may succeed: after the last one the failure is noted, and the next period is mailed in its turn. */
function isPassing(code: string): boolean {
  return passing.has(code)
}

interface Mailed {
  /** Error code of the first who was not mailed; null when everybody was. */
  readonly code: string | null
  readonly missed: readonly string[]
}

/** Mails the report that was due to everybody who gets it. */
async function mailTo(app: App, tenant: Tenant, { id, document }: ScheduleRow, due: Date): Promise<Mailed> {
  const about = await one(app.db.query(reportingAccount, { account: tenant.account }))
  const sending = { ...(await occasionOf(app, tenant)), actor: 'system', ip: '' }
  let made: Promise<Contents> | null = null
  const contents = (): Promise<Contents> => {
    made ??= contentsAt(app, tenant, document, due, about)
    return made
  }
  let code: string | null = null
  const missed: string[] = []
  const stopped = await stoppedAmong(app, tenant, document.recipients, sending.nowMs)
  for (const to of document.recipients)
    try {
      if (stopped.has(addressOf(to))) throw new AppError('OPTED_OUT', `${to} takes no mail`)
      const { period, summary, days, words } = await contents()
      const { firstDay, lastDay } = period
      const query = new URLSearchParams({ from: firstDay, to: lastDay, queue: document.queue_id ?? '' })
      const address = `${app.publicUrl}/console/call-report?${query}`
      const { language, formats } = document
      const paragraphs = [
        html`<p>${document.name}, ${days} (${about.timezone}): ${summary}</p>`,
        html`<p><a href="${address}">${words('open')}</a></p>`,
        html`<p>${words('why', { account: about.name, to })}</p>`,
      ]
      await mailForAccount(app, sending, {
        to,
        fromName: about.name,
        fromLocal: 'reports',
        subject: `${document.name}: ${days}`,
        html: html`<div lang="${language}" dir="${directionOf(language)}">${paragraphs}</div>`.html,
        attach: async () => filesOf(app, formats, await contents(), `${document.report}-${lastDay}`, id),
        // The space keeps the key apart from the idempotency keys of requests.
        key: `report ${idOf('reportSchedule', id)} ${due.getTime()} ${to}`,
      })
    } catch (error) {
      if (!(error instanceof AppError))
        app.log.error({ error }, 'report not mailed: check the error; it is tried again')
      code ??= error instanceof AppError ? error.code : unknownFailure
      missed.push(to)
    }
  return { code, missed }
}

/** Addresses in lower case that take no mail at all, because it came back or they complained. */
async function stoppedAmong(
  app: App,
  tenant: Tenant,
  recipients: readonly string[],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const stops = await suppressionsOf(app.db, tenant, recipients.map(addressOf), new Date(nowMs))
  return new Set(stops.filter(({ applies_to }) => applies_to === 'all').map(({ email }) => email))
}

async function filesOf(
  app: App,
  formats: readonly ('pdf' | 'csv')[],
  { paper, csv }: Contents,
  name: string,
  id: string,
): Promise<{ filename: string; content: Buffer; contentType: string }[]> {
  const files = []
  if (formats.includes('pdf')) {
    const content = await deskOf(app).draw(`${id} ${paper.at.getTime()} ${paper.title}`, paper)
    files.push({ filename: `${name}.pdf`, content, contentType: 'application/pdf' })
  }
  if (formats.includes('csv'))
    files.push({ filename: `${name}.csv`, content: Buffer.from(csv), contentType: 'text/csv' })
  return files
}
