// SPDX-License-Identifier: Apache-2.0
// Settings of customers for the installation.
import { choice } from '../../config/setting.ts'

export const customerSettings = {
  PAMOJA_CUSTOMERS_CREATE: choice(
    ['inbound', 'always', 'never'],
    'When an unknown phone number or address becomes a customer by itself: inbound when it writes, calls, dials or pays; always also when it is written to or called; never only by request.',
  ),
} as const
