// SPDX-License-Identifier: Apache-2.0
// What receivers say when they take an event. Some events let them ask for something in their answer; it is done before
// the delivery counts as over, so that a node which dies in between leaves both to the next attempt.
import type { App } from '../../../platform/app.ts'
import type { Area, TakeAnswer } from '../../../platform/area.ts'
import type { Outcome } from '../../../platform/outbound/exchange.ts'
import type { Trace } from '../../../platform/tracing.ts'
import { type Delivery, judge, send } from './delivery.ts'
import type { Target } from './targets.ts'

const maxAnswerBytes = 64 * 1024

export type Answers = ReadonlyMap<string, TakeAnswer>

export function answersOf(areas: readonly Pick<Area, 'answers'>[]): Answers {
  return new Map(areas.flatMap(({ answers = {} }) => Object.entries(answers)))
}

/** Makes the request of one attempt, and has done what its answer asks for. */
export function sendAndHear(
  app: App,
  answers: Answers,
  target: Target,
  delivery: Delivery,
  trace: Trace | null,
): Promise<Outcome> {
  const take = answers.get(delivery.told.name)
  return take ? heard(app, take, target, delivery, trace) : send(app, target, delivery, trace)
}

async function heard(
  app: App,
  take: TakeAnswer,
  target: Target,
  delivery: Delivery,
  trace: Trace | null,
): Promise<Outcome> {
  const outcome = await send(app, target, delivery, trace, maxAnswerBytes)
  if (outcome.kind === 'answered' && judge(outcome).kind === 'delivered') {
    const { tenant, clockOffsetMs, resource } = delivery
    const { status, body, truncated } = outcome
    delivery.remark = await take(app, { tenant, clockOffsetMs, resource, status, body, isWhole: !truncated })
  }
  return outcome
}
