// SPDX-License-Identifier: Apache-2.0
// Fields that the events of payments, payouts and fraud reviews share, and constants of their samples.
import { Type } from 'typebox'
import { Amount, At, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { actions } from '../fraud/decide.ts'
import { levels } from '../fraud/score.ts'

export const method = OneOf(['mobile_money', 'card', 'bank_transfer'], { description: 'How the money moves' })
export const amount = (description: string) => Amount({ description })
export const currency = Type.String({ description: 'ISO 4217, such as KES; of all amounts here' })
export const word = (description: string) => Nullable(Type.String({ description }))
export const moment = (description: string) => Nullable(At({ description }))

export const risk = {
  risk_score: Type.Integer({ minimum: 0, maximum: 100, description: '0 for none to 100' }),
  risk_level: OneOf(levels, { description: 'The score in a word' }),
  flags: Type.Array(Type.String(), { description: 'What raised it' }),
}

export const decision = OneOf(actions, { description: 'What became of it by that' })

export const shownRisk = Nullable(
  Type.Object({
    ...risk,
    decision: Type.Optional(decision),
    rule_id: Type.Optional(Nullable(Type.String(), { description: 'The rule that decided it' })),
    risk_check_id: Type.Optional(Type.String({ description: 'The check, such as `rsk_…`, that tells more' })),
  }),
  { description: 'How risky it looked; null where it was not judged' },
)

/** Moment of the samples. */
export const now = new Date('2026-03-01T09:15:30Z')
export const third = { livemode: false, sequence: 3 }
