// SPDX-License-Identifier: Apache-2.0
// Outcome of a message that was offered to a carrier: sent, failed, or to be offered again.
import type { App } from '../../../platform/app.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import type { Outcome } from '../../../platform/work.ts'
import type { Route, SubmitOutcome } from '../carrier.ts'
import { goOn } from '../fallback/fallback.ts'
import { whileStoring } from './handover.ts'
import type { StoredMessage } from './load.ts'
import { applyEarly, endUndelivered } from './receipts.ts'
import { changeOf, storeFailed, storeSent, tell, transferId } from './status.ts'
import { noteUnanswered, offersOf, type SubmitState, tryLater } from './submit-state.ts'

/** Applies a carrier's answer; null: the next carrier may be asked. */
export async function settle(
  app: App,
  state: SubmitState,
  message: StoredMessage,
  { onUnknown }: Route,
  carrier: string,
  outcome: SubmitOutcome,
): Promise<Outcome | null> {
  const { log } = app
  switch (outcome.kind) {
    case 'sent':
      return sent(app, state, message, carrier, outcome.carrierIds)
    case 'rejected':
      return fail(app, state, message, outcome.code, { carrier, carrierCode: outcome.carrierCode })
    case 'retry':
      return tryLater(state, state.run.place, outcome.afterMs)
    case 'unknown': {
      const mayGoOn = noteUnanswered(state) && onUnknown === 'maybe_twice'
      log.warn(
        { carrier, sms: message.id, reason: outcome.reason },
        'carrier did not answer: the route’s on_unknown says whether another bind is asked; check the carrier if this repeats',
      )
      void outcome.late
        ?.then((carrierIds) => sent(app, state, message, carrier, carrierIds))
        .catch((error) =>
          log.warn(
            { error, carrier, sms: message.id },
            'late answer of a carrier not stored: the message waits for its receipt; check the database',
          ),
        )
      return mayGoOn ? null : fail(app, state, message, 'CARRIER_ERROR', { carrier, carrierCode: 'NO_ANSWER' })
    }
    case 'withheld':
      return { kind: 'settled' }
    case 'reroute':
      return null
  }
}

async function sent(
  app: App,
  state: SubmitState,
  message: StoredMessage,
  carrier: string,
  carrierIds: readonly string[],
): Promise<Outcome> {
  const change = changeOf(app, message, 'sent', null)
  const verdict = await whileStoring(app, message, carrier, carrierIds, () =>
    app.commitSurely(storeSent, {
      ...tenantOf(message),
      id: message.id,
      job: state.run.id,
      carrier,
      carrier_ids: JSON.stringify(carrierIds),
      attempts: offersOf(state),
      at: change.at,
      ...change.columns,
    }),
  )
  tell(app, change, verdict)
  if (verdict.early !== null) await applyEarly(app, carrier, JSON.parse(verdict.early))
  return { kind: 'settled' }
}

/** Codes of a carrier that did not take a message. */
interface CarrierWord {
  readonly carrier: string | null
  readonly carrierCode: string | null
}

/** Ends a message that no carrier takes, or that must not go out any more. */
export async function fail(
  app: App,
  state: SubmitState,
  message: StoredMessage,
  errorCode: string,
  { carrier, carrierCode }: CarrierWord = { carrier: null, carrierCode: null },
): Promise<Outcome> {
  const { run } = state
  // Sent once and not delivered: that stays the outcome.
  if (run.payload.undelivered) {
    await endUndelivered(app, message, run.payload.undelivered)
    return { kind: 'done' }
  }
  const change = changeOf(app, message, 'failed', errorCode)
  const verdict = await app.commitSurely(storeFailed, {
    ...tenantOf(message),
    id: message.id,
    job: run.id,
    attempt: run.attempt,
    error_code: errorCode,
    carrier_code: carrierCode,
    carrier,
    attempts: offersOf(state),
    at: change.at,
    transfer: transferId(app),
    ...change.columns,
  })
  tell(app, change, verdict)
  if (verdict.changed) await goOn(app, tenantOf(message), message.id)
  return { kind: 'settled' }
}
