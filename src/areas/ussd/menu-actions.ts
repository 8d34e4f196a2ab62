// SPDX-License-Identifier: Apache-2.0
// Menu actions besides screens: a text to the subscriber, and a payment request to their phone. Each runs once per
// step, as a job after the screen is stored: a phone shows a payment request only after its session. A refused action
// is logged and does not affect the session.
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import type { App } from '../../platform/app.ts'
import { maybe, statement } from '../../platform/db.ts'
import { type Occasion, occasionNow } from '../../platform/events.ts'
import { tenantOf } from '../../platform/tenant.ts'
import type { Job } from '../../platform/work.ts'
import { accept } from '../payments/area.ts'
import { sendForAccount } from '../sms/area.ts'
import { filled, type MenuNode, wordsOf } from './menu.ts'
import { menuVersion } from './menus.ts'
import type { Session } from './session.ts'
import { sessionOf } from './store.ts'

const Payload = Type.Object({ session: Type.String(), step: Type.Integer(), nodes: Type.Array(Type.String()) })

export const menuActionJob: Job<App, typeof Payload> = {
  lane: 'ussd.menu_action',
  role: 'dispatch',
  payload: Payload,
  concurrency: 16,
  retrySeconds: [1, 5, 30, 120],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a session belongs to an account')
    const session = await sessionOf(app, tenant, payload.session)
    const document = session && (await menuVersion(app, session))
    if (!session || !document) return { kind: 'done' }
    const occasion = occasionNow(app.clock, tenant, session.clock_offset_ms)
    for (const name of payload.nodes) {
      const node = document.nodes[name]
      const key = `${session.id} ${payload.step} ${name}`
      try {
        if (node?.sms)
          await text(
            app,
            occasion,
            session,
            node.sms,
            wordsOf(node.sms.message, { document, language: session.language }),
            key,
          )
        if (node?.pay) await askToPay(app, occasion, session, node.pay, key)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (error.status >= 500) return { kind: 'retry', reason: error.code }
        if (error.code !== 'DUPLICATE_REFERENCE')
          app.log.warn(
            { session: session.id, node: name, code: error.code },
            'action of a USSD menu refused: the session goes on without it; the account should check its menu against the code',
          )
      }
    }
    return { kind: 'done' }
  },
}

/** Queues the actions of the menu nodes passed in a step. */
export async function queueActions(app: App, session: Session, nodes: readonly string[]): Promise<void> {
  if (nodes.length === 0) return
  const payload = { session: session.id, step: session.step, nodes: [...nodes] }
  const job = app.work.prepare(menuActionJob, tenantOf(session), payload)
  await app.work.add(app.db, job)
  app.work.begin(job)
}

const defaultSender = statement.home<{ account: string }, { sender: string | null }>(
  'ussd.default_sender',
  `select value #>> '{}' as sender from accounts.with_setting('default_sender') where account_id = $account`,
)

async function text(
  app: App,
  occasion: Occasion,
  { phone, data, shortcode }: Session,
  { from }: NonNullable<MenuNode['sms']>,
  message: string | null,
  key: string,
): Promise<void> {
  const own = from ?? (await maybe(app.db.query(defaultSender, { account: occasion.tenant.account })))?.sender
  // Default sender: the dialled code, by which the subscriber knows the account.
  const sender = own ?? shortcode.slice(1, -1).split('*')[0] ?? ''
  const sending = { ...occasion, actor: 'system', ip: '' }
  await sendForAccount(app, sending, {
    to: phone,
    from: sender,
    message: filled(message ?? '', data),
    key: `ussd ${key}`,
  })
}

async function askToPay(
  app: App,
  occasion: Occasion,
  { phone, data, session_id }: Session,
  { amount, currency, provider }: NonNullable<MenuNode['pay']>,
  key: string,
): Promise<void> {
  const input = {
    ...{ amount: typeof amount === 'number' ? amount : filled(amount, data), currency, phone },
    method: 'mobile_money' as const,
    ...(provider === undefined ? {} : { provider }),
    reference: `ussd:${key.replaceAll(' ', ':')}`,
    metadata: { ussd_session: session_id },
  }
  await app.db.tx(occasion.tenant, (tx) => accept(app, tx, { input, occasion, sendsInline: false }))
}
