// SPDX-License-Identifier: Apache-2.0
// Every operation of the API is reached by a page of the console, or stands here with the reason why not.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sourceFiles } from './sources.ts'

/** Operations that are another one again. */
const again = 'the same as another operation, at an older address or by another method'
/** Share of the operations that change something which pages reach, at least. */
const leastReached = 0.95

/** Why an operation has no page -> the operations, by the names of their functions. */
const without: Readonly<Record<string, readonly string[]>> = {
  'programs keep their own records in step by it': ['customersUpsert'],
  'programs sign in by it; people have a session': ['authWhoami', 'authToken'],
  [again]: [
    ...['smsCancelByPost', 'messengerSendAtMessengerSend', 'messengerGetAtMessengerMessages', 'messengerTemplate'],
    ...['emailCreateSmtpCredentialAtSmtpCredentials', 'emailListSmtpCredentialsAtSmtpCredentials'],
    ...['emailDeleteSmtpCredentialAtSmtpCredentials', 'voiceGetCallAtVoiceCall', 'voiceHangupAtVoiceCallHangup'],
    ...['ussdEndAtUssdEnd', 'paymentsCreateAtPaymentsCharge', 'payoutsCreateAtPaymentsPayout'],
    ...['payoutsGetAtPaymentsPayout', 'webhooksRedeliverAtWebhooksDeliveriesRetry', 'paymentsGetMobile'],
    ...['sandboxAdvanceClockAtSandboxTimeAdvance'],
  ],
  'a page shows the same from another operation': [
    ...['limitsGet', 'refundsListOfPayment', 'voiceListEvents', 'billingListCustomers', 'sandboxClock'],
    'callcenterGetReportSchedule',
    ...['operatorGetApiKey', 'operatorGetSmsRoute', 'operatorGetPrice'],
  ],
  'a program answers by it while a person waits': [
    ...['ussdSend', 'ussdContinue', 'ussdEnd', 'ussdCallback', 'voiceRedirect'],
  ],
  'people import a file; programs send rows': ['operatorImportPrices'],
  'keys for a program that plays the provider': ['sandboxMessengerProvider', 'sandboxPaymentProviders'],
  'a stream, for the command line': ['webhooksListen'],
  'it takes the number of a card, or pictures in the request itself: hosted pages and checks do it': [
    ...['paymentsCreate', 'identityScanDocument', 'identityMatchFaces', 'identityCheckLiveness'],
  ],
}

test('every operation is reached by a page of the console, or says why not', (t) => {
  const text = [...sourceFiles(['console/src'], '.tsx'), ...sourceFiles(['console/src'])]
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const used = new Set(text.match(/\b[a-z]\w+\b/g))
  const made = [
    ...readFileSync('sdk/typescript/src/operations.ts', 'utf8').matchAll(/^export const (\w+) = .*?\('([A-Z]+)', '/gm),
  ]
  const excused = new Set(Object.values(without).flat())
  const reached = made.filter(([, name = '']) => used.has(name))
  const writes = made.filter(([, , method]) => method !== 'GET')
  const reachedWrites = reached.filter(([, , method]) => method !== 'GET')
  t.diagnostic(
    `${reached.length} of ${made.length} operations, ${reachedWrites.length} of ${writes.length} that change something`,
  )
  const own = writes.filter(([, name = '']) => !without[again]?.includes(name))
  assert.ok(reachedWrites.length >= leastReached * own.length, `${reachedWrites.length} of ${own.length}`)
  const missing = made.map(([, name = '']) => name).filter((name) => !used.has(name) && !excused.has(name))
  assert.deepEqual(missing, [])
  const names = new Set(made.map(([, name = '']) => name))
  for (const name of excused) {
    assert.ok(names.has(name), `${name} is no operation`)
    assert.ok(!used.has(name), `${name} is reached by a page`)
  }
})

/** Object of a source that a place in it belongs to, with the one that it is spread into. */
function objectAt(text: string, at: number): string {
  const edge = (from: number, step: 1 | -1, [opening, closing]: readonly [string, string]): number => {
    for (let [i, depth] = [from, 0]; i >= 0 && i < text.length; i += step) {
      if (text[i] === closing) depth--
      else if (text[i] === opening && ++depth === 1) return i
    }
    return from
  }
  const [begins, ends] = [edge(at, -1, ['{', '}']), edge(at, 1, ['}', '{'])]
  return text.slice(begins - 3, begins) === '...' ? objectAt(text, begins - 1) : text.slice(begins, ends)
}

test('what is dangerous asks first, with a question or a form', () => {
  const dangers = [...sourceFiles(['console/src/areas'], '.tsx'), ...sourceFiles(['console/src/areas'])].flatMap(
    (file) => {
      const text = readFileSync(file, 'utf8')
      return [...text.matchAll(/isDanger: true/g)].map(({ index }) => ({ file, body: objectAt(text, index) }))
    },
  )
  assert.ok(dangers.length > 40, `${dangers.length} dangerous things`)
  // A question says itself how it is answered.
  const silent = dangers.filter(({ body }) => !/\b(asks|form|action)\b/.test(body))
  assert.deepEqual(silent, [])
})
