// SPDX-License-Identifier: Apache-2.0
// What live calls over trunks need: an account with a number and money, a node that is told of trunks, and networks by hand.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { answerAudio } from '../src/protocols/sdp/session-description.ts'
import type { SipCall } from '../src/protocols/sip/call.ts'
import { SipEndpoint } from '../src/protocols/sip/endpoint.ts'
import type { CallHandlers } from '../src/protocols/sip/switchboard.ts'
import type { Client } from './client.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { eventually, startWorld, type World } from './world.ts'

export const number = '+254700555666'
export const path = '/v1/operator/voice/trunks'
export const wanted = { from: number, to: '+254711000020', actions: [{ action: 'wait', timeout: 600 }] }

export let world: World
export let shop: Receiver
/** The account, by a live key and by a test key. */
export let live: Client
export let tester: Client

/** Begins a world for the tests of a file, and ends it after them. */
export function withTrunks(settings: () => Promise<Readonly<Record<string, string | number>>>): void {
  before(async () => {
    world = await startWorld({
      PAMOJA_VOICE_LATENESS_MS: 60_000,
      PAMOJA_WEBHOOKS_ALLOW_CIDRS: ['127.0.0.0/8', '::1/128'],
      ...(await settings()),
    })
    shop = await startReceiver()
    const ada = await world.account({ balance: 1_000 })
    tester = ada.client
    const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
    live = world.stranger.as(key.key)
    const credit = { amount: 100, currency: 'KES', environment: 'live', reference: 'trunks' }
    await world.operator.post(`/v1/operator/accounts/${ada.id}/credit`, credit)
    const given = await world.operator.post('/v1/operator/voice/numbers', { number, account_id: ada.id })
    assert.equal(given.status, 201, JSON.stringify(given.body))
  })
  after(async () => {
    await shop?.stop()
    await world?.stop()
  })
}

export async function enter(trunk: object): Promise<void> {
  const { status, body } = await world.operator.post(path, trunk)
  assert.equal(status, 201, JSON.stringify(body))
  assert.ok(!JSON.stringify(body).includes('secret'), 'no password comes back')
}

export async function remove(...names: string[]): Promise<void> {
  for (const name of names) assert.equal((await world.operator.delete(`${path}/${name}`)).status, 200)
}

export function trunk(name: string, is: (trunk: Record<string, unknown>) => boolean) {
  return eventually(async () => {
    const { body } = await world.operator.get(path)
    return body.data.find((one: { name: string }) => one.name === name && is(Object(one))) ?? null
  }, `the trunk ${name}`)
}

export async function answered(id: string): Promise<void> {
  await eventually(
    async () => (await live.get(`/v1/voice/${id}`)).body.status === 'answered',
    'the call to be answered',
  )
}

/** A network by hand: it answers each number as told, and keeps the addresses that calls were made to. */
export async function plainNetwork(
  statusOf: (number: string) => number | null,
  { at = '127.0.0.3', isShut = false } = {},
) {
  const called: string[] = []
  const from: string[] = []
  const calls: SipCall[] = []
  const handlers: CallHandlers = {}
  const network = { contacts: [] as string[] }
  const endpoint = await SipEndpoint.open({
    host: at,
    ports: { udp: 0 },
    asked: (transaction) => {
      if (isShut) transaction.reply(503, 'shut')
      return isShut
    },
    invited: (call) => {
      const user = /sip:([^@]*)@/.exec(call.requestUri)?.[1] ?? ''
      called.push(user)
      calls.push(call)
      from.push(call.from)
      const status = statusOf(user)
      queueMicrotask(() => {
        if (status === 180) return call.ring()
        if (status === 302) return call.reject(302, undefined, network.contacts)
        if (status !== null) return call.reject(status)
        call.answer(answerAudio(call.offer ?? '', { host: at, port: 40_010, version: 1 }) ?? '')
      })
      return handlers
    },
  })
  return Object.assign(network, { endpoint, called, calls, handlers, from, port: endpoint.ports.udp ?? 0 })
}

export async function over(id: string) {
  return eventually(async () => {
    const { body } = await live.get(`/v1/voice/${id}`)
    return body.ended_at ? body : null
  }, 'the call to end')
}
