// SPDX-License-Identifier: Apache-2.0
// Twilio: messages, calls with TwiML, recordings, Verify and Lookup. One base address serves all three hosts of its client.
import type { Door } from '../../platform/api/door.ts'
import { dialect } from './callbacks.ts'
import { changeCall, createCall, getAccount, getBalance, getCall, getRecording, listCalls } from './calls.ts'
import { apiVersion, refused } from './forms.ts'
import { changeMessage, createMessage, deleteMessage, getMessage, listMessages } from './messages.ts'
import { checkVerification, lookup, startVerification } from './verify.ts'

const maxBytes = 256 * 1024
const account = `/${apiVersion}/Accounts/:account`

export const twilio: Door = {
  name: 'twilio',
  title: 'Twilio',
  maxBytes,
  secretOf({ headers }) {
    const [, basic] = /^Basic +(\S+)$/i.exec(headers.authorization ?? '') ?? []
    const pair = basic === undefined ? '' : Buffer.from(basic, 'base64').toString()
    return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : null
  },
  routes: [
    { method: 'POST', path: `${account}/Messages.json`, handle: createMessage },
    { method: 'GET', path: `${account}/Messages.json`, handle: listMessages },
    { method: 'GET', path: `${account}/Messages/:sid.json`, handle: getMessage },
    { method: 'POST', path: `${account}/Messages/:sid.json`, handle: changeMessage },
    { method: 'DELETE', path: `${account}/Messages/:sid.json`, handle: deleteMessage },
    { method: 'POST', path: `${account}/Calls.json`, handle: createCall },
    { method: 'GET', path: `${account}/Calls.json`, handle: listCalls },
    { method: 'GET', path: `${account}/Calls/:sid.json`, handle: getCall },
    { method: 'POST', path: `${account}/Calls/:sid.json`, handle: changeCall },
    { method: 'GET', path: `${account}/Recordings/:file`, handle: getRecording },
    { method: 'GET', path: `${account}/Balance.json`, handle: getBalance },
    { method: 'GET', path: `/${apiVersion}/Accounts/:account.json`, handle: getAccount },
    { method: 'POST', path: '/v2/Services/:service/Verifications', handle: startVerification },
    { method: 'POST', path: '/v2/Services/:service/VerificationCheck', handle: checkVerification },
    { method: 'GET', path: '/v2/PhoneNumbers/:number', handle: lookup },
  ],
  refused,
  dialect,
}
