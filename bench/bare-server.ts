// SPDX-License-Identifier: Apache-2.0
// The yardstick: a bare Fastify route that validates the same body and writes the same reply, over the same TLS, and
// stores nothing. Started as a process of its own; says its port to its parent.
import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import { NoteCreate } from '../test/notes/area.ts'

const reply = {
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

const [, , certFile = '', keyFile = ''] = process.argv
const http = Fastify({
  logger: false,
  https: { cert: readFileSync(certFile), key: readFileSync(keyFile) },
  ajv: { customOptions: { strict: false } },
})
http.post('/v1/notes', { schema: { body: NoteCreate, response: { 200: reply } } }, async () => ({
  success: true,
  note_id: '01946d6c-0000-7000-8000-000000000000',
  status: 'queued',
  cost: 0.8,
  currency: 'KES',
  timestamp: '2026-01-01T00:00:00.000Z',
}))
await http.listen({ port: 0, host: '127.0.0.1' })
const address = http.server.address()
process.send?.({ port: typeof address === 'object' ? address?.port : null })
process.on('message', () => process.send?.({ cpu: process.cpuUsage() }))
process.once('disconnect', () => process.exit(0))
