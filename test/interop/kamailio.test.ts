// SPDX-License-Identifier: Apache-2.0
// Kamailio, a SIP proxy that is not ours, in front, over UDP, TCP and TLS: calls come through it and go out through it, and it
// stays on the way of every later request (Record-Route). SIPp is the phone behind it, over TCP where the proxy speaks TLS to us.
// Debian has them in the packages `kamailio`, `kamailio-tls-modules` and `sip-tester`; PAMOJA_REQUIRE_KAMAILIO=1 makes their absence
// a failure.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { serverIdentity } from '../../src/platform/http/certificates.ts'
import { eventually, patienceMs } from '../eventually.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { startWorld, type World } from '../world.ts'

const missing = ['kamailio', 'sipp'].filter(
  (program) => spawnSync('sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${program}`]).status !== 0,
)
const isRequired = process.env.PAMOJA_REQUIRE_KAMAILIO === '1'
const skip = missing.length > 0 && !isRequired ? `not installed: ${missing.join(', ')}` : false

const transports = ['udp', 'tcp', 'tls'] as const
type Transport = (typeof transports)[number]

const hasTls = readdirSync('/usr/lib').some((folder) => existsSync(`/usr/lib/${folder}/kamailio/modules/tls.so`))

/** Reason why a transport cannot be tried here. */
function withoutTransport(transport: Transport): string | false {
  return skip || (transport === 'tls' && !hasTls && !isRequired ? 'not installed: kamailio-tls-modules' : false)
}

const proxyHost = '127.0.0.5'
/** The certificate of the proxy is for this one, by its name and its address. */
const secureHost = '127.0.0.1'
const phoneHost = '127.0.0.6'

let world: World
let shop: Receiver
let dir: string
let proxy: ChildProcess
let ports: { proxy: number; secure: number; phone: number; ours: Record<Transport, number> }
before(async () => {
  if (skip) return
  dir = await mkdtemp(join(tmpdir(), 'pamoja-kamailio-'))
  const { key, cert, caFile } = await serverIdentity({ dir: join(dir, 'tls'), now: new Date() })
  await writeFile(join(dir, 'key.pem'), key)
  await writeFile(join(dir, 'cert.pem'), cert)
  world = await startWorld({ PAMOJA_SIP_CA_FILE: caFile ?? '' })
  shop = await startReceiver()
  const { port: udp, tcpPort: tcp, tlsPort: tls } = telephoneNetworkOf(world.app).address
  const [own, secure, phone] = [await freePort(proxyHost), await freePort(secureHost), await freePort(phoneHost)]
  ports = { proxy: own, secure, phone, ours: { udp, tcp, tls } }
  proxy = await startProxy()
})
after(async () => {
  if (proxy?.exitCode === null) {
    proxy.kill('SIGTERM')
    await once(proxy, 'exit')
  }
  if (dir) await rm(dir, { recursive: true, force: true })
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

const numbers = { udp: '+254700333666', tcp: '+254700333667', tls: '+254700333668' }

/** A proxy that sends what comes from the phone to us and everything else to the phone, and wants to see all that follows. */
async function startProxy(): Promise<ChildProcess> {
  const withTls = `enable_tls=yes
listen=tls:${secureHost}:${ports.secure}
loadmodule "tls.so"
modparam("tls", "tls_method", "TLSv1.2+")
modparam("tls", "private_key", "${join(dir, 'key.pem')}")
modparam("tls", "certificate", "${join(dir, 'cert.pem')}")`
  const config = `#!KAMAILIO
debug=0
log_stderror=yes
children=1
tcp_children=1
auto_aliases=no
listen=udp:${proxyHost}:${ports.proxy}
listen=tcp:${proxyHost}:${ports.proxy}
${['tm', 'sl', 'rr', 'pv', 'siputils', 'textops'].map((name) => `loadmodule "${name}.so"`).join('\n')}
${hasTls ? withTls : ''}
request_route {
  if (is_method("OPTIONS") && !has_totag()) { sl_send_reply("200", "OK"); exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) { t_relay(); } exit; }
  if (has_totag()) {
    if (loose_route()) { t_relay(); exit; }
    if (is_method("ACK") && t_check_trans()) { t_relay(); exit; }
    sl_send_reply("404", "Not here"); exit;
  }
  record_route();
  if ($si != "${phoneHost}" && $proto == "udp") { $du = "sip:${phoneHost}:${ports.phone}"; }
  else if ($si != "${phoneHost}") { $du = "sip:${phoneHost}:${ports.phone};transport=tcp"; }
  else if ($rU == "${numbers.tls}") { $du = "sip:127.0.0.1:${ports.ours.tls};transport=tls"; }
  else if ($proto == "tcp") { $du = "sip:127.0.0.1:${ports.ours.tcp};transport=tcp"; }
  else { $du = "sip:127.0.0.1:${ports.ours.udp}"; }
  t_relay();
}
`
  const file = join(dir, 'kamailio.cfg')
  await writeFile(file, config)
  const path = `${process.env.PATH ?? ''}:/usr/sbin`
  const options = ['-f', file, '-DD', '-E', '-Y', dir, '-P', join(dir, 'pid')]
  const child = spawn('kamailio', options, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: path } })
  let output = ''
  child.stderr.on('data', (text) => (output += text))
  await eventually(async () => {
    assert.equal(child.exitCode, null, output)
    return isThere(proxyHost, ports.proxy)
  }, 'kamailio to answer')
  return child
}

/** Whether somebody answers OPTIONS at an address. */
async function isThere(host: string, port: number): Promise<boolean> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const own = `127.0.0.1:${socket.address().port}`
  const head = [
    `OPTIONS sip:${host}:${port} SIP/2.0`,
    `Via: SIP/2.0/UDP ${own};branch=z9hG4bKthere`,
    `From: <sip:test@${own}>;tag=1`,
    `To: <sip:${host}>`,
    'Call-ID: there',
    'CSeq: 1 OPTIONS',
    'Max-Forwards: 5',
    'Content-Length: 0',
  ]
  socket.send(`${head.join('\r\n')}\r\n\r\n`, port, host)
  const answer = await Promise.race([once(socket, 'message'), once(AbortSignal.timeout(500), 'abort')])
  socket.close()
  return answer[0] instanceof Buffer
}

const description = `v=0
o=phone 1 1 IN IP4 ${phoneHost}
s=-
c=IN IP4 ${phoneHost}
t=0 0
m=audio 30000 RTP/AVP 0
a=rtpmap:0 PCMU/8000`

/** A request must have passed the proxy last; who sent it is kept as $2. */
const overProxy = `<action>
<ereg regexp="${proxyHost}" search_in="hdr" header="Via:" check_it="true" assign_to="1"/>
<ereg regexp=".*" search_in="hdr" header="From:" check_it="true" assign_to="2"/>
</action>`
const message = (text: string) => `<send><![CDATA[\n${text}\n]]></send>`

async function scenario(name: string, steps: readonly string[]): Promise<string> {
  const file = join(dir, `${name}.xml`)
  const whole = `<?xml version="1.0"?><scenario name="${name}">${steps.join('\n')}<Reference variables="1,2"/></scenario>`
  await writeFile(file, whole)
  return file
}

function sipp(transport: Transport, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const own = [
    '-t',
    transport === 'udp' ? 'u1' : 't1',
    '-i',
    phoneHost,
    '-p',
    String(ports.phone),
    '-m',
    '1',
    '-nostdin',
    '-timeout',
    '60s',
    '-timeout_error',
  ]
  const child = spawn('sipp', [...args, ...own], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dir,
    env: { ...process.env, TERM: 'dumb' },
    timeout: patienceMs(90_000),
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  return once(child, 'exit').then(([code]) => ({ code: typeof code === 'number' ? code : null, output }))
}

for (const transport of transports)
  test(`a call comes through the proxy over ${transport}, and our hanging up goes back through it`, {
    skip: withoutTransport(transport),
  }, async () => {
    const ada = await world.account({ balance: 100 })
    const number = numbers[transport]
    shop.answer((_request, response) => void response.end(JSON.stringify([{ action: 'wait', timeout: 1 }])))
    await ada.client.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
      application: { answer_url: shop.url(`/proxied-${transport}`) },
    })
    const from = 'From: <sip:+254711000088@[local_ip]:[local_port]>;tag=[call_number]'
    const own = 'Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]'
    const contact = 'Contact: <sip:phone@[local_ip]:[local_port];transport=[transport]>'
    const file = await scenario('caller', [
      message(`INVITE sip:${number}@[remote_ip]:[remote_port] SIP/2.0
${own}
${from}
To: <sip:${number}@[remote_ip]>
Call-ID: [call_id]
CSeq: 1 INVITE
${contact}
Max-Forwards: 70
Content-Type: application/sdp
Content-Length: [len]

${description}`),
      '<recv response="100" optional="true"/><recv response="180" optional="true"/><recv response="200" rrs="true"/>',
      message(`ACK [next_url] SIP/2.0
${own}
[routes]
${from}
To: <sip:${number}@[remote_ip]>[peer_tag_param]
Call-ID: [call_id]
CSeq: 1 ACK
Max-Forwards: 70
Content-Length: 0
`),
      `<recv request="BYE">${overProxy}</recv>`,
      message(`SIP/2.0 200 OK
[last_Via:]
[last_From:]
[last_To:]
[last_Call-ID:]
[last_CSeq:]
Content-Length: 0
`),
    ])
    const { code, output } = await sipp(transport, ['-sf', file, `${proxyHost}:${ports.proxy}`])
    assert.equal(code, 0, output.slice(-3_000))
    const asked = JSON.parse((await shop.next(`/proxied-${transport}`)).body)
    const over = await eventually(async () => {
      const { body } = await ada.client.get(`/v1/voice/${asked.call_id}`)
      return body.ended_at ? body : null
    }, 'the call to end')
    assert.deepEqual([over.status, over.hangup_by, over.from], ['completed', 'system', '+254711000088'])
  })

for (const transport of transports)
  test(`a live call goes out over ${transport} through the proxy as a trunk, and the phone behind it hangs up`, {
    skip: withoutTransport(transport),
  }, async () => {
    const ada = await world.account()
    const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
    const live = world.stranger.as(key.key)
    const from = { udp: '+254700555777', tcp: '+254700555778', tls: '+254700555779' }[transport]
    await world.operator.post('/v1/operator/voice/numbers', { number: from, account_id: ada.id })
    const credit = { amount: 100, currency: 'KES', environment: 'live', reference: `kamailio-${transport}` }
    await world.operator.post(`/v1/operator/accounts/${ada.id}/credit`, credit)
    await world.operator.post('/v1/operator/voice/rates', { prefix: '+254', currency: 'KES', minute: 3 })
    const where =
      transport === 'tls' ? { host: 'localhost', port: ports.secure } : { host: proxyHost, port: ports.proxy }
    const trunk = { name: `proxy-${transport}`, ...where, transport }
    const entered = await world.operator.post('/v1/operator/voice/trunks', trunk)
    assert.equal(entered.status, 201, JSON.stringify(entered.body))
    const answer = (status: string, body: string) =>
      message(`SIP/2.0 ${status}
[last_Via:]
[last_From:]
[last_To:];tag=[call_number]
[last_Record-Route:]
[last_Call-ID:]
[last_CSeq:]
Contact: <sip:phone@[local_ip]:[local_port];transport=[transport]>
${body}`)
    const file = await scenario('callee', [
      `<recv request="INVITE" rrs="true">${overProxy}</recv>`,
      answer('180 Ringing', 'Content-Length: 0\n'),
      answer('200 OK', `Content-Type: application/sdp\nContent-Length: [len]\n\n${description}`),
      `<recv request="ACK">${overProxy}</recv>`,
      '<pause milliseconds="1200"/>',
      message(`BYE [next_url] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
[routes]
From: <sip:phone@[local_ip]:[local_port]>;tag=[call_number]
To: [$2]
[last_Call-ID:]
CSeq: 1 BYE
Max-Forwards: 70
Content-Length: 0
`),
      '<recv response="200"/>',
    ])
    const phone = sipp(transport, ['-sf', file])
    const wanted = { from, to: '+254711000020', actions: [{ action: 'wait', timeout: 600 }] }
    const placed = await eventually(async () => {
      const { status, body } = await live.post('/v1/voice/calls', wanted)
      return status === 201 ? body : null
    }, 'the trunk to be known')
    const over = await eventually(async () => {
      const { body } = await live.get(`/v1/voice/${placed.call_id}`)
      return body.ended_at ? body : null
    }, 'the call to end')
    const { code, output } = await phone
    assert.equal(code, 0, output.slice(-3_000))
    assert.deepEqual([over.status, over.hangup_by, over.hangup_cause], ['completed', 'callee', 'normal'])
    assert.ok(over.cost > 0, 'what was spoken is charged')
    await world.operator.delete(`/v1/operator/voice/trunks/${trunk.name}`)
  })
