// SPDX-License-Identifier: Apache-2.0
// Mail to the operator about a trouble, from the domain of the operator's own account.
import { AppError } from '../../kernel/errors.ts'
import type { App } from '../../platform/app.ts'
import { maybe } from '../../platform/db.ts'
import { occasionNow } from '../../platform/events.ts'
import { operatorNotice } from '../../platform/operator/troubles.ts'
import { tenantOf } from '../../platform/tenant.ts'
import { html } from '../../platform/web/html.ts'
import type { Job } from '../../platform/work.ts'
import { mailForAccount } from '../email/area.ts'
import { firstOperator } from './store.ts'

export const operatorNoticeJob: Job<App, typeof operatorNotice.payload> = {
  ...operatorNotice,
  role: 'timers',
  concurrency: 2,
  retrySeconds: [10, 60, 300, 1_800],
  async handle(app, { id, payload }) {
    const operator = await maybe(app.db.query(firstOperator, {}))
    if (!operator) return { kind: 'done' }
    // Outside production, mail goes to the mailboxes of the sandbox.
    const environment = app.config.NODE_ENV === 'production' ? 'live' : 'test'
    const tenant = tenantOf({ bucket: operator.bucket, account_id: operator.id, environment })
    const sending = { ...occasionNow(app.clock, tenant, 0), actor: 'system', ip: '' }
    for (const to of app.config.PAMOJA_NOTICE_EMAILS)
      try {
        await mailForAccount(app, sending, {
          to,
          fromName: 'Pamoja',
          fromLocal: 'notices',
          subject: payload.subject,
          html: html`${payload.text.map((words) => html`<p>${words}</p>`)}`.html,
          key: `trouble ${id} ${to}`,
          isFree: true,
        })
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (error.status >= 500) return { kind: 'retry', reason: error.code }
        app.log.warn(
          { code: error.code },
          'operator alert not mailed: verify a sending domain for the operator’s account',
        )
      }
    return { kind: 'done' }
  },
}
