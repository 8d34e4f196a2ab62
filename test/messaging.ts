// SPDX-License-Identifier: Apache-2.0
// What customers do with the messenger in tests: let a user write, send, upload, and wait for what becomes of it.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Reply } from './client.ts'
import { type Account, eventually } from './world.ts'

/** A user writes, which opens the window. Gives the id of the message. */
export async function writes(account: Account, from: string, body = 'Habari'): Promise<string> {
  return inbound(account, { from, type: 'text', text: { body } })
}

export async function inbound(account: Account, message: object): Promise<string> {
  const { status, body } = await account.client.post('/v1/sandbox/messenger/inbound', message)
  assert.equal(status, 201, JSON.stringify(body))
  return body.data.message_id
}

export function send(account: Account, message: object): Promise<Reply> {
  return account.client.post('/v1/messenger/messages', message)
}

/** Sends what must be accepted; gives its id. */
export async function accepted(account: Account, message: object): Promise<string> {
  const { status, body } = await send(account, message)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data.message_id
}

export function text(to: string, body = 'Karibu', more: object = {}): object {
  return { to, type: 'text', text: { body }, ...more }
}

export async function recordOf(account: Account, id: string) {
  const { status, body } = await account.client.get(`/v1/messenger/${id}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}

export async function becomes(account: Account, id: string, status: string) {
  await eventually(async () => (await recordOf(account, id)).status === status, `${id} to be ${status}`)
  return recordOf(account, id)
}

export function upload(
  account: Account,
  content: Buffer,
  type: string,
  { name = 'a.bin', typeFirst = false }: { name?: string; typeFirst?: boolean } = {},
): Promise<Reply> {
  const boundary = randomBytes(8).toString('hex')
  const file = Buffer.concat([
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n`,
    ),
    content,
    Buffer.from('\r\n'),
  ])
  const said = Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="type"\r\n\r\n${type}\r\n`)
  const raw = Buffer.concat([...(typeFirst ? [said, file] : [file, said]), Buffer.from(`--${boundary}--\r\n`)])
  return account.client.request('POST', '/v1/messenger/media', {
    raw,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
}

export const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(200, 7)])
