// SPDX-License-Identifier: Apache-2.0
// SMS fallback: a message that failed, or was not delivered in time, goes on by SMS if its sender asked for that. Its
// own price is refunded unless it was sent; the text is charged as usual.
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, twinOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { statement } from '../../platform/db.ts'
import { occasionNow } from '../../platform/events.ts'
import { mine, type One } from '../../platform/tenant.ts'
import type { Job } from '../../platform/work.ts'
import { sendForAccount } from '../sms/area.ts'
import { errorsOf } from './carriers/cloud-errors.ts'
import { changeMessage } from './change.ts'
import { channelOf } from './channels.ts'
import { findMessage } from './store.ts'

const noteFallback = statement.tenant<One & { fallbackId: string }, object>(
  'messenger.note_fallback',
  `update messenger.messages set fallback_id = $fallbackId where ${mine} and id = $id`,
)

const FallbackPayload = Type.Object({ message: Type.String() })

export const fallbackJob: Job<App, typeof FallbackPayload> = {
  lane: 'messenger.fallback',
  role: 'dispatch',
  payload: FallbackPayload,
  concurrency: 16,
  retrySeconds: [1, 5, 30, 120, 600],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a message belongs to an account')
    const message = await findMessage(app.db, tenant, payload.message)
    if (!message?.fallback || message.fallback_id !== null) return { kind: 'done' }
    if (message.status === 'delivered' || message.status === 'read') return { kind: 'done' }
    if (message.status === 'accepted') {
      const details = 'it was not sent in time, and went on by SMS'
      const { phoneNumberId } = await channelOf(app, tenant)
      const errors = errorsOf(133004, { code: 0, title: '', details })
      await changeMessage(app, message, { status: 'failed', errors, providerId: null, phoneNumberId, job: null })
    }
    const { from, message: text } = message.fallback
    // Deterministic id and key, so that a repeated run sends no second text.
    const id = twinOf(message.id)
    const occasion = occasionNow(app.clock, tenant, message.clock_offset_ms, message.request_id)
    try {
      const key = `messenger fallback ${message.id}`
      await sendForAccount(
        app,
        { ...occasion, actor: 'system', ip: '' },
        { to: message.recipient, from, message: text, id, key },
      )
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      app.log.info(
        { messenger: message.id, code: error.code },
        'fallback from messenger to SMS refused: 5xx codes are retried; otherwise check the account’s sender and wallet',
      )
      return error.status >= 500 ? { kind: 'retry', reason: error.message } : { kind: 'done' }
    }
    await app.db.query(noteFallback, { ...tenant, id: message.id, fallbackId: idOf('sms', id) })
    return { kind: 'done' }
  },
}
