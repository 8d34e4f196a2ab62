// SPDX-License-Identifier: Apache-2.0
// What customers do with mail in tests: send it, wait for it, and read what arrived in the sandbox.
import assert from 'node:assert/strict'
import { type Account, eventually } from './world.ts'

export async function sendMail(account: Account, fields: Record<string, unknown>): Promise<string> {
  const message = {
    from: 'Duka <duka@sandbox.pamoja.test>',
    to: 'amina@shop.example',
    subject: 'Habari',
    html: '<p>Karibu</p>',
  }
  const { status, body } = await account.client.post('/v1/email/send', { ...message, ...fields })
  assert.equal(status, 200, JSON.stringify(body))
  return body.message_id
}

/** The message in the sandbox's mailbox, once it is there. */
export async function mailIn({ client }: Account, messageId: string) {
  const found = await eventually(async () => {
    const { body } = await client.get(`/v1/sandbox/email/messages?message_id=${messageId}`)
    return body.data[0] ?? null
  }, `${messageId} in the mailbox`)
  const { body } = await client.get(`/v1/sandbox/email/messages/${found.id}`)
  return body
}

/** The record of a message of which nothing more is to come. */
export async function settled({ client }: Account, messageId: string, ...statuses: string[]) {
  const wanted = statuses.length > 0 ? statuses : ['delivered', 'bounced', 'failed', 'cancelled']
  return eventually(async () => {
    const { body } = await client.get(`/v1/email/${messageId}`)
    return wanted.includes(body.status) ? body : null
  }, `the end of ${messageId}`)
}

/** Types of the events of a message, in their order. */
export async function toldOf({ client }: Account, messageId: string): Promise<string[]> {
  const { body } = await client.get(`/v1/events?resource_id=${messageId}&order=asc`)
  return body.data.map(({ event }: { event: string }) => event)
}
