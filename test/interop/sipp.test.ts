// SPDX-License-Identifier: Apache-2.0
// SIPp, a tester of SIP that is not ours, both ways: it calls a number, and it is the network behind a trunk. Debian has it in the
// package `sip-tester`; PAMOJA_REQUIRE_SIPP=1 makes its absence a failure.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { eventually, patienceMs } from '../eventually.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { startWorld, type World } from '../world.ts'

const isMissing = spawnSync('sh', ['-c', 'command -v sipp']).status !== 0
const skip = isMissing && process.env.PAMOJA_REQUIRE_SIPP !== '1' ? 'sipp is not installed (package sip-tester)' : false

let world: World
let shop: Receiver
before(async () => {
  if (skip) return
  world = await startWorld()
  shop = await startReceiver()
})
after(async () => {
  await shop?.stop()
  await world?.stop()
})

async function freePort(host: string): Promise<number> {
  const socket = createSocket('udp4').bind(0, host)
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}

/** Runs sipp to its end; its exit code is 0 when every call went as its scenario says. */
function sipp(args: readonly string[]): { ended: Promise<{ code: number | null; output: string }>; stop(): void } {
  const child = spawn('sipp', [...args, '-nostdin', '-timeout', '60s', '-timeout_error'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TERM: 'dumb' },
    timeout: patienceMs(90_000),
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'exit').then(([code]) => ({ code: typeof code === 'number' ? code : null, output }))
  return { ended, stop: () => void child.kill('SIGKILL') }
}

const transports = [
  { transport: 'udp', mode: 'u1', number: '+254700333555', from: '+254700555888', host: '127.0.0.3' },
  { transport: 'tcp', mode: 't1', number: '+254700333556', from: '+254700555889', host: '127.0.0.4' },
] as const

for (const { transport, mode, number } of transports)
  test(`sipp calls a number ten times over ${transport}, and each call goes by the book`, { skip }, async () => {
    const ada = await world.account({ balance: 100 })
    shop.answer((_request, response) => void response.end(JSON.stringify([{ action: 'wait', timeout: 600 }])))
    await ada.client.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
      application: { answer_url: shop.url(`/sipp-${transport}`) },
    })
    const { port: udp, tcpPort: tcp } = telephoneNetworkOf(world.app).address
    const own = String(await freePort('127.0.0.1'))
    const where = ['-t', mode, '-s', number, '-i', '127.0.0.1', '-p', own, `127.0.0.1:${{ udp, tcp }[transport]}`]
    const { code, output } = await sipp(['-sn', 'uac', '-m', '10', '-r', '5', '-d', '500', ...where]).ended
    assert.equal(code, 0, output.slice(-3_000))
    const asked = JSON.parse((await shop.next(`/sipp-${transport}`)).body)
    const over = await eventually(async () => {
      const { body } = await ada.client.get(`/v1/voice/${asked.call_id}`)
      return body.ended_at ? body : null
    }, 'the call to end')
    assert.deepEqual([over.status, over.hangup_by, over.to], ['completed', 'caller', number])
  })

for (const { transport, mode, from, host } of transports)
  test(`sipp is the network behind a trunk over ${transport}: it rings, answers, and is hung up`, {
    skip,
  }, async (t) => {
    const port = await freePort(host)
    // The trunk asks now and then whether somebody is there, which sipp answers with -aa.
    const network = sipp(['-sn', 'uas', '-aa', '-t', mode, '-i', host, '-p', String(port)])
    t.after(() => network.stop())
    const ada = await world.account()
    const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
    const live = world.stranger.as(key.key)
    await world.operator.post('/v1/operator/voice/numbers', { number: from, account_id: ada.id })
    const credit = { amount: 100, currency: 'KES', environment: 'live', reference: `sipp-${transport}` }
    await world.operator.post(`/v1/operator/accounts/${ada.id}/credit`, credit)
    const rate = { prefix: '+254', currency: 'KES', minute: 3 }
    assert.equal((await world.operator.post('/v1/operator/voice/rates', rate)).status, 200)
    const entered = await world.operator.post('/v1/operator/voice/trunks', {
      name: `sipp-${transport}`,
      host,
      port,
      transport,
    })
    assert.equal(entered.status, 201, JSON.stringify(entered.body))
    t.after(() => world.operator.delete(`/v1/operator/voice/trunks/sipp-${transport}`))
    for (let i = 0; i < 3; i++) {
      const wanted = { from, to: '+254711000020', actions: [{ action: 'wait', timeout: 600 }] }
      const placed = await eventually(async () => {
        const { status, body } = await live.post('/v1/voice/calls', wanted)
        return status === 201 ? body : null
      }, 'the trunk to be known')
      await eventually(async () => {
        const { body } = await live.get(`/v1/voice/${placed.call_id}`)
        return body.status === 'answered'
      }, 'sipp to answer')
      const { body: over } = await live.post(`/v1/voice/${placed.call_id}/hangup`, {})
      assert.deepEqual([over.status, over.hangup_by], ['completed', 'api'])
    }
  })
