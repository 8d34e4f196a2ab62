// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFields } from './fields.ts'
import { encode, newShortMessage } from './pdu.ts'

const octets = (value: unknown): Buffer => {
  assert.ok(Buffer.isBuffer(value))
  return value
}

const text = Buffer.from('Habari')
const submit = octets(
  encode({
    command: 'submit_sm',
    status: 0,
    sequence: 7,
    body: newShortMessage({
      source: { ton: 5, npi: 0, address: 'PAMOJA' },
      destination: { ton: 1, npi: 1, address: '254711000001' },
      shortMessage: text,
      tlvs: { userMessageReference: 300, messagePayload: Buffer.from('more') },
    }),
  }),
)

test('every octet of a PDU is in exactly one field, in order', () => {
  const read = readFields(submit)
  assert.equal(read?.command, 'submit_sm')
  let at = 0
  for (const { start, length } of read?.fields ?? []) {
    assert.equal(start, at)
    at += length
  }
  assert.equal(at, submit.length)
})

test('fields say what their octets mean', () => {
  const values = new Map(readFields(submit)?.fields.map(({ name, value }) => [name, value]))
  assert.equal(values.get('source_addr'), 'PAMOJA')
  assert.equal(values.get('destination_addr'), '254711000001')
  assert.equal(values.get('sm_length'), '0x06')
  assert.equal(values.get('short_message'), 'Habari')
  assert.equal(values.get('user_message_reference'), '300')
  assert.equal(values.get('message_payload'), 'more')
  assert.equal(values.get('sequence_number'), '7')
})

test('an answer names its status, and what is cut or foreign is told as far as it goes', () => {
  const answer = octets(encode({ command: 'submit_sm_resp', status: 0x58, sequence: 7, body: { messageId: 'a1' } }))
  const values = new Map(readFields(answer)?.fields.map(({ name, value }) => [name, value]))
  assert.equal(values.get('command_status'), '0x00000058 ESME_RTHROTTLED')
  assert.equal(readFields(submit.subarray(0, 9)), null)
  for (let length = 16; length < submit.length; length++) {
    const read = readFields(submit.subarray(0, length))
    assert.ok(
      read?.fields.every((field) => field.start + field.length <= length),
      `${length}`,
    )
  }
})
