// SPDX-License-Identifier: Apache-2.0
// Push: an application starts a session; its first screen is sent once the session is stored.

import { createHash } from 'node:crypto'
import type { Static } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { idOf } from '../../kernel/ids.ts'
import { hourMs } from '../../kernel/time.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import type { Tx } from '../../platform/db.ts'
import { checkCallback } from '../../platform/outbound/callback-url.ts'
import { beginIn, replaceLive } from './begin.ts'
import { showTo } from './intake.ts'
import { registered, setupNow } from './known-codes.ts'
import { newDialog } from './network/dialogs.ts'
import { gatewaysOf } from './network/gateways.ts'
import { sessionPrice, unpriced } from './pricing.ts'
import type { Initiate, Sent } from './schema.ts'
import type { Session, Setup } from './session.ts'
import { defaultTimeout, plainSetup, type ShortcodeRow } from './shortcode-store.ts'
import { namedSession } from './store.ts'

/** Time during which a repeated request gets the same reply. */
const repeatMs = 24 * hourMs

type Asked = Static<typeof Initiate>

export interface Prepared {
  readonly phone: string
  readonly code: ShortcodeRow | null
  readonly setup: Setup
}

/** Validates a push before the transaction. */
export async function preparePush(app: App, body: Asked, { tenant }: Caller): Promise<Prepared> {
  const phone = body.phone ?? body.phone_number
  if (phone === undefined) throw invalid('phone', 'is required: the number of the subscriber')
  await checkCallback(app, tenant, body.callback_url)
  const row = await registered(app, tenant.environment, body.shortcode)
  const code = row?.code === body.shortcode ? row : null
  if (code ? code.account_id !== tenant.account : tenant.environment === 'live')
    throw new AppError('SHORTCODE_NOT_ALLOWED', `${body.shortcode} is not yours`)
  const own = { is_notice: body.end_session ?? false, ...urlOf(body) }
  return { phone, code, setup: code ? await setupNow(app, tenant, code, own) : { ...plainSetup, ...own } }
}

export async function push(
  app: App,
  tx: Tx,
  body: Asked,
  caller: Caller,
  { phone, code, setup }: Prepared,
): Promise<Static<typeof Sent>> {
  const { tenant } = caller
  const hash = hashOf(body, phone)
  const before = body.session_id === undefined ? null : await namedSession(app, tx, tenant, body.session_id)
  if (before) return repeated(before, hash, caller.nowMs)
  const { currency } = caller.principal.facts
  const cost = sessionPrice(app, caller, currency, phone)
  if (cost === null) throw unpriced(currency)
  const gateway = await gatewaysOf(app).towards(tenant.environment, phone)
  if (!gateway)
    throw new AppError('PROVIDER_UNAVAILABLE', 'no USSD gateway for pushed screens is connected', {
      retryAfterSeconds: 5,
    })
  await replaceLive(app, caller, phone, body.shortcode, tx)
  const { verdict, session } = await beginIn(app, tx, caller, {
    ...{ sessionId: body.session_id ?? null, direction: 'push', phone, shortcode: body.shortcode },
    ...{
      gateway: gateway.name,
      dialog: newDialog(phone, gateway.profile),
      network: null,
      language: code?.language_default ?? null,
    },
    ...{ input: null, mark: null, screen: body.message, timeout: body.timeout ?? code?.timeout ?? defaultTimeout },
    setup,
    data: body.data ?? {},
    metadata: body.metadata === undefined ? null : JSON.stringify(body.metadata),
    ...{ cost, currency },
    resumedFrom: null,
    requestHash: hash,
    isAlone: false,
    isNew: false,
    isShownAtOnce: false,
  })
  if (verdict === 'duplicate') throw new AppError('DUPLICATE_SESSION')
  if (verdict === 'insufficient')
    throw new AppError('INSUFFICIENT_BALANCE', 'a session costs more than the balance of the wallet')
  tx.afterCommit(() => {
    showTo(app, session).catch((error) =>
      app.log.warn(
        { error },
        'pushed USSD screen not sent: the session ends as failed; check the gateway’s connection',
      ),
    )
  })
  return sentOf(session)
}

/** URL of the session's application, called in event form. */
function urlOf({ callback_url: url }: Asked) {
  return url === undefined ? {} : { url, fallback_url: null, mode: 'webhook' as const }
}

function repeated(before: Session, hash: string, nowMs: number): Static<typeof Sent> {
  const isSame = before.request_hash === hash && nowMs - before.created_at.getTime() < repeatMs
  if (!isSame) throw new AppError('DUPLICATE_SESSION', `${before.session_id} was used before`)
  return sentOf(before)
}

/** Reply to a push. */
function sentOf(session: Session): Static<typeof Sent> {
  const { created_at: at, timeout } = session
  return {
    status: 'initiated',
    message_id: idOf('ussdMessage', session.first_message),
    session_id: session.session_id,
    phone: session.phone,
    cost: session.cost,
    timestamp: at,
    currency: session.currency,
    shortcode: session.shortcode,
    expires_at: new Date(at.getTime() + timeout * 1_000),
  }
}

function hashOf({ phone: _, phone_number: __, ...body }: Asked, phone: string): string {
  const fields = Object.entries({ ...body, phone }).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex')
}
