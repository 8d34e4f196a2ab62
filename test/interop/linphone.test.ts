// SPDX-License-Identifier: Apache-2.0
// Linphone, another SIP phone that is not ours, calls a number over each transport: what it says is recorded, and it writes down
// what it hears. Debian has it in the package `linphone-cli`; PAMOJA_REQUIRE_LINPHONE=1 makes its absence a failure.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { tone } from '../../src/protocols/audio/tones.ts'
import { readWav, writeWav } from '../../src/protocols/audio/wav.ts'
import { eventually } from '../eventually.ts'
import { framesWith } from '../hearing.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Account, startWorld, type World } from '../world.ts'
import { fetched } from './baresip.ts'

const isMissing = spawnSync('sh', ['-c', 'command -v linphonec']).status !== 0
const isRequired = process.env.PAMOJA_REQUIRE_LINPHONE === '1'
const skip = isMissing && !isRequired ? 'linphone is not installed (package linphone-cli)' : false

let world: World
let shop: Receiver
let ada: Account
const number = '+254700333777'
const [said, played] = [1_000, 600]

before(async () => {
  if (skip) return
  world = await startWorld({
    PAMOJA_VOICE_LATENESS_MS: 60_000,
    PAMOJA_WEBHOOKS_ALLOW_CIDRS: ['127.0.0.0/8', '::1/128'],
  })
  shop = await startReceiver()
  const wav = writeWav([tone([played], 2_000)])
  const stream = { action: 'stream', streamUrl: [shop.url('/tone.wav')] }
  const flow = [{ action: 'record', channels: 1 }, stream, { action: 'hangup' }]
  shop.answer(({ url }, response) => void response.end(url === '/tone.wav' ? wav : JSON.stringify(flow)))
  ada = await world.account({ balance: 100 })
  const application = { answer_url: shop.url('/answer') }
  await ada.client.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, { application })
})
after(async () => {
  await shop?.stop()
  await world?.stop()
})

/** A phone that dials, says a tone until it is hung up, and writes down what it hears. */
async function startLinphone(t: TestContext, dials: string, sip: readonly string[]) {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-linphone-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  await mkdir(join(dir, '.local/share/linphone'), { recursive: true })
  const [say, heard, settings] = [join(dir, 'say.wav'), join(dir, 'heard.wav'), join(dir, 'linphonerc')]
  await writeFile(say, writeWav([tone([said], 30_000)]))
  // The kernel chooses its ports.
  const ports = ['sip_port=-1', 'sip_tcp_port=-1', 'sip_tls_port=-1', 'bind_address=127.0.0.1', 'use_ipv6=0']
  const rtp = ['[rtp]', 'audio_rtp_port=0']
  await writeFile(settings, `${['[sip]', ...ports, ...sip, ...rtp].join('\n')}\n`)
  const child = spawn('linphonec', ['-c', settings], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, HOME: dir, TERM: 'dumb' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.stdin.write('quit\n')
    await once(child, 'exit')
  }
  t.after(stop)
  child.stdin.write(`soundcard use files\nplay ${say}\nrecord ${heard}\ncall ${dials}\n`)
  return { stop, printed: () => output, heard: async () => readWav(await readFile(heard)) }
}

const ways = [
  { transport: 'udp', sip: [] },
  { transport: 'tcp', sip: [] },
  { transport: 'tls', sip: ['media_encryption=srtp', 'media_encryption_mandatory=1', 'verify_server_certs=0'] },
] as const

for (const { transport, sip } of ways)
  test(`another independent phone calls over ${transport}, is recorded and hears what is played`, {
    skip,
  }, async (t) => {
    const { port: udp, tcpPort: tcp, tlsPort: tls } = telephoneNetworkOf(world.app).address
    const dials = `sip:${number}@127.0.0.1:${{ udp, tcp, tls }[transport]};transport=${transport}`
    const phone = await startLinphone(t, dials, sip)
    const { call_id: id } = JSON.parse((await shop.next('/answer')).body)
    const call = await eventually(async () => {
      const { body } = await ada.client.get(`/v1/voice/${id}`)
      return body.ended_at ? body : null
    }, 'the call to end')
    assert.deepEqual([call.status, call.hangup_cause, call.hangup_by], ['completed', 'normal', 'system'])
    const url = await eventually(async () => {
      const { body } = await ada.client.get(`/v1/voice/recording/${call.recording_ids[0]}`)
      return body.status === 'ready' ? String(body.file_url) : null
    }, 'the recording')
    const recorded = readWav(await fetched(url, await readFile(world.node.caFile ?? '', 'utf8')))
    assert.ok(
      typeof recorded !== 'string' && framesWith(recorded, said) > 25,
      `its tone is recorded: ${phone.printed()}`,
    )
    await phone.stop()
    const heard = await phone.heard()
    assert.ok(typeof heard !== 'string' && framesWith(heard, played) > 25, 'the phone heard the tone')
  })
