// SPDX-License-Identifier: Apache-2.0
// The yardstick: bare Fastify routes that validate the same bodies and write the same replies, over the same TLS, and
// store nothing. Started as a process of its own; says its port to its parent.
import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import { MessageSend } from '../src/areas/sms/schema.ts'
import { NoteCreate } from '../test/notes/area.ts'

const noteReply = {
  type: 'object',
  properties: {
    success: { type: 'boolean' },
    note_id: { type: 'string' },
    status: { type: 'string' },
    cost: { type: 'number' },
    currency: { type: 'string' },
    timestamp: { type: 'string' },
  },
}

const text = { type: 'string' }
const sendReply = {
  type: 'object',
  properties: {
    success: { type: 'boolean' },
    status: text,
    message_id: text,
    to: text,
    from: text,
    segments: { type: 'integer' },
    cost: { type: 'number' },
    currency: text,
    timestamp: text,
    encoding: text,
    country: text,
    network: text,
    scheduled_at: { type: ['string', 'null'] },
  },
}

const [, , certFile = '', keyFile = ''] = process.argv
const http = Fastify({
  logger: false,
  https: { cert: readFileSync(certFile), key: readFileSync(keyFile) },
  ajv: { customOptions: { strict: false, formats: { moment: true } } },
})
http.post('/v1/notes', { schema: { body: NoteCreate, response: { 200: noteReply } } }, async () => ({
  success: true,
  note_id: '01946d6c-0000-7000-8000-000000000000',
  status: 'queued',
  cost: 0.8,
  currency: 'KES',
  timestamp: '2026-01-01T00:00:00.000Z',
}))
http.post('/v1/sms/send', { schema: { body: MessageSend, response: { 200: sendReply } } }, async () => ({
  success: true,
  status: 'queued',
  message_id: 'sms_01J00000000000000000000000',
  to: '+254711000001',
  from: 'PAMOJA',
  segments: 1,
  cost: 0.8,
  currency: 'KES',
  timestamp: '2026-01-01T00:00:00.000Z',
  encoding: 'gsm7',
  country: 'KE',
  network: 'Safaricom',
  scheduled_at: null,
}))
await http.listen({ port: 0, host: '127.0.0.1' })
const address = http.server.address()
process.send?.({ port: typeof address === 'object' ? address?.port : null })
process.on('message', () => process.send?.({ cpu: process.cpuUsage() }))
process.once('disconnect', () => process.exit(0))
