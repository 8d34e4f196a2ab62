// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeUcs2 } from './charset.ts'
import { newShortMessage } from './pdu.ts'
import { type DeliveryReceipt, encodeReceipt, isReceipt, messageStates, normaliseId, parseReceipt } from './receipts.ts'

const none: DeliveryReceipt = { id: '', state: 'DELIVRD', error: null, submitDate: null, doneDate: null }

const receipt = (text: string): DeliveryReceipt | null =>
  parseReceipt(newShortMessage({ esmClass: 4, shortMessage: Buffer.from(text, 'latin1') }))

test('the text of a receipt is understood however a centre varies it', () => {
  for (const [text, expected] of [
    [
      'id:0123456789 sub:001 dlvrd:001 submit date:2601051200 done date:2601051201 stat:DELIVRD err:000 text:Habari',
      { ...none, id: '0123456789', submitDate: '2601051200', doneDate: '2601051201' },
    ],
    ['id:7b stat:UNDELIV err:001', { ...none, id: '7b', state: 'UNDELIV', error: '001' }],
    ['ID:7b STAT:expired ERR:27 Text:', { ...none, id: '7b', state: 'EXPIRED', error: '27' }],
    ['id: 7b sub: dlvrd: submit date: done date: stat:DELIVERED err: ', { ...none, id: '7b' }],
    ['id:7b stat:UNDELIVERABLE', { ...none, id: '7b', state: 'UNDELIV' }],
    ['id:c1f0-aa.3 stat:REJECTD err:00', { ...none, id: 'c1f0-aa.3', state: 'REJECTD' }],
    ['id:c1_f0@a$[3] stat:DELIVRD err:000 text:', { ...none, id: 'c1_f0@a$[3]' }],
    [
      'id:7b,sub:001,dlvrd:001,submit date:2601051200,done date:2601051201,stat:DELIVRD,err:000,text:Habari',
      { ...none, id: '7b', submitDate: '2601051200', doneDate: '2601051201' },
    ],
    ['id:7b, sub:001, stat:UNDELIV, err:001, text:', { ...none, id: '7b', state: 'UNDELIV', error: '001' }],
    ['id:7b,sub:,vendor code:9,stat:DELIVRD,err:,text:', { ...none, id: '7b' }],
    ['id:10.0.0.7:2775:7b stat:DELIVRD err:000 text:', { ...none, id: '10.0.0.7:2775:7b' }],
    ['id:7b:01,stat:DELIVRD,err:000', { ...none, id: '7b:01' }],
    ['id:7,8 stat:DELIVRD', { ...none, id: '7,8' }],
    ['id:7b sub:001\r\nstat:DELIVRD', { ...none, id: '7b' }],
  ] as const)
    assert.deepEqual(receipt(text), expected, text)
})

test('what a customer wrote cannot pass for a field of a receipt', () => {
  assert.equal(receipt('id:7b stat:UNDELIV err:001 text:stat:DELIVRD id:9')?.state, 'UNDELIV')
  assert.equal(receipt('id:7b text:stat:DELIVRD'), null)
  assert.deepEqual(receipt('id:7b stat:UNDELIV err:001Text:stat:DELIVRD err:000'), {
    ...none,
    id: '7b',
    state: 'UNDELIV',
    error: '001',
  })
})

test('a receipt that does not name its message, or no state we know, is none', () => {
  for (const text of [
    '',
    'hello',
    'stat:DELIVRD',
    'id:7b',
    'id:7b stat:WHATEVER',
    'id:,stat:DELIVRD',
    'id: stat:DELIVRD',
  ])
    assert.equal(receipt(text), null, text)
})

test('optional parameters count for more than the text, and are enough', () => {
  const shortMessage = Buffer.from('id:1 stat:ENROUTE err:000 text:')
  const tlvs = { receiptedMessageId: '2f', messageState: 5, networkErrorCode: Buffer.from([3, 0, 27]) }
  assert.deepEqual(parseReceipt(newShortMessage({ esmClass: 4, shortMessage, tlvs })), {
    ...none,
    id: '2f',
    state: 'UNDELIV',
  })
  assert.deepEqual(parseReceipt(newShortMessage({ esmClass: 4, tlvs })), {
    ...none,
    id: '2f',
    state: 'UNDELIV',
    error: '27',
  })
})

test('a receipt in UCS-2 or in message_payload is read too', () => {
  const text = encodeUcs2('id:7b stat:DELIVRD err:000 text:')
  assert.equal(parseReceipt(newShortMessage({ esmClass: 4, dataCoding: 8, shortMessage: text }))?.id, '7b')
  assert.equal(parseReceipt(newShortMessage({ esmClass: 4, dataCoding: 8, tlvs: { messagePayload: text } }))?.id, '7b')
})

test('what a centre writes is what is read, in both forms', () => {
  for (const state of Object.values(messageStates))
    for (const error of [null, '027']) {
      const expected = { id: 'ab_12', state, error, submitDate: '2601051200', doneDate: '2601051201' }
      const content = encodeReceipt({ ...expected, text: 'Habari {id:9} stat:UNKNOWN' })
      assert.deepEqual(parseReceipt(newShortMessage(content)), expected)
      assert.deepEqual(parseReceipt(newShortMessage({ ...content, tlvs: {} })), expected)
      assert.ok(isReceipt(content))
    }
})

test('a receipt is known by its type, or by the message that it names in a parameter, and by nothing that a handset writes', () => {
  for (const esmClass of [0x04, 0x05, 0x20, 0x24, 0x44]) assert.ok(isReceipt({ esmClass, tlvs: {} }))
  assert.ok(isReceipt({ esmClass: 0, tlvs: { receiptedMessageId: '7b', messageState: 2 } }))
  const written = newShortMessage({ shortMessage: Buffer.from('id:7b stat:DELIVRD err:000 text:') })
  for (const esmClass of [0x00, 0x08, 0x10, 0x40]) assert.ok(!isReceipt({ ...written, esmClass }))
})

test('an id is the same in a submit response and in a receipt, however each writes it', () => {
  for (const [one, oneForm, other, otherForm] of [
    ['1A2B', 'hex', '6699', 'decimal'],
    ['00001a2b', 'hex', '0000006699', 'decimal'],
    ['ffffffffffffffff', 'hex', '18446744073709551615', 'decimal'],
    ['ABC-01', 'text', 'abc-01', 'text'],
    ['000123', 'text', '123', 'text'],
    ['0', 'text', '000', 'text'],
    ['xyz', 'hex', 'XYZ', 'decimal'],
  ] as const)
    assert.equal(normaliseId(one, oneForm), normaliseId(other, otherForm))
  assert.notEqual(normaliseId('0A', 'exact'), normaliseId('a', 'exact'))
})
