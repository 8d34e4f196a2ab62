// SPDX-License-Identifier: Apache-2.0
// Collects mobile money, waits until the payer has decided, and calls to say thank you.
//   node collect-and-call.mjs +254700000001 200
import { flow, Pamoja, PamojaError } from '@pamoja/sdk'

const pamoja = new Pamoja()
const [phone = '+254700000001', amount = '200'] = process.argv.slice(2)

try {
  const { payment_id } = await pamoja.payments.create({ amount: Number(amount), currency: 'KES', phone })
  const { status, failure_reason } = await pamoja.payments.wait(payment_id)
  if (status === 'completed') {
    const { actions } = flow().talk('Asante sana. We got your payment.', { language: 'en-KE' }).hangup()
    const call = await pamoja.voice.createCall({ to: '+254711000020', from: '+254700000000', actions })
    console.log(`Paid, and ${call.call_id.slice(0, 5)} says thank you`)
  } else console.log(`Not paid: ${failure_reason}`)
} catch (error) {
  if (!(error instanceof PamojaError)) throw error
  console.log(`Refused: ${error.code}`)
}
