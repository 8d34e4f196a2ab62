// SPDX-License-Identifier: Apache-2.0
// What journeys of billing begin with: a test account whose clock stands at a good hour, plans, and waiting for what follows.
import assert from 'node:assert/strict'
import type { Client } from './client.ts'
import { type Account, eventually, type World } from './world.ts'

export const subscriptions = '/v1/billing/subscriptions'
export const dayS = 86_400

/** An account in Nairobi where it is ten in the morning of the first of next March. */
export async function nairobi(world: World, balance = 0): Promise<Account> {
  const made = await world.account({ balance })
  await made.client.patch('/v1/account', { timezone: 'Africa/Nairobi' })
  const { body } = await made.client.get('/v1/sandbox/clock')
  const nowMs = Date.parse(body.now)
  await advance(made.client, (nextMarchMs(nowMs) - nowMs) / 1_000)
  return made
}

/** Ten in the morning of the first of March in Nairobi, whichever comes next: a clock is moved by a year at most. */
export function nextMarchMs(nowMs: number): number {
  const year = new Date(nowMs).getUTCFullYear()
  const thisYear = Date.UTC(year, 2, 1, 7)
  return thisYear >= nowMs ? thisYear : Date.UTC(year + 1, 2, 1, 7)
}

export async function advance(client: Client, seconds: number): Promise<void> {
  const { status, text } = await client.post('/v1/sandbox/clock', { advance_seconds: Math.ceil(seconds) })
  assert.equal(status, 200, text)
}

export async function advanceTo(client: Client, moment: string): Promise<void> {
  const { body } = await client.get('/v1/sandbox/clock')
  await advance(client, Math.max(0, (Date.parse(moment) - Date.parse(body.now)) / 1_000))
}

export async function plan(client: Client, more: object = {}): Promise<string> {
  const body = { name: 'Monthly', amount: 1500, currency: 'KES', interval: 'month', ...more }
  const made = await client.post('/v1/billing/plans', body)
  assert.equal(made.status, 201, made.text)
  return made.body.plan_id
}

/** The subscription as soon as something holds of it. */
export async function becomes(client: Client, id: string, holds: (now: { status: string; cycles: number }) => boolean) {
  let last = ''
  return eventually(async () => {
    const { body, text } = await client.get(`${subscriptions}/${id}`)
    last = text
    return holds(body) && body
  }, `a change of ${id}`).catch((error) => assert.fail(`${error}: ${last}`))
}

/** Has a bill paid that is open, by a phone that takes cents. */
export async function payUp(client: Client, invoice: string): Promise<void> {
  const at = `/v1/billing/invoices/${invoice}`
  if ((await client.get(at)).body.status === 'open') await client.post(`${at}/pay`, { phone: '+254733000001' })
  await eventually(async () => (await client.get(at)).body.status === 'paid', `${invoice} to be paid`)
}

/** Events of a name, the newest first. */
export async function tells(client: Client, event: string) {
  return (await client.get(`/v1/events?limit=200&event=${event}`)).body.data
}

/** Waits until so much was told under a name. */
export async function toldTimes(client: Client, event: string, times: number) {
  return eventually(async () => {
    const told = await tells(client, event)
    return told.length === times && told
  }, `${event} for the ${times}. time`)
}
