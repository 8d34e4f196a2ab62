// SPDX-License-Identifier: Apache-2.0
// Fields that the events of payments, payouts and fraud reviews share, and constants of their samples.
import { Type } from 'typebox'
import { Amount, At, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { actions } from '../fraud/decide.ts'
import { levels } from '../fraud/score.ts'

export const method = OneOf(['mobile_money', 'card', 'bank_transfer'], { description: 'Payment method' })
export const amount = (description: string) => Amount({ description })
export const currency = Type.String({ description: 'Currency of all amounts, ISO 4217, such as KES' })
export const word = (description: string) => Nullable(Type.String({ description }))
export const moment = (description: string) => Nullable(At({ description }))

export const risk = {
  risk_score: Type.Integer({ minimum: 0, maximum: 100, description: 'Risk score from 0 (none) to 100' }),
  risk_level: OneOf(levels, { description: 'Risk level derived from the score' }),
  flags: Type.Array(Type.String(), { description: 'Reasons that raised the score' }),
}

export const decision = OneOf(actions, { description: 'Decision based on the score' })

export const shownRisk = Nullable(
  Type.Object({
    ...risk,
    decision: Type.Optional(decision),
    rule_id: Type.Optional(Nullable(Type.String(), { description: 'Id of the deciding rule' })),
    risk_check_id: Type.Optional(Type.String({ description: 'Id of the check with the details, such as `rsk_…`' })),
  }),
  { description: 'Risk assessment; null if there was none' },
)

/** Moment of the samples. */
export const now = new Date('2026-03-01T09:15:30Z')
export const third = { livemode: false, sequence: 3 }
