// SPDX-License-Identifier: Apache-2.0
// Settings of payments, for the whole installation.
import { choice, integer } from '../../config/setting.ts'

export const paymentSettings = {
  PAMOJA_CARD_SETTLEMENT_DAYS: integer(
    7,
    0,
    60,
    'Days until the acquirer settles live card payments, which are pending in the wallet until then.',
  ),
  PAMOJA_TOPUP_HOLD_DAYS: integer(7, 0, 60, 'Days for which top-ups in live can be spent but not paid out.'),
  PAMOJA_REFUND_FEES: choice(
    ['kept', 'proportional'],
    'Handling of the fee of refunded payments: kept, or proportional, which returns its share to the wallet.',
  ),
} as const
