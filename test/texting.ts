// SPDX-License-Identifier: Apache-2.0
// What customers do with text messages in every journey about them: send one, see how it ended, and what was told of it.
import assert from 'node:assert/strict'
import { type Account, eventually, type World } from './world.ts'

/** Gives the id of the message. */
export async function send(account: Account, to: string, message = 'Habari', from = 'PAMOJA'): Promise<string> {
  const { status, body } = await account.client.post('/v1/sms/send', { to, from, message })
  assert.equal(status, 200, JSON.stringify(body))
  return body.message_id
}

export async function statusOf(account: Account, id: string): Promise<string> {
  return (await account.client.get(`/v1/sms/${id}`)).body.status
}

/** The record of a message once it is delivered or failed. */
export async function ended(account: Account, id: string) {
  return eventually(async () => {
    const { body } = await account.client.get(`/v1/sms/${id}`)
    return ['delivered', 'failed'].includes(body.status) && body
  }, `the end of ${id}`)
}

/** The changes of a message that subscribers of sms.status were told of, in their order. */
export async function toldOf(account: Account, id: string): Promise<string[]> {
  const { body } = await account.client.get(`/v1/events?event=sms.status&resource_id=${id}&order=asc`)
  return body.data.map((event: { payload: { status: string } }) => event.payload.status)
}

export async function balance({ client }: Account): Promise<number> {
  return (await client.get('/v1/sms/balance')).body.balance
}

/** Every node sends over a route once it is in force. */
export async function inForce({ operator }: World, route: string): Promise<void> {
  await eventually(async () => {
    const { body } = await operator.get('/v1/operator/sms/routes')
    return body.data.find(({ id }: { id: string }) => id === route).in_force
  }, 'the route to be in force')
}

/** Live texts in shillings cost so much from now on; without a price none is taken. */
export function priceLiveTexts(world: World, place: { country?: string } = {}): Promise<void> {
  return priceLive(world, { area: 'sms', unit: 'segment', amount: 0.8 }, place)
}

/** Sets a live price for anything else that is charged. */
export async function priceLive(
  { operator, app }: World,
  what: { area: string; unit: string; amount: number },
  place: { country?: string } = {},
): Promise<void> {
  const price = { ...what, currency: 'KES' } as const
  const { status, text } = await operator.post('/v1/operator/prices', { ...price, ...place })
  assert.equal(status, 201, text)
  const wanted = { ...price, ...place, account: '', atMs: Number.MAX_SAFE_INTEGER }
  await eventually(async () => app.prices.quote(wanted) !== null, 'the price to be in force')
}
