// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayMs, hourMs } from '../../kernel/time.ts'
import { recordOf } from './record.ts'
import type { MessageRow } from './store.ts'

const sentMs = Date.parse('2026-03-01T09:00:00Z')
const row: MessageRow = {
  id: '0195510a-7b80-7000-8000-000000000001',
  direction: 'outbound',
  status: 'sent',
  recipient: '+254711000001',
  sender: 'PAMOJA',
  body: 'Habari',
  encoding: 'gsm7',
  segments: 1,
  unit_price: 800_000n,
  cost: 800_000n,
  currency: 'KES',
  charges: 1,
  country: 'KE',
  network: 'Safaricom',
  type: 'transactional',
  validity: 3_600,
  metadata: {},
  reference: null,
  callback_url: null,
  batch_id: null,
  batch_index: null,
  scheduled_at: null,
  created_at: new Date(sentMs - 1_000),
  sent_at: new Date(sentMs),
  delivered_at: null,
  failed_at: null,
  late_at: null,
  error_code: null,
  carrier_code: null,
  attempts: 1,
  route: 'operator-a',
  request_id: null,
}

describe('the record of a message', () => {
  it('says that no receipt came once a day has passed since its validity, and that it is still sent', () => {
    const onTime = recordOf(row, 'KES', sentMs + hourMs + dayMs)
    assert.deepEqual([onTime.status, onTime.error_code, onTime.error], ['sent', null, null])
    const late = recordOf(row, 'KES', sentMs + hourMs + dayMs + 1)
    assert.deepEqual([late.status, late.error_code], ['sent', 'DLR_TIMEOUT'])
    assert.match(late.error ?? '', /never said/)
  })

  it('tells its moments in order, with the codes of a failure', () => {
    const failed = recordOf(
      { ...row, status: 'failed', failed_at: new Date(sentMs + 5), error_code: 'UNDELIVERABLE', carrier_code: '0x0b' },
      'KES',
      sentMs + 10 * dayMs,
    )
    assert.deepEqual(
      failed.timeline.map(({ status, error_code, carrier_code }) => [status, error_code, carrier_code]),
      [
        ['queued', null, null],
        ['sent', null, null],
        ['failed', 'UNDELIVERABLE', '0x0b'],
      ],
    )
    assert.equal(failed.error, 'The operator could not deliver it.')
  })

  it('of one that came in has the id of its kind, and the currency of the account', () => {
    const came = recordOf({ ...row, direction: 'inbound', status: 'received', sent_at: null, currency: null }, 'UGX', 0)
    assert.match(came.message_id, /^smi_/)
    assert.deepEqual([came.currency, came.timeline.map(({ status }) => status)], ['UGX', ['received']])
  })
})
