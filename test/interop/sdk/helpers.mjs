// SPDX-License-Identifier: Apache-2.0
// A test as a user writes it with the testing helpers; settings come from the environment. The same as helpers.py and helpers.php.
import { Pamoja } from '@pamoja/sdk'
import { Sandbox } from '@pamoja/sdk/testing'

const pamoja = new Pamoja()
const sandbox = new Sandbox(pamoja)
const ada = sandbox.phone('+254711000061')
await pamoja.sms.send({ to: ada.number, from: 'PAMOJA', message: 'Habari Ada' })
const { message } = await ada.waitForText(/Ada/)
const { otp_id } = await pamoja.identity.sendOtp({ phone: ada.number })
const { status: verified } = await pamoja.identity.verifyOtp({ otp_id, code: await ada.waitForCode() })
await ada.paysByHand()
const { payment_id } = await pamoja.payments.create({ amount: 100, currency: 'KES', phone: ada.number })
await ada.approve()
const { status: paid } = await pamoja.payments.wait(payment_id)
const before = await sandbox.clock.now()
const ahead = (await sandbox.clock.advance(3600)) - before >= 3_600_000
process.stdout.write(`${JSON.stringify({ message, verified, paid, ahead })}\n`)
