// SPDX-License-Identifier: Apache-2.0
// Every area of the product, in the order of the reference. A new area is one line here.
import { accounts } from './areas/accounts/area.ts'
import { billing } from './areas/billing/area.ts'
import { callcenter } from './areas/callcenter/area.ts'
import { consoleArea } from './areas/console/area.ts'
import { customers } from './areas/customers/area.ts'
import { email } from './areas/email/area.ts'
import { events } from './areas/events/area.ts'
import { identity } from './areas/identity/area.ts'
import { messenger } from './areas/messenger/area.ts'
import { numbers } from './areas/numbers/area.ts'
import { operator } from './areas/operator/area.ts'
import { payments } from './areas/payments/area.ts'
import { sandbox } from './areas/sandbox/area.ts'
import { sms } from './areas/sms/area.ts'
import { ussd } from './areas/ussd/area.ts'
import { voice } from './areas/voice/area.ts'
import { wallet } from './areas/wallet/area.ts'
import { webhooks } from './areas/webhooks/area.ts'
import type { Area } from './platform/area.ts'

export const areas: readonly Area[] = [
  accounts,
  numbers,
  sms,
  messenger,
  email,
  voice,
  callcenter,
  ussd,
  identity,
  payments,
  wallet,
  billing,
  customers,
  webhooks,
  events,
  sandbox,
  operator,
  consoleArea,
]
