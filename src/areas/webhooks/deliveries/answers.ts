// SPDX-License-Identifier: Apache-2.0
// Answers of receivers. Some events let a receiver ask for something in its answer; it is done before
// the delivery counts as over, so that a node which dies in between leaves both to the next attempt.
import type { App } from '../../../platform/app.ts'
import type { Area, TakeAnswer } from '../../../platform/area.ts'
import type { Trace } from '../../../platform/telemetry/tracing.ts'
import { type Attempt, type Delivery, judge, send } from './delivery.ts'
import { loadTargets, type Target } from './targets.ts'

const maxAnswerBytes = 64 * 1024

export type Answers = ReadonlyMap<string, TakeAnswer>

export function answersOf(areas: readonly Pick<Area, 'answers'>[]): Answers {
  return new Map(areas.flatMap(({ answers = {} }) => Object.entries(answers)))
}

/** Makes the request of one attempt, and has done what its answer asks for. */
export async function sendAndHear(
  app: App,
  answers: Answers,
  target: Target,
  delivery: Delivery,
  trace: Trace | null,
): Promise<Attempt> {
  const take = answers.get(delivery.told.name)
  const attempt = await (take ? heard(app, take, target, delivery, trace) : send(app, target, delivery, trace))
  if (judge(attempt).error !== 'GONE') return attempt
  return { ...attempt, hasMoved: await hasMoved(app, delivery, attempt) }
}

/** Whether the endpoint was given another URL while it was asked at one that is gone. */
async function hasMoved(app: App, { tenant, endpoint }: Delivery, { sentTo }: Attempt): Promise<boolean> {
  if (endpoint === null) return false
  const target = (await loadTargets(app, [{ tenant, endpoint }])).get(endpoint)
  return target !== undefined && target.url !== sentTo
}

async function heard(
  app: App,
  take: TakeAnswer,
  target: Target,
  delivery: Delivery,
  trace: Trace | null,
): Promise<Attempt> {
  const attempt = await send(app, target, delivery, trace, maxAnswerBytes)
  const { outcome } = attempt
  if (outcome.kind !== 'answered' || judge(attempt).kind !== 'delivered') return attempt
  const { tenant, clockOffsetMs, resource } = delivery
  const { status, body, truncated } = outcome
  const remark = await take(app, { tenant, clockOffsetMs, resource, status, body, isWhole: !truncated })
  return { ...attempt, remark }
}
