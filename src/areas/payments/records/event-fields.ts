// SPDX-License-Identifier: Apache-2.0
// Fields that the events of payments, payouts and fraud reviews share, and constants of their samples.
import { Type } from 'typebox'
import { Amount, At, Nullable, OneOf } from '../../../platform/schema/fields.ts'

export const method = OneOf(['mobile_money', 'card', 'bank_transfer'])
export const amount = Amount()
export const currency = Type.String()
export const word = Nullable(Type.String())
export const moment = Nullable(At())

export const risk = {
  risk_score: Type.Integer({ minimum: 0, maximum: 100 }),
  risk_level: OneOf(['low', 'medium', 'high', 'very_high']),
  flags: Type.Array(Type.String()),
}

export const decision = OneOf(['allow', 'review', 'require_3ds', 'block'])

export const shownRisk = Nullable(
  Type.Object({
    ...risk,
    decision: Type.Optional(decision),
    rule_id: Type.Optional(Nullable(Type.String(), { description: 'The rule that decided it' })),
    risk_check_id: Type.Optional(Type.String()),
  }),
)

/** Moment of the samples. */
export const now = new Date('2026-03-01T09:15:30Z')
export const third = { livemode: false, sequence: 3 }
