// SPDX-License-Identifier: Apache-2.0
// Doors: APIs of other providers below /compat. A new one is one line here.
import { africastalking } from './doors/africastalking/door.ts'
import { cloud } from './doors/cloud/door.ts'
import { kannel } from './doors/kannel/door.ts'
import { resend } from './doors/resend/door.ts'
import { sendgrid } from './doors/sendgrid/door.ts'
import { twilio } from './doors/twilio/door.ts'
import type { Door } from './platform/api/door.ts'

export const doors: readonly Door[] = [africastalking, twilio, cloud, kannel, sendgrid, resend]
