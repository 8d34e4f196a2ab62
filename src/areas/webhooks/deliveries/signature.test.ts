// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { areas } from '../../../areas.ts'
import { sampleBody } from '../../../platform/events/catalogue.ts'
import { newSecret } from '../endpoints/secrets.ts'
import { signatureHeaders, signingKeys } from './signature.ts'

const eventId = 'evt_01jb2c3d4e5f6g7h8j9kamnpqr'
const [old, coming] = [newSecret(), newSecret()]

function headers(body: string, next: string | null = null, isHubSigned = false): Record<string, string> {
  const flat = signatureHeaders({
    eventId,
    timestampSeconds: Math.floor(Date.now() / 1_000),
    body: Buffer.from(body),
    isHubSigned,
    current: signingKeys(old),
    next: next === null ? null : signingKeys(next),
  })
  return Object.fromEntries(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? '']] : [])))
}

function hex(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

describe('a signature', () => {
  it('is accepted for every event of the catalogue, raw and written again by the receiver', () => {
    for (const type of areas.flatMap((area) => area.events ?? [])) {
      const body = sampleBody(type)
      const sent = headers(body)
      assert.equal(sent['X-Service-Signature'], hex(old, body), type.name)
      assert.equal(sent['X-Service-Signature'], hex(old, JSON.stringify(JSON.parse(body))), type.name)
      assert.deepEqual(new Webhook(old).verify(body, sent), JSON.parse(body), type.name)
    }
  })

  it('is refused for a body, an id, a time or a secret that is not its own', () => {
    const body = '{"a":1}'
    const sent = headers(body)
    const rows: [Record<string, string>, string, string][] = [
      [sent, '{"a":2}', old],
      [{ ...sent, 'webhook-id': 'evt_other' }, body, old],
      [{ ...sent, 'webhook-timestamp': `${Number(sent['webhook-timestamp']) + 1}` }, body, old],
      [sent, body, coming],
    ]
    for (const [given, text, secret] of rows) assert.throws(() => new Webhook(secret).verify(text, given))
  })

  it('is made with both secrets while one replaces the other', () => {
    const body = '{"text":"ñ 😀"}'
    const sent = headers(body, coming)
    assert.equal(sent['X-Service-Signature'], hex(old, body))
    assert.equal(sent['X-Service-Signature-Next'], hex(coming, body))
    for (const secret of [old, coming]) assert.deepEqual(new Webhook(secret).verify(body, sent), JSON.parse(body))
    assert.match(sent['webhook-signature'] ?? '', /^v1,\S{44} v1,\S{44}$/)
  })

  it('of a messenger event also stands where messenger receivers look for it', () => {
    assert.equal(headers('{}', null, true)['x-hub-signature-256'], `sha256=${hex(old, '{}')}`)
    assert.equal(headers('{}')['x-hub-signature-256'], undefined)
  })
})
