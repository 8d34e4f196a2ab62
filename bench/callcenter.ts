// SPDX-License-Identifier: Apache-2.0
// The call centre: calls that wait in a queue and are given to agents, over real SIP and RTP; desks in browsers that one core
// carries; a report over many calls.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { MediaStreamTrack, RTCPeerConnection, RTCRtpCodecParameters } from 'werift'
import { WebRtcLeg } from '../src/areas/voice/browser/webrtc-leg.ts'
import { statement } from '../src/platform/db.ts'
import { headerBytes, writeRtpHeader } from '../src/protocols/rtp/packet.ts'
import { assign, done, numberOf, queueOf } from '../test/callcentre.ts'
import { eventually } from '../test/eventually.ts'
import { type Account, startWorld, tenantOf, type World } from '../test/world.ts'
import type { Figure } from './report.ts'

export async function callcenter({ short }: { short: boolean }): Promise<Figure[]> {
  const world = await startWorld({ PAMOJA_VOICE_LATENESS_MS: 60_000 })
  try {
    return [
      await givenCalls(world, short ? 3 : 50),
      await deskCost(short ? 2 : 10, short ? 1_000 : 10_000),
      await longReport(world, short ? 2_000 : 1_000_000),
    ]
  } finally {
    await world.stop()
  }
}

/** So many callers wait, then as many agents log in: how long until everybody speaks with somebody. */
async function givenCalls(world: World, count: number): Promise<Figure> {
  const ada = await world.account({ balance: 10_000 })
  const queue = await queueOf(ada, { max_size: 1_000 })
  await assign(ada, { queue_id: queue })
  const live = async () => (await ada.client.get(`/v1/voice/queue/${queue}`)).body.live
  const beganMs = performance.now()
  for (let i = 0; i < count; i++)
    await done(ada, '/v1/sandbox/voice/inbound', { from: numberAt(i), to: numberOf(ada) }, 201)
  await eventually(async () => (await live()).waiting === count, 'everybody to wait')
  const waitingMs = performance.now()
  for (let i = 0; i < count; i++)
    await done(ada, '/v1/voice/agent/login', {
      agent_id: `agent-${i}`,
      queues: [queue],
      endpoint: { type: 'phone', number: numberAt(10_000 + i) },
    })
  await eventually(async () => (await spoken(ada)) >= count, 'everybody to be served')
  const doneMs = performance.now()
  return {
    name: `calls queued and given to agents, ${count} at once`,
    value: count / ((doneMs - waitingMs) / 1_000),
    unit: `calls/s (queued ${Math.round(count / ((waitingMs - beganMs) / 1_000))}/s)`,
  }
}

async function spoken(ada: Account): Promise<number> {
  return (await ada.client.get('/v1/call-center/metrics/realtime')).body.totals.agents_on_call
}

/** Phones of the sandbox that answer at once and stay: their last two digits are above ten. */
function numberAt(i: number): string {
  return `+2547${String(10_000_000 + Math.floor(i / 80) * 100 + 20 + (i % 80))}`
}

/** Browser and desk together, in one process, both ways: each does one half of the work, so that a desk is half of what they cost. */
async function deskCost(count: number, forMs: number): Promise<Figure> {
  const pairs = await Promise.all(Array.from({ length: count }, () => pairOf()))
  const before = process.cpuUsage()
  const beganMs = performance.now()
  for (let tick = 1; tick * 20 <= forMs; tick++) {
    for (const { speak } of pairs) speak(tick)
    await new Promise((resume) => setTimeout(resume, Math.max(0, beganMs + tick * 20 - performance.now())))
  }
  const { user, system } = process.cpuUsage(before)
  // By the time of the audio: on a machine that is busy it takes longer, at the same cost.
  const share = (user + system) / 1_000 / forMs / count / 2
  for (const { close } of pairs) await close()
  return { name: `desks in browsers per core, of ${count}`, value: 1 / share, unit: 'desks' }
}

const place = { host: '127.0.0.1', browserHost: '127.0.0.1', ports: null }

async function pairOf() {
  let connected: () => void = () => undefined
  const isConnected = new Promise<void>((resolve) => {
    connected = resolve
  })
  const changed = (state: string) => state === 'connected' && connected()
  const { leg, sdp } = await WebRtcLeg.open(place, () => performance.now(), changed)
  // The room, which hears the desk and speaks to it.
  const room = createSocket('udp4').bind(0, '127.0.0.1')
  await once(room, 'listening')
  const codec = new RTCRtpCodecParameters({ mimeType: 'audio/PCMU', clockRate: 8_000, channels: 1, payloadType: 0 })
  const peer = new RTCPeerConnection({
    codecs: { audio: [codec], video: [] },
    headerExtensions: { audio: [], video: [] },
    iceServers: [],
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: ['127.0.0.1'],
    iceInterfaceAddresses: { udp4: '127.0.0.1' },
  })
  await peer.setRemoteDescription({ type: 'offer', sdp })
  const track = new MediaStreamTrack({ kind: 'audio' })
  for (const one of peer.getTransceivers()) {
    await one.sender.replaceTrack(track)
    one.setDirection('sendrecv')
  }
  await peer.setLocalDescription(await peer.createAnswer())
  await leg.answer(peer.localDescription?.sdp ?? '')
  await isConnected
  leg.bridge({ host: '127.0.0.1', port: room.address().port })
  const packet = Buffer.alloc(headerBytes + 160, 0x55)
  return {
    speak: (tick: number) => {
      writeRtpHeader(packet, {
        payloadType: 0,
        marker: false,
        sequence: tick & 0xffff,
        timestamp: tick * 160,
        source: 1,
      })
      track.writeRtp(Buffer.from(packet))
      room.send(Buffer.from(packet), leg.port, '127.0.0.1')
    },
    close: async () => {
      room.close()
      await Promise.all([leg.close(), peer.close()])
    },
  }
}

/** Rows that are written in one statement. */
const atOnce = 50_000

const fill = statement.tenant<
  { bucket: number; account: string; environment: string; first: number; last: number },
  object
>(
  'bench.fill_contacts',
  `insert into callcenter.contacts (bucket, account_id, environment, id, call_id, room_id, agent_id, direction, from_number,
     to_number, state, outcome, priority, entered_at, answered_at, ended_at, wrapped_at, in_threshold)
   select $bucket, $account, $environment, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'agent-' || n % 100, 'inbound',
          '+2547' || (10000000 + n % 200000), '+254700000000', 'ended', 'answered', 5, at, at + interval '12 seconds',
          at + interval '3 minutes', at + interval '200 seconds', n % 3 = 0
     from (select n, timestamptz '2026-01-01' + n * interval '20 seconds' as at from generate_series($first::int, $last::int) n) calls`,
)

async function longReport(world: World, count: number): Promise<Figure> {
  const ada = await world.account()
  for (let first = 1; first <= count; first += atOnce)
    await world.app.db.query(fill, { ...tenantOf(ada), first, last: Math.min(count, first + atOnce - 1) })
  const beganMs = performance.now()
  const { status, body } = await ada.client.get(
    '/v1/call-center/reports?from=2026-01-01&to=2026-12-31&interval=month&group_by=agent',
  )
  if (status !== 200 || body.totals.answered !== count) throw new Error(`the report says ${status}`)
  return {
    name: `a report over ${count.toLocaleString('en')} calls`,
    value: (performance.now() - beganMs) / 1_000,
    unit: 's',
  }
}
