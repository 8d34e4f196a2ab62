// SPDX-License-Identifier: Apache-2.0
// Notices to an account's owners, free of charge, from a domain the account may send from; without one, only events are
// emitted.
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { one, statement } from '../../../platform/db.ts'
import { ownerNotice } from '../../../platform/events/owner-notices.ts'
import { occasionNow } from '../../../platform/events.ts'
import { html } from '../../../platform/web/html.ts'
import type { Job } from '../../../platform/work.ts'
import { mailForAccount } from './mail-for-account.ts'

const ownersOf = statement.home<
  { account: string; environment: string },
  { owners: string[]; name: string; clock_offset_ms: bigint }
>(
  'email.owners_of',
  `select array(select accounts.owners_of($account::uuid)) as owners, accounts.name_of($account) as name,
          accounts.clock_offset_ms($account, $environment) as clock_offset_ms`,
)

export const ownerNoticeJob: Job<App, typeof ownerNotice.payload> = {
  ...ownerNotice,
  role: 'timers',
  concurrency: 4,
  retrySeconds: [30, 300, 1_800],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('owners belong to an account')
    const { account, environment } = tenant
    const { owners, name, clock_offset_ms } = await one(app.db.query(ownersOf, { account, environment }))
    const sending = { ...occasionNow(app.clock, tenant, clock_offset_ms), actor: 'system', ip: '' }
    for (const to of owners)
      try {
        await mailForAccount(app, sending, {
          to,
          fromName: name,
          fromLocal: 'notices',
          subject: payload.subject,
          html: html`${payload.text.map((words) => html`<p>${words}</p>`)}`.html,
          key: `notice ${payload.key} ${to}`,
          isFree: true,
        })
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (error.status >= 500) return { kind: 'retry', reason: error.code }
        app.log.info({ code: error.code }, 'notice not mailed to an owner: check the account’s sending domain')
      }
    return { kind: 'done' }
  },
}
