// SPDX-License-Identifier: Apache-2.0
// State of one run of the job that submits a message: how often the message was offered to carriers, and whether it may be out
// already. A run that ends without an outcome leaves it to the next in the job's payload. Messages that must not go out twice
// are marked in the database as under way before they are, so that it is known if this node dies.
import type { App } from '../../../platform/app.ts'
import { operation } from '../../../platform/commit.ts'
import { tenantColumns, tenantOf } from '../../../platform/tenant.ts'
import type { Outcome } from '../../../platform/work.ts'
import type { StoredMessage } from './load.ts'
import type { SubmitRun } from './queue.ts'

const maxOffers = 32_767
/** Limit of unanswered offers: a carrier that takes a message without an answer may deliver it all the same. */
const maxUnanswered = 5

export interface SubmitState {
  readonly run: SubmitRun
  /** The run's attempt when it began: a greater one later is that of a lease which was lost. */
  readonly began: number
  isUnsent: boolean
  /** Number of offers to carriers. */
  offers: number
  unanswered: number
  /** Whether the message is marked as under way by this run. */
  isMarked: boolean
}

export function submitStateOf(run: SubmitRun): SubmitState {
  const { attempt, payload } = run
  return {
    run,
    began: attempt,
    // A run without an outcome, because its node died or could not store what it knew, may have sent the message.
    isUnsent: attempt === 1 || payload.unsent === attempt - 1,
    offers: payload.offers ?? 0,
    unanswered: payload.unanswered ?? 0,
    isMarked: false,
  }
}

/** Number of offers as it is stored. */
export function offersOf({ offers }: SubmitState): number {
  return Math.min(offers, maxOffers)
}

/** Notes that a carrier did not answer: the message may be out, or not. False: that happened often enough. */
export function noteUnanswered(state: SubmitState): boolean {
  state.isUnsent = false
  return ++state.unanswered < maxUnanswered
}

/** Outcome of a run that did not send the message, as far as is known: it waits, and the next run knows as much. */
export function tryLater(
  state: SubmitState,
  place: string | null,
  afterMs: number,
  tried: readonly string[] = [],
): Outcome {
  const { attempt, payload } = state.run
  const { tried: _tried, unsent: _unsent, ...rest } = payload
  // After a lost lease another node may have had the message.
  const isUnsent = state.isUnsent && attempt === state.began
  return {
    kind: 'move',
    place,
    payload: {
      ...rest,
      ...(tried.length > 0 && { tried }),
      ...(state.offers > 0 && { offers: state.offers }),
      ...(state.unanswered > 0 && { unanswered: state.unanswered }),
      ...(isUnsent && { unsent: attempt }),
    },
    afterMs,
  }
}

/** A carrier: it is about to be asked. Null: it did not take the message. */
const markUnderWay = operation.tenant(
  'sms.mark',
  {
    ...tenantColumns,
    id: 'uuid',
    job: 'uuid',
    attempt: 'int',
    carrier: 'text',
  },
  { marked: 'boolean' },
)

/** Marks the message as under way with a carrier. False: another node has the message. */
export async function mark(app: App, state: SubmitState, message: StoredMessage, carrier: string): Promise<boolean> {
  const { marked } = await app.commit(markUnderWay, itemOf(state, message, carrier))
  state.isMarked = marked === true
  return state.isMarked
}

/** Takes the mark back: the message did not go out. Retried, so that an outage does not leave it marked as under way. */
export async function unmark(app: App, state: SubmitState, message: StoredMessage): Promise<void> {
  if (state.isMarked) await app.commitSurely(markUnderWay, itemOf(state, message, null))
  state.isMarked = false
}

function itemOf({ run: { id: job, attempt } }: SubmitState, message: StoredMessage, carrier: string | null) {
  return { ...tenantOf(message), id: message.id, job, attempt, carrier }
}
