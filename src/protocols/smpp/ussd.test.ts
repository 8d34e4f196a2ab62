// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dialogsOf, standardProfile, type UssdProfile, ussdOf, ussdOps, ussdPdu } from './ussd.ts'

const phone = '+254711000001'

test('a dial, a screen and an answer are short messages with ussd_service_op and its_session_info', () => {
  const dial = ussdPdu({ op: 'dialled', dialog: 7, sequence: 0, phone, code: '384', text: '*384*1#' }, 'source')
  assert.deepEqual([dial.serviceType, dial.source.address, dial.destination.address], ['USSD', '254711000001', '384'])
  assert.deepEqual([dial.tlvs.ussdServiceOp, dial.tlvs.itsSessionInfo], [Buffer.from([1]), Buffer.from([7, 0])])
  const last = ussdPdu({ op: 'ends', dialog: 7, sequence: 3, phone, code: '384', text: 'Bye' }, 'destination')
  assert.deepEqual([last.tlvs.ussdServiceOp, last.tlvs.itsSessionInfo], [Buffer.from([17]), Buffer.from([7, 7])])
})

test('every operation comes back as it went, in either alphabet', () => {
  for (const op of ussdOps)
    for (const text of ['', 'x'.repeat(182), 'ọ'.repeat(80)]) {
      const message = { op, dialog: 200, sequence: 5, phone, code: '384', text }
      for (const handset of ['source', 'destination'] as const)
        assert.deepEqual(ussdOf(ussdPdu(message, handset), handset), message)
    }
})

test('codes and tags are data of a profile', () => {
  const vendor: UssdProfile = {
    ...standardProfile,
    ops: { ...standardProfile.ops, asks: 32 },
    opTag: 0x1501,
    sessionTag: 0x1502,
    dialogBytes: 4,
  }
  const message = { op: 'asks' as const, dialog: 70_000, sequence: 1, phone, code: '384', text: 'Hello' }
  const pdu = ussdPdu(message, 'destination', vendor)
  assert.deepEqual(ussdOf(pdu, 'destination', vendor), message)
  assert.equal(ussdOf(pdu, 'destination'), null, 'no USSD to whoever expects the usual tags')
  assert.equal(dialogsOf(vendor), 2 ** 32)
})
