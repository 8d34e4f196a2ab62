// SPDX-License-Identifier: Apache-2.0
// What customers do with mail in tests: send it, wait for it, and read what arrived in the sandbox.
import assert from 'node:assert/strict'
import { lookInto } from './looking.ts'
import { priceLive } from './texting.ts'
import { type Account, eventually, type World } from './world.ts'

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

/**
 * A live account with money that may send from a domain. The world's DNS cannot be told of it, so that the database is: which
 * records a domain needs is tested in the sandbox.
 */
export async function liveSender(
  world: World,
  domain: string,
): Promise<{ account: Account; records: readonly { name: string; value: string }[] }> {
  const { account: opened, operator, stranger } = world
  const { id, client } = await opened()
  await operator.post(`/v1/operator/accounts/${id}/credit`, {
    amount: 10_000,
    currency: 'KES',
    environment: 'live',
    reference: `live ${domain}`,
  })
  await priceLive(world, { area: 'email', unit: 'message', amount: 0.05 })
  const { body: live } = await client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const account = { id, key: live.key, client: stranger.as(live.key) }
  const { status, body } = await account.client.post('/v1/email/domains', { domain, dkim_record: 'txt' })
  assert.equal(status, 201, JSON.stringify(body))
  const sql = lookInto(world)
  await sql.connect()
  await sayVerified(sql, domain)
  await sql.end()
  return { account, records: body.records }
}

/** Somebody who asks the databases of an installation. */
interface Asked {
  query(text: string, values: unknown[]): Promise<unknown>
}

export async function sayVerified(sql: Asked, domain: string): Promise<void> {
  const records = { verification: 'valid', dkim: 'valid', dkim_ed25519: 'valid' }
  await sql.query(`update email.domains set status = 'verified', verified_at = now(), records = $1 where domain = $2`, [
    JSON.stringify(records),
    domain,
  ])
}
