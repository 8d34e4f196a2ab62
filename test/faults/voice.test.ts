// SPDX-License-Identifier: Apache-2.0
// Two nodes on one database, and calls that one of them has: the other commands them; and when their node is killed, it ends them,
// charged for what was spoken, and says so to the other side. What was recorded is kept; a recording that was being encoded is
// encoded by the other. And calls over lines that lose and delay packets.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { idOf, uuidOf } from '../../src/kernel/ids.ts'
import { frameSamples } from '../../src/protocols/audio/g711.ts'
import { rms } from '../../src/protocols/audio/tones.ts'
import { writeWav } from '../../src/protocols/audio/wav.ts'
import { answerAudio } from '../../src/protocols/sdp/session-description.ts'
import { SipEndpoint } from '../../src/protocols/sip/endpoint.ts'
import { callByBadLine, type Line } from '../bad-line.ts'
import { eventually } from '../eventually.ts'
import { fetched } from '../fetched.ts'
import { framesWith, hum } from '../hearing.ts'
import { startReceiver } from '../receiver.ts'
import { startVoiceProgram } from '../voice-program.ts'
import { type Installation, startInstallation } from './harness.ts'

let installation: Installation
before(async () => {
  installation = await startInstallation({
    nodes: 2,
    database: 'shared',
    environment: {
      PAMOJA_VOICE_LATENESS_MS: '60000',
      PAMOJA_VOICE_MEDIA_TIMEOUT_SECONDS: '300',
      PAMOJA_JOB_LEASE_SECONDS: '2',
    },
  })
})
after(() => installation.stop())

const wanted = { from: '+254700000000', to: '+254711000020', actions: [{ action: 'wait', timeout: 7_000 }] }

async function answeredCall(node: number, key: string): Promise<string> {
  const client = installation.client(node, key)
  const { status, body } = await client.post('/v1/voice/calls', wanted)
  assert.equal(status, 201, JSON.stringify(body))
  await eventually(async () => (await client.get(`/v1/voice/${body.call_id}`)).body.status === 'answered', 'the answer')
  return body.call_id
}

test('a call is ended from the node that does not have it', async () => {
  const { key } = await installation.account()
  const id = await answeredCall(0, key)
  const { status, body } = await installation.client(1, key).post(`/v1/voice/${id}/hangup`, {})
  assert.deepEqual([status, body.status, body.hangup_by], [200, 'completed', 'api'])
})

test('a node is killed in a call: the call is completed, and charged for what was spoken', async () => {
  const account = await installation.account()
  const before = await installation.balance(account)
  const id = await answeredCall(1, account.key)
  const other = installation.client(0, account.key)
  // More than the first minute, which another node would have to learn of.
  await other.post('/v1/sandbox/clock', { advance_seconds: 200 })
  await eventually(async () => (await other.get('/v1/wallet/balance')).body.held >= 24, 'the hold to be extended')
  await installation.killNode(1)
  const over = await eventually(
    async () => {
      const { body } = await other.get(`/v1/voice/${id}`)
      return body.ended_at ? body : null
    },
    'the call to be ended by the other node',
    60_000,
  )
  assert.deepEqual([over.status, over.hangup_cause, over.hangup_by], ['completed', 'network_error', 'system'])
  // The end is the last sign of life of its node, which says so every five seconds.
  assert.ok(over.duration >= 190 && over.duration < 260, `it lasted ${over.duration} s`)
  assert.equal(over.cost, over.duration / 10)
  assert.equal(await installation.balance(account), before - over.cost)
  await installation.startNode(1)
})

/** Kills the second node when what it is asked to do has come as far as a table that it is about to write to. */
async function killedBefore<Asked>(table: string, ask: () => Promise<Asked>): Promise<Asked> {
  const gate = new pg.Client({ connectionString: installation.databaseUrl })
  gate.on('error', () => undefined)
  await gate.connect()
  try {
    await gate.query(`begin; lock table ${table} in share mode`)
    const asked = await ask()
    const waiting = `select pid from pg_locks where relation = '${table}'::regclass and not granted`
    await eventually(async () => (await gate.query(waiting)).rows.length > 0, 'the node to come to the table')
    await installation.killNode(1)
    // Otherwise the database would finish what the node had begun.
    await gate.query(`select pg_terminate_backend(pid) from (${waiting}) as waiting`)
    await eventually(async () => (await gate.query(waiting)).rows.length === 0, 'its sessions to end')
    return asked
  } finally {
    await gate.end()
  }
}

async function placedOnSecond(key: string, more: object = {}): Promise<string> {
  const { status, body } = await installation.client(1, key).post('/v1/voice/calls', { ...wanted, ...more })
  assert.equal(status, 201, JSON.stringify(body))
  return body.call_id
}

test('a node is killed while it takes a call: the call is still nobody’s, and another node places it', async () => {
  const account = await installation.account()
  const before = await installation.balance(account)
  const id = await killedBefore('platform.sessions', () => placedOnSecond(account.key))
  const other = installation.client(0, account.key)
  await eventually(
    async () => (await other.get(`/v1/voice/${id}`)).body.status === 'answered',
    'the other node to place it',
    60_000,
  )
  const { body: over } = await other.post(`/v1/voice/${id}/hangup`, {})
  assert.deepEqual([over.status, over.hangup_by], ['completed', 'api'])
  assert.equal(await installation.balance(account), before - over.cost)
  assert.equal((await other.get('/v1/wallet/balance')).body.held, 0)
  await installation.startNode(1)
})

test('a node is killed when it has taken a call: the call ends as failed, and its money is given back', async () => {
  const account = await installation.account()
  const before = await installation.balance(account)
  const id = await killedBefore('voice.call_events', () => placedOnSecond(account.key))
  const other = installation.client(0, account.key)
  const over = await eventually(
    async () => {
      const { body } = await other.get(`/v1/voice/${id}`)
      return body.ended_at ? body : null
    },
    'the call to be ended by the other node',
    60_000,
  )
  assert.deepEqual([over.status, over.hangup_cause, over.cost], ['failed', 'network_error', 0])
  assert.equal(await installation.balance(account), before)
  assert.equal((await other.get('/v1/wallet/balance')).body.held, 0)
  await installation.startNode(1)
})

test('a node is killed while it ends a call that was never placed: its money is given back all the same', async () => {
  const account = await installation.account()
  const before = await installation.balance(account)
  const scheduled_at = new Date(Date.now() + 86_400_000).toISOString()
  const id = await placedOnSecond(account.key, { scheduled_at })
  const other = installation.client(0, account.key)
  assert.ok((await other.get('/v1/wallet/balance')).body.held > 0, 'money is set aside for it')
  await killedBefore('voice.call_events', async () => {
    // Its answer never comes.
    void installation
      .client(1, account.key)
      .post(`/v1/voice/${id}/hangup`, {})
      .catch(() => undefined)
  })
  const over = await eventually(
    async () => {
      const { body } = await other.get(`/v1/voice/${id}`)
      return body.ended_at ? body : null
    },
    'the call to be ended by the other node',
    60_000,
  )
  assert.deepEqual([over.status, over.cost], ['failed', 0])
  assert.equal(await installation.balance(account), before)
  assert.equal((await other.get('/v1/wallet/balance')).body.held, 0)
  await installation.startNode(1)
})

test('a node is killed in a call by websocket: the program sees it, and both legs are completed', async () => {
  const account = await installation.account()
  const program = await startVoiceProgram('plain')
  try {
    const endpoint = [{ type: 'websocket', uri: program.uri('/killed') }]
    const connect = { ...wanted, actions: [{ action: 'connect', endpoint }] }
    const { body } = await installation.client(1, account.key).post('/v1/voice/calls', connect)
    const talk = await program.next()
    await eventually(async () => talk.frames.length > 0, 'audio')
    await installation.killNode(1)
    assert.equal(await talk.end(), 1_006)
    const other = installation.client(0, account.key)
    await eventually(
      async () => (await other.get(`/v1/voice/${body.call_id}`)).body.status === 'completed',
      'the call to be ended by the other node',
      60_000,
    )
    const told = async () => (await other.get('/v1/events?event=call.completed')).body.data
    const legs = await eventually(async () => ((await told()).length === 2 ? told() : null), 'both legs to end', 60_000)
    for (const { payload } of legs) assert.equal(payload.hangup_cause, 'network_error')
    assert.equal((await other.get('/v1/wallet/balance')).body.held, 0)
  } finally {
    await program.stop()
    await installation.startNode(1)
  }
})

test('a node is killed in a recorded call: the other keeps what was recorded, and hangs up for it', async () => {
  const account = await installation.account()
  const events: string[] = []
  const own = { host: '127.0.0.1', port: 40_012, version: 1 }
  const phone = await SipEndpoint.open({
    host: '127.0.0.1',
    ports: { udp: 0 },
    invited: (call) => {
      queueMicrotask(() => call.answer(answerAudio(call.offer ?? '', own) ?? ''))
      return { answered: () => void events.push('answered'), ended: (by) => void events.push(`ended by ${by}`) }
    },
  })
  try {
    const endpoint = [{ type: 'sip', uri: `sip:desk@127.0.0.1:${phone.ports.udp}` }]
    const id = await placedOnSecond(account.key, { record: true, actions: [{ action: 'connect', endpoint }] })
    const other = installation.client(0, account.key)
    await eventually(async () => events.includes('answered'), 'the phone to be answered')
    const recordings = `select id from voice.recordings where status = 'recording' and account_id = $1`
    const account_id = uuidOf('account', account.id)
    const [recording] = await eventually(async () => {
      const rows = await installation.sql<{ id: string }>(recordings, [account_id])
      return rows.length > 0 ? rows : null
    }, 'the recording')
    const name = recording?.id ?? ''
    // Two channels of 16,000 bytes a second.
    await eventually(async () => (await installation.storedBytes(name)) >= 4 * 64 * 1_024, 'eight seconds', 60_000)
    const stored = await installation.storedBytes(name)
    await installation.killNode(1)
    const { body: call } = await eventually(
      async () => {
        const found = await other.get(`/v1/voice/${id}`)
        return found.body.ended_at ? found : null
      },
      'the call to be ended by the other node',
      60_000,
    )
    assert.deepEqual([call.status, call.hangup_cause], ['completed', 'network_error'])
    assert.deepEqual(call.recording_ids, [idOf('recording', name)])
    await eventually(async () => events.includes('ended by remote'), 'the BYE of the node that took over', 60_000)
    const ready = await eventually(
      async () => {
        const { body } = await other.get(`/v1/voice/recording/${idOf('recording', name)}`)
        return body.status === 'ready' ? body : null
      },
      'the recording to be joined',
      60_000,
    )
    assert.deepEqual([ready.format, ready.channels, ready.reason], ['wav', 2, null])
    const seconds = (ready.size_bytes - 44) / 32_000
    assert.ok(seconds >= Math.floor(stored / 65_552) * (65_536 / 32_000), `${seconds} s of ${stored} sealed bytes`)
    assert.equal(ready.duration, Math.round(seconds))
    const { bytes: file } = await fetched(installation.ca, ready.file_url)
    assert.equal(file.length, ready.size_bytes)
    assert.equal(createHash('sha256').update(file).digest('hex'), ready.sha256)
    assert.equal(file.readUInt32LE(40), file.length - 44, 'a whole WAV')
    const { body: told } = await other.get('/v1/events?event=recording.ready')
    assert.deepEqual(
      told.data.map(({ payload }: { payload: { recording_id: string } }) => payload.recording_id),
      [ready.recording_id],
    )
    assert.equal((await other.get('/v1/wallet/balance')).body.held, 0)
    assert.equal(await installation.storedBytes(name), 0, 'what was joined is gone')
  } finally {
    await phone.close()
    await installation.startNode(1)
  }
})

test('a node is killed while it encodes a recording: the other makes the MP3 from the same samples', async () => {
  const account = await installation.account()
  const gate = new pg.Client({ connectionString: installation.databaseUrl })
  gate.on('error', () => undefined)
  await gate.connect()
  try {
    await gate.query(`
      create function public.gate() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(7700); return new; end $$;
      create trigger gate before insert on platform.files for each row when (new.kind = 'voice.recording_mp3')
        execute function public.gate();
      select pg_advisory_lock(7700)`)
    const record = { action: 'record', format: 'mp3', timeOut: 3 }
    const { status, body } = await installation
      .client(1, account.key)
      .post('/v1/voice/calls', { ...wanted, actions: [record] })
    assert.equal(status, 201, JSON.stringify(body))
    const other = installation.client(0, account.key)
    const waiting = `select pid from pg_locks where locktype = 'advisory' and objid = 7700 and not granted`
    await eventually(async () => (await gate.query(waiting)).rows.length > 0, 'the MP3 to be begun')
    const [id] = (await other.get(`/v1/voice/${body.call_id}`)).body.recording_ids
    assert.equal((await other.get(`/v1/voice/recording/${id}`)).body.status, 'processing')
    await installation.killNode(1)
    await gate.query(`select pg_terminate_backend(pid) from (${waiting}) as waiting`)
    await gate.query('select pg_advisory_unlock(7700)')
    const ready = await eventually(
      async () => {
        const { body: now } = await other.get(`/v1/voice/recording/${id}`)
        return now.status === 'ready' ? now : null
      },
      'the other node to encode it',
      60_000,
    )
    assert.deepEqual([ready.format, ready.duration, ready.reason], ['mp3', 3, null])
  } finally {
    await gate.query('drop function public.gate cascade')
    await gate.end()
    await installation.startNode(1)
  }
})

/** Seconds that are judged, after two in which the jitter buffer learns the line. */
const judgedSeconds = 6
const secondFrames = 50
const [played, hummed] = [440, 1_000]

/** Share of frames that have a tone, from two seconds after the first of them. */
function shareOf(samples: Int16Array, hertz: number): number {
  const frame = (i: number) => samples.subarray(i * frameSamples, (i + 1) * frameSamples)
  const frames = Math.floor(samples.length / frameSamples)
  let first = 0
  while (first < frames && framesWith(frame(first), hertz) === 0) first++
  const from = first + 2 * secondFrames
  return from >= frames ? 0 : framesWith(samples.subarray(from * frameSamples), hertz) / (frames - from)
}

let linesTried = 0

/** A call over a line: what its phone heard, what was recorded of the phone, and what the call says of its quality. */
async function callOver(line: Line) {
  const account = await installation.account()
  const client = installation.client(0, account.key)
  const number = `+254700${String(444_000 + linesTried++)}`
  const shop = await startReceiver()
  const flow = [
    { action: 'record', channels: 2, split: 'conversation' },
    { action: 'stream', streamUrl: [shop.url('/hum.wav')], loop: 0 },
  ]
  const wav = writeWav([hum(played)])
  shop.answer(({ url }, response) => void response.end(url === '/hum.wav' ? wav : JSON.stringify(flow)))
  const path = `/v1/voice/numbers/${encodeURIComponent(number)}/assign`
  const assigned = await client.post(path, { application: { answer_url: shop.url('/answer') } })
  assert.equal(assigned.status, 200, assigned.text)
  const phone = await callByBadLine(line, number, installation.sipPort(0), hummed)
  try {
    const id = JSON.parse((await shop.next('/answer')).body).call_id
    const wantedSamples = (judgedSeconds + 2) * secondFrames * frameSamples
    await eventually(async () => phone.heard().length > wantedSamples, 'the phone to have heard enough', 60_000)
    const heard = phone.heard()
    await client.post(`/v1/voice/${id}/hangup`, {})
    const call = await eventually(async () => {
      const { body } = await client.get(`/v1/voice/${id}`)
      return body.ended_at ? body : null
    }, 'the call to end')
    const ready = await eventually(async () => {
      const { body } = await client.get(`/v1/voice/recording/${call.recording_ids[0]}`)
      return body.status === 'ready' ? body : null
    }, 'the recording')
    const { bytes } = await fetched(installation.ca, ready.file_url)
    const left = Int16Array.from({ length: (bytes.length - 44) / 4 }, (_, i) => bytes.readInt16LE(44 + 4 * i))
    return { heard: shareOf(heard, played), left, call }
  } finally {
    await phone.stop()
    await shop.stop()
  }
}

/** What is to be understood of each line both ways, and what the quality is to say of it. */
const lines: readonly (Line & {
  name: string
  least: number
  lossPercent: readonly [number, number]
  jitter: number
})[] = [
  { name: '2 % loss', loss: 0.02, jitterMs: 0, least: 0.95, lossPercent: [0.5, 6], jitter: 0 },
  { name: '5 % loss', loss: 0.05, jitterMs: 0, least: 0.93, lossPercent: [2, 10], jitter: 0 },
  { name: '80 ms of jitter', loss: 0, jitterMs: 80, least: 0.9, lossPercent: [0, 4], jitter: 8 },
]

for (const { name, least, lossPercent, jitter, ...line } of lines)
  test(`a call with ${name} is understood both ways, and its quality says so`, async (t) => {
    // A crowded machine leaves frames out by itself; then it is tried again.
    await eventually(async () => {
      const { heard, left, call } = await callOver(line)
      const said = shareOf(left, hummed)
      const { packet_loss_pct, jitter_ms, mos } = call.quality
      t.diagnostic(JSON.stringify({ heard, said, packet_loss_pct, jitter_ms, mos }))
      const isSeen = packet_loss_pct >= lossPercent[0] && packet_loss_pct <= lossPercent[1] && jitter_ms >= jitter
      return heard >= least && said >= least && isSeen
    }, 'the call to be understood')
  })

test('where nothing came from a phone its recording is silent, as long as its call, and the quality sees what is missing', async (t) => {
  await eventually(async () => {
    const { left, call } = await callOver({ loss: 0, jitterMs: 0, dead: [150, 249] })
    const frames = Array.from({ length: left.length / frameSamples }, (_, i) =>
      left.subarray(i * frameSamples, (i + 1) * frameSamples),
    )
    const hums = frames.map((frame) => framesWith(frame, hummed) === 1)
    const [first, last] = [hums.indexOf(true), hums.lastIndexOf(true)]
    const silent = frames.slice(first, last).filter((frame) => rms(frame) < 20).length
    const seconds = left.length / (secondFrames * frameSamples)
    t.diagnostic(JSON.stringify({ silent, seconds, duration: call.duration, quality: call.quality }))
    const isWhole = Math.abs(seconds - call.duration) < 1.5
    return isWhole && silent >= 85 && silent <= 115 && call.quality.packet_loss_pct > 10
  }, 'the gap to be silence')
})
