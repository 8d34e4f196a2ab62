// SPDX-License-Identifier: Apache-2.0
// Vectors after the provider's own documentation: what is sent when money goes out, and what the answers and results mean.
import assert from 'node:assert/strict'
import { generateKeyPairSync, publicEncrypt } from 'node:crypto'
import { test } from 'node:test'
import {
  b2cBody,
  type OutgoingAnswer,
  outgoingResultBody,
  readOutgoingAnswer,
  readOutgoingResult,
  readSecurityCredential,
  securityCredential,
  statusQueryBody,
} from './daraja-outgoing.ts'

const common = {
  id: '019a85a2-5f3c-7b9a-8a33-0f6b2f1c9d4e',
  initiator: { name: 'apiop', credential: 'c2VjcmV0' },
  shortcode: '600000',
  resultUrl: 'https://api.example/hooks/p/1',
  timeoutUrl: 'https://api.example/hooks/p/2',
}

test('a payout and a question are written as the provider spells them', () => {
  assert.deepEqual(b2cBody({ ...common, amount: '2000', phone: '+254708374149', remarks: 'März: “salary” & more' }), {
    OriginatorConversationID: common.id,
    InitiatorName: 'apiop',
    SecurityCredential: 'c2VjcmV0',
    CommandID: 'BusinessPayment',
    Amount: '2000',
    PartyA: '600000',
    PartyB: '254708374149',
    Remarks: 'Mrz salary  more',
    QueueTimeOutURL: common.timeoutUrl,
    ResultURL: common.resultUrl,
    Occassion: '',
  })
  assert.equal(b2cBody({ ...common, amount: '1', phone: '+254708374149', remarks: 'x' }).Remarks, 'Payout')
  assert.equal(
    b2cBody({ ...common, amount: '1', phone: '+254708374149', remarks: 'a'.repeat(200) }).Remarks.length,
    100,
  )
  assert.deepEqual(statusQueryBody(common), {
    Initiator: 'apiop',
    SecurityCredential: 'c2VjcmV0',
    CommandID: 'TransactionStatusQuery',
    OriginalConversationID: common.id,
    PartyA: '600000',
    IdentifierType: '4',
    ResultURL: common.resultUrl,
    QueueTimeOutURL: common.timeoutUrl,
    Remarks: 'Status',
    Occasion: '',
  })
})

test('only the provider can read a credential, and only one that was made for it', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const other = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const certificate = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  for (const password of ['Safaricom999!*!', 'x', 'ü'.repeat(40)]) {
    const credential = securityCredential(password, certificate)
    assert.equal(readSecurityCredential(credential, privateKey), password)
    assert.notEqual(readSecurityCredential(credential, other.privateKey), password)
    assert.notEqual(securityCredential(password, certificate), credential, 'never the same twice')
  }
  assert.notEqual(
    readSecurityCredential(publicEncrypt(publicKey, Buffer.from('x')).toString('base64'), privateKey),
    'x',
  )
  for (const nonsense of ['', 'x', 'A'.repeat(344)]) assert.equal(readSecurityCredential(nonsense, privateKey), null)
})

test('what is said at once', () => {
  const rows: [status: number, body: unknown, expected: OutgoingAnswer][] = [
    [200, { ConversationID: 'AG_1', ResponseCode: '0' }, { kind: 'accepted', conversationId: 'AG_1' }],
    [200, { ConversationID: 'AG_1', ResponseCode: 0 }, { kind: 'accepted', conversationId: 'AG_1' }],
    [200, { ResponseCode: '0' }, { kind: 'strange' }],
    [200, { ConversationID: 'AG_1', ResponseCode: '2001' }, { kind: 'refused', code: '2001' }],
    [400, { errorCode: '400.002.02' }, { kind: 'refused', code: '400.002.02' }],
    [404, { errorCode: '404.001.03' }, { kind: 'token' }],
    [401, { errorCode: '400.003.01' }, { kind: 'token' }],
    [401, { errorCode: '401.002.01' }, { kind: 'token' }],
    [500, { errorCode: '500.003.02' }, { kind: 'busy' }],
    [429, null, { kind: 'busy' }],
    [502, null, { kind: 'strange' }],
    [200, [], { kind: 'strange' }],
  ]
  for (const [status, body, expected] of rows)
    assert.deepEqual(readOutgoingAnswer(status, body), expected, JSON.stringify(body))
})

test('a result is read by the names of its parameters, whatever their types and their number', () => {
  const Result = { ResultCode: 0, OriginatorConversationID: 'o', ConversationID: 'c', TransactionID: 'NLJ41HAY6Q' }
  const many = [
    { Key: 'TransactionAmount', Value: 10 },
    { Key: 'B2CUtilityAccountAvailableFunds', Value: 10116 },
    { Key: 'Empty' },
  ]
  const read = readOutgoingResult({ Result: { ...Result, ResultParameters: { ResultParameter: many } } })
  assert.deepEqual([read?.resultCode, read?.transactionId], ['0', 'NLJ41HAY6Q'])
  assert.equal(read?.parameters.get('TransactionAmount'), '10')
  const alone = { Result: { ...Result, ResultParameters: { ResultParameter: many[0] } } }
  assert.equal(readOutgoingResult(alone)?.parameters.get('TransactionAmount'), '10')
  const text = readOutgoingResult({ Result: { ...Result, ResultCode: 'SFC_IC0003', TransactionID: '' } })
  assert.deepEqual([text?.resultCode, text?.transactionId], ['SFC_IC0003', null])
  for (const nonsense of [null, 1, [], {}, { Result: 1 }, { Result: { ResultCode: 0 } }])
    assert.equal(readOutgoingResult(nonsense), null)
})

test('a result that is written is read again', () => {
  for (const resultCode of ['0', '2001', 'R000001']) {
    const result = {
      resultCode,
      originatorConversationId: 'o',
      conversationId: 'c',
      transactionId: null,
      parameters: new Map([['Amount', '5']]),
    }
    assert.deepEqual(readOutgoingResult(JSON.parse(JSON.stringify(outgoingResultBody(result, 'x')))), result)
  }
})
