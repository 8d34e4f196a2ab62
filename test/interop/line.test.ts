// SPDX-License-Identifier: Apache-2.0
// A phone that is not ours behind a line that the kernel makes bad: in a network namespace of its own, reached through a pair of
// interfaces that lose and delay packets (netem). That takes root, iproute2, baresip and a kernel with netem; PAMOJA_REQUIRE_NETEM=1
// makes their absence a failure. The same lines without a kernel's help are in faults/voice.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { after, before, type TestContext, test } from 'node:test'
import { rms, tone } from '../../src/protocols/audio/tones.ts'
import { readWav } from '../../src/protocols/audio/wav.ts'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { framesWith } from '../hearing.ts'
import { startWorld, type World } from '../world.ts'
import { fetched, startBaresip, withoutBaresip } from './baresip.ts'

const namespace = `pamoja-${process.pid}`
const [near, far] = [`pa${process.pid}`, `pb${process.pid}`]
const [ours, phones] = ['10.231.77.1', '10.231.77.2']
const [hertz, sipPort, seconds] = [1_000, 5_060, 8]
const [from, to] = ['+254700333888', '+254711000020']

/** Runs ip or tc; what it complains of, null where it did as told. */
function ip(line: string): string | null {
  const [program = '', ...words] = line.split(' ')
  const { status, stderr, error } = spawnSync(program, words, { encoding: 'utf8' })
  return status === 0 ? null : `${line}: ${error?.message ?? stderr.trim()}`
}

/** Makes the namespace and both ends of its line; the reason where that cannot be done here. */
function withoutLine(): string | null {
  const steps = [
    `ip netns add ${namespace}`,
    `ip link add ${near} type veth peer name ${far} netns ${namespace}`,
    `ip address add ${ours}/30 dev ${near}`,
    `ip link set ${near} up`,
    `ip -n ${namespace} address add ${phones}/30 dev ${far}`,
    `ip -n ${namespace} link set ${far} up`,
    `ip -n ${namespace} link set lo up`,
    ...worsened('loss 1%'),
  ]
  for (const step of steps) {
    const problem = ip(step)
    if (problem !== null) return problem
  }
  return null
}

function worsened(how: string): string[] {
  return [
    `tc qdisc replace dev ${near} root netem ${how}`,
    `tc -n ${namespace} qdisc replace dev ${far} root netem ${how}`,
  ]
}

function remove(): void {
  ip(`ip link delete ${near}`)
  ip(`ip netns delete ${namespace}`)
}

const problem = withoutBaresip() || withoutLine()
if (problem !== null) remove()
const skip = problem !== null && process.env.PAMOJA_REQUIRE_NETEM !== '1' ? problem : false

let world: World
let live: Client
before(async () => {
  if (skip) return
  world = await startWorld({ PAMOJA_SIP_HOST: ours, PAMOJA_VOICE_LATENESS_MS: 60_000 })
  const ada = await world.account()
  const { body: made } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  live = world.stranger.as(made.key)
  const { operator } = world
  await operator.post('/v1/operator/voice/numbers', { number: from, account_id: ada.id })
  const credit = { amount: 1_000, currency: 'KES', environment: 'live', reference: 'line' }
  await operator.post(`/v1/operator/accounts/${ada.id}/credit`, credit)
  await operator.post('/v1/operator/voice/rates', { prefix: '+254', currency: 'KES', minute: 3 })
  const entered = await operator.post('/v1/operator/voice/trunks', { name: 'line', host: phones, port: sipPort })
  assert.equal(entered.status, 201, entered.text)
})
after(async () => {
  if (!skip) remove()
  await world?.stop()
})

/** A call to the phone: share of its recording that is the phone's tone, from two seconds after its begin, and its quality. */
async function called(t: TestContext) {
  const phone = await startBaresip(t, {
    speech: tone([hertz], 1_000 * (seconds + 30)),
    user: to,
    listens: `${phones}:${sipPort}`,
    account: ';answermode=auto',
    within: { namespace, host: phones },
  })
  const placed = await eventually(async () => {
    const wanted = { from, to, record: true, actions: [{ action: 'wait', timeout: seconds }] }
    const { status, body } = await live.post('/v1/voice/calls', wanted)
    return status === 201 ? body : null
  }, 'the phone to be known')
  const call = await eventually(async () => {
    const { body } = await live.get(`/v1/voice/${placed.call_id}`)
    return body.ended_at ? body : null
  }, 'the call to end')
  await phone.stop()
  assert.equal(call.status, 'completed', phone.printed())
  const url = await eventually(async () => {
    const { body } = await live.get(`/v1/voice/recording/${call.recording_ids[0]}`)
    return body.status === 'ready' ? String(body.file_url) : null
  }, 'the recording')
  const sound = readWav(await fetched(url, await readFile(world.node.caFile ?? '', 'utf8')))
  if (typeof sound === 'string') throw new Error(sound)
  const judged = sound.subarray(2 * 8_000, -8_000)
  assert.ok(rms(judged) > 200, 'the phone is recorded')
  return { share: framesWith(judged, hertz) / Math.floor(judged.length / 160), quality: call.quality }
}

const lines = [
  { how: 'loss 2%', name: '2 % loss', least: 0.95, lossPercent: [0.3, 6], jitter: 0 },
  { how: 'loss 5%', name: '5 % loss', least: 0.93, lossPercent: [2, 10], jitter: 0 },
  { how: 'delay 80ms 40ms', name: '80 ms of jitter', least: 0.9, lossPercent: [0, 4], jitter: 8 },
]

for (const {
  how,
  name,
  least,
  lossPercent: [few = 0, many = 100],
  jitter,
} of lines)
  test(`over a line with ${name} another phone is understood, and the quality sees it`, { skip }, async (t) => {
    for (const step of worsened(how)) assert.equal(ip(step), null)
    // A crowded machine leaves frames out by itself; then it is tried again.
    await eventually(async () => {
      const { share, quality } = await called(t)
      t.diagnostic(JSON.stringify({ share, ...quality }))
      const lost = quality.packet_loss_pct
      return share >= least && lost >= few && lost <= many && quality.jitter_ms >= jitter
    }, 'the call to be understood')
  })
