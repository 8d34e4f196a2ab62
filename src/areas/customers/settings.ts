// SPDX-License-Identifier: Apache-2.0
// Settings of customers for the installation.
import { choice } from '../../config/setting.ts'

export const customerSettings = {
  PAMOJA_CUSTOMERS_CREATE: choice(
    ['inbound', 'always', 'never'],
    'Automatic creation of customers from unknown phone numbers and addresses: inbound (on a message, call, session or payment from them), always (on outbound ones too) or never.',
  ),
} as const
