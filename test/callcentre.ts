// SPDX-License-Identifier: Apache-2.0
// A call centre for tests: agents with telephones of the sandbox, queues, and callers who really call.
import assert from 'node:assert/strict'
import { writeWav } from '../src/protocols/audio/wav.ts'
import { type Account, eventually } from './world.ts'

const numbers = new Map<string, string>()

/** The number of an account: each has one of its own. */
export function numberOf({ id }: Account): string {
  const known = numbers.get(id) ?? `+254700${String(111_000 + numbers.size)}`
  numbers.set(id, known)
  return known
}

/** A post that must work. */
export async function done(ada: Account, path: string, body: object, status = 200) {
  const reply = await ada.client.post(path, body)
  assert.equal(reply.status, status, `${path}: ${JSON.stringify(reply.body)}`)
  return reply.body
}

export async function queueOf(ada: Account, wanted: object = {}): Promise<string> {
  const { queue_id } = await done(ada, '/v1/voice/queue', { name: 'Support', ...wanted }, 201)
  return queue_id
}

export async function assign(ada: Account, target: object): Promise<void> {
  await done(ada, `/v1/voice/numbers/${encodeURIComponent(numberOf(ada))}/assign`, target)
}

/** Phones whose number ends so answer at once and stay. */
export function phoneOf(i: number): string {
  return `+2547110001${String(i).padStart(2, '0')}`
}

export function login(ada: Account, agent: string, i: number, more: object = {}) {
  return done(ada, '/v1/voice/agent/login', {
    agent_id: agent,
    endpoint: { type: 'phone', number: phoneOf(i) },
    ...more,
  })
}

export async function callerOf(ada: Account, from = '+254711000021'): Promise<string> {
  const { call_id } = await done(ada, '/v1/sandbox/voice/inbound', { from, to: numberOf(ada) }, 201)
  return call_id
}

export async function agentNow(ada: Account, agent: string) {
  const { body } = await ada.client.get('/v1/voice/agent?limit=200')
  return body.data.find(({ agent_id }: { agent_id: string }) => agent_id === agent)
}

export function agentIs(ada: Account, agent: string, status: string) {
  return eventually(async () => {
    const now = await agentNow(ada, agent)
    return now?.status === status ? now : null
  }, `${agent} to be ${status}`)
}

export async function callNow(ada: Account, id: string) {
  const { status, body } = await ada.client.get(`/v1/voice/call/${id}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

export function callIs(ada: Account, id: string, is: (call: CallBody) => boolean, what: string): Promise<CallBody> {
  return eventually(async () => {
    const now = await callNow(ada, id)
    return is(now) ? now : null
  }, what)
}

type CallBody = Awaited<ReturnType<typeof callNow>>

export function ended(ada: Account, id: string) {
  return callIs(ada, id, ({ ended_at }) => ended_at !== null, 'the call to end')
}

export function connected(ada: Account, id: string, agent: string) {
  return callIs(ada, id, ({ phase, agent_id }) => phase === 'connected' && agent_id === agent, `${agent} to speak`)
}

/** Moves the account's clock past midnight if that is near: figures of today would begin anew in the middle of a test. */
export async function awayFromMidnight(ada: Account): Promise<Account> {
  const leftSeconds = 86_400 - (Math.floor(Date.now() / 1_000) % 86_400)
  if (leftSeconds < 1_800) await later(ada, leftSeconds + 60)
  return ada
}

export async function later(ada: Account, seconds: number): Promise<void> {
  await done(ada, '/v1/sandbox/clock', { advance_seconds: seconds })
}

/** Events of an account that were told so far, oldest first. */
export async function eventsOf(ada: Account, type: string) {
  const { body } = await ada.client.get(`/v1/events?event=${type}&limit=200&order=asc`)
  return body.data
}

/** Uploads a sound as a prompt, or a file as it is. */
export function uploadPrompt(ada: Account, sound: Int16Array | Buffer) {
  const file = sound instanceof Int16Array ? writeWav([sound]) : sound
  const type = file.subarray(0, 4).toString() === 'RIFF' ? 'audio/wav' : 'audio/mpeg'
  const part = (name: string, more = '') => `--pamoja\r\ncontent-disposition: form-data; name="${name}"${more}\r\n`
  const raw = Buffer.concat([
    Buffer.from(`${part('name')}\r\nwelcome\r\n`),
    Buffer.from(`${part('file', '; filename="welcome.wav"')}content-type: ${type}\r\n\r\n`),
    file,
    Buffer.from('\r\n--pamoja--\r\n'),
  ])
  const headers = { 'content-type': 'multipart/form-data; boundary=pamoja' }
  return ada.client.request('POST', '/v1/voice/prompts', { raw, headers })
}
