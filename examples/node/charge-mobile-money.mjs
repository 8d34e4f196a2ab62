// SPDX-License-Identifier: Apache-2.0
// Asks a phone for money and waits for the signed callback that says how it went.
//   node examples/node/charge-mobile-money.mjs +254700000001 1500
import { call, listenForCallbacks } from './pamoja.mjs'

const [phone = '+254700000001', amount = '1500'] = process.argv.slice(2)
const callbacks = await listenForCallbacks()

const payment = await call('POST', '/v1/payments', {
  amount: Number(amount),
  currency: 'KES',
  phone,
  description: 'Order 77',
  metadata: { order: '77' },
  callback_url: callbacks.url,
})
console.log(`${payment.payment_id} is ${payment.status}: the payer is asked by ${payment.provider}`)

const ends = ['payment.completed', 'payment.failed']
const told = await callbacks.until(({ event, payment_id }) => payment_id === payment.payment_id && ends.includes(event))

if (told.event === 'payment.completed') {
  const { net_amount, currency, provider_reference } = await call('GET', `/v1/payments/${payment.payment_id}`)
  console.log(`Paid: ${currency} ${net_amount} after fees is in the wallet, receipt ${provider_reference}.`)
} else console.log(`Not paid: ${told.failure_reason}.`)
