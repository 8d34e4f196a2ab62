// SPDX-License-Identifier: Apache-2.0
// The yardsticks: bare Fastify routes that validate the same bodies and write the same replies, over the same TLS, and
// store nothing; and, given a database, the least that a durable write can be: the same route, and one row in a commit that
// is shared with whoever else waits. Started as a process of its own; says its port to its parent.
import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import pg from 'pg'
import { MessageSend } from '../src/areas/sms/schema.ts'
import { newUuid } from '../src/kernel/ids.ts'
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

const [, , certFile = '', keyFile = '', databaseUrl] = process.argv
const http = Fastify({
  logger: false,
  https: { cert: readFileSync(certFile), key: readFileSync(keyFile) },
  ajv: { customOptions: { strict: false, formats: { moment: true } } },
})
const noteSchema = { body: NoteCreate, response: { 200: noteReply } }
const note = {
  success: true,
  note_id: '01946d6c-0000-7000-8000-000000000000',
  status: 'queued',
  cost: 0.8,
  currency: 'KES',
  timestamp: '2026-01-01T00:00:00.000Z',
}
http.post('/v1/notes', { schema: noteSchema }, async () => note)
if (databaseUrl !== undefined) {
  const store = await leastStore(databaseUrl)
  http.post('/v1/least', { schema: noteSchema }, async ({ body }) => {
    await store(newUuid(Date.now()), JSON.stringify(body))
    return note
  })
}
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

/** Stores a row; resolves when it is on disk. Rows that come while a commit is under way share the next one. */
async function leastStore(connectionString: string): Promise<(id: string, body: string) => Promise<void>> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query('create table least (id uuid primary key, body text not null)')
  let waiting: { id: string; body: string; stored(): void; failed(error: unknown): void }[] = []
  let isCommitting = false
  const commit = async (): Promise<void> => {
    isCommitting = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await client.query({
          name: 'least',
          text: 'insert into least (id, body) select * from unnest($1::uuid[], $2::text[])',
          values: [batch.map(({ id }) => id), batch.map(({ body }) => body)],
        })
        for (const { stored } of batch) stored()
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
    }
    isCommitting = false
  }
  return (id, body) =>
    new Promise((stored, failed) => {
      waiting.push({ id, body, stored, failed })
      if (!isCommitting) setImmediate(() => isCommitting || commit())
    })
}
