// SPDX-License-Identifier: Apache-2.0
// Sends a text and waits for the signed callback that says what became of it.
//   node examples/node/send-a-text.mjs +254711000001
import { call, listenForCallbacks } from './pamoja.mjs'

const to = process.argv[2] ?? '+254711000001'
const callbacks = await listenForCallbacks()
console.log(`Listening at ${callbacks.url}`)

const text = await call('POST', '/v1/sms/send', {
  to,
  from: 'PAMOJA',
  message: 'Habari! Your order is on its way.',
  callback_url: callbacks.url,
})
console.log(`${text.message_id} to ${text.to} costs ${text.currency} ${text.cost}`)

const isOver = ({ message_id, status }) => message_id === text.message_id && status !== 'queued' && status !== 'sent'
const { status, error_code } = await callbacks.until(isOver)
console.log(status === 'delivered' ? 'It is delivered.' : `It has ${status}: ${error_code}.`)
