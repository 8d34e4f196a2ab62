// SPDX-License-Identifier: Apache-2.0
// Settings of payments, for the whole installation.
import { choice, integer } from '../../config/setting.ts'

export const paymentSettings = {
  PAMOJA_CARD_SETTLEMENT_DAYS: integer(
    7,
    0,
    60,
    'Days after which the acquirer pays out live card payments; until then they are pending in the wallet.',
  ),
  PAMOJA_TOPUP_HOLD_DAYS: integer(
    7,
    0,
    60,
    'Days for which money that an account topped up can be used but not paid out; test money can at once.',
  ),
  PAMOJA_REFUND_FEES: choice(
    ['kept', 'proportional'],
    'What becomes of the fee of a payment that is refunded: proportional gives its part back to the wallet.',
  ),
} as const
