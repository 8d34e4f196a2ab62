// SPDX-License-Identifier: Apache-2.0
// Fallback from SMS: a text that failed, or was not delivered in time, goes on as a message if its sender asked for
// that. It is charged as usual; the text is refunded where it was not sent.
import { AppError } from '../../kernel/errors.ts'
import { idOf, newIdAndUuid, twinOf } from '../../kernel/ids.ts'
import { AnsweredBefore, keyed } from '../../platform/api/idempotency.ts'
import type { App } from '../../platform/app.ts'
import { occasionNow } from '../../platform/events.ts'
import { bodyChecker } from '../../platform/http/validate.ts'
import type { Job } from '../../platform/work.ts'
import { fallbackOf, finishFallback, smsFallback } from '../sms/area.ts'
import { MessageSend } from './schema.ts'
import { send } from './send.ts'

export const fromSmsJob: Job<App, typeof smsFallback.payload> = {
  ...smsFallback,
  role: 'dispatch',
  concurrency: 16,
  retrySeconds: [1, 5, 30, 120, 600],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a text belongs to an account')
    const found = await fallbackOf(app, tenant, payload.message, payload.isDue === true)
    if (found === null || found === 'later') {
      await finishFallback(app, tenant, payload.message, null)
      return { kind: 'done' }
    }
    const { text, template } = found.content
    const occasion = occasionNow(app.clock, tenant, found.clock_offset_ms, found.request_id)
    // Deterministic id and key, so that a repeated run sends no second message.
    const id = twinOf(payload.message)
    const key = `sms fallback ${payload.message}`
    const sender = {
      ...occasion,
      requestId: found.request_id ?? newIdAndUuid('request', occasion.receivedMs).id,
      actor: 'system',
      ip: '',
      currency: found.currency,
      id,
    }
    try {
      const { value } = checked({
        to: found.recipient,
        type: template ? 'template' : 'text',
        ...(template ? { template } : { text }),
      })
      await send(
        app,
        value,
        sender,
        keyed({ ...tenant, key, hash: key }, 200, () => ''),
      )
    } catch (error) {
      if (!(error instanceof AppError || error instanceof AnsweredBefore)) throw error
      if (error instanceof AppError) {
        app.log.info(
          { sms: payload.message, code: error.code },
          'fallback from SMS to messenger refused: 5xx codes are retried; otherwise check the account’s channel and wallet',
        )
        if (error.status >= 500) return { kind: 'retry', reason: error.message }
        await finishFallback(app, tenant, payload.message, null)
        return { kind: 'done' }
      }
    }
    await finishFallback(app, tenant, payload.message, idOf('messengerMessage', id))
    return { kind: 'done' }
  },
}

const checked = bodyChecker(MessageSend)
