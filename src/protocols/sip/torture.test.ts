// SPDX-License-Identifier: Apache-2.0
// The messages of RFC 4475, shortened where their length is not the point: those that every element must take, and those that
// it must refuse. Names are the RFC's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseAddress, parseUri, parseVia } from './header-values.ts'
import { MessageError, parseMessage, type SipMessage, serialise } from './message.ts'

const bytes = (...lines: string[]): Buffer => Buffer.from(lines.join('\r\n'))
const sdp =
  'v=0\r\no=mhandley 29739 7272939 IN IP4 192.0.2.3\r\ns=-\r\nc=IN IP4 192.0.2.4\r\nt=0 0\r\nm=audio 49217 RTP/AVP 0 12\r\n'

/** A plain request with one thing changed. */
function request(
  changes: Record<string, string | null> = {},
  start = 'OPTIONS sip:user@example.com SIP/2.0',
  body = '',
): Buffer {
  const method = start.split(' ')[0] ?? ''
  const fields: Record<string, string | null> = {
    To: 'sip:user@example.com',
    From: 'sip:caller@example.org;tag=33242',
    'Max-Forwards': '70',
    'Call-ID': 'plain.7asdlnkjh2',
    CSeq: `8 ${method}`,
    Via: 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKkdjuw',
    'Content-Length': String(Buffer.byteLength(body)),
    ...changes,
  }
  const lines = Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]))
  return bytes(start, ...lines, '', body)
}

const wsinv = bytes(
  'INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0',
  'TO :',
  ' sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n',
  'from   : "J Rosenberg \\\\\\""       <sip:jdrosen@example.com>',
  '  ;',
  '  tag = 98asjd8',
  'MaX-fOrWaRdS: 0068',
  'Call-ID: wsinv.ndaksdj@192.0.2.1',
  'Content-Length   : 0',
  'cseq: 0009',
  '  INVITE',
  'Via  : SIP  /   2.0',
  ' /UDP',
  '    192.0.2.2;branch=390skdjuw',
  's :',
  'NewFangledHeader:   newfangled value',
  ' continued newfangled value',
  'UnknownHeaderWithUnusualValue: ;;,,;;,;',
  'Content-Type: application/sdp',
  'Route:',
  ' <sip:services.example.com;lr;unknownwith=value;unknown-no-value>',
  'v:  SIP  / 2.0  / TCP     spindle.example.com   ;',
  '  branch  =   z9hG4bK9ikj8  ,',
  ' SIP  /    2.0   / UDP  192.168.255.111   ; branch=',
  ' z9hG4bK30239',
  'm:"Quoted string \\"\\"" <sip:jdrosen@example.com> ; newparam =',
  '      newvalue ;',
  '  secondparam ; q = 0.33',
  '',
  '',
)

test('a message of folded lines and odd spaces says what it says (wsinv)', () => {
  const message = parseMessage(wsinv)
  assert.ok(message.kind === 'request')
  const vias = message.headers.all('via').map(parseVia)
  assert.deepEqual(
    vias.map(({ transport, host, parameters }) => [transport, host, parameters.get('branch')]),
    [
      ['UDP', '192.0.2.2', '390skdjuw'],
      ['TCP', 'spindle.example.com', 'z9hG4bK9ikj8'],
      ['UDP', '192.168.255.111', 'z9hG4bK30239'],
    ],
  )
  assert.equal(parseAddress(message.headers.get('from') ?? '').display, 'J Rosenberg \\"')
  assert.equal(parseAddress(message.headers.get('to') ?? '').parameters.get('tag'), '1918181833n')
  assert.equal(message.headers.get('newfangledheader'), 'newfangled value continued newfangled value')
  const contact = parseAddress(message.headers.all('contact')[0] ?? '')
  assert.deepEqual(
    [contact.display, contact.parameters.get('newparam'), contact.parameters.get('q')],
    ['Quoted string ""', 'newvalue', '0.33'],
  )
})

const taken: Record<string, Buffer> = {
  intmeth: request(
    {
      CSeq: "139122385 !interesting-Method0123456789_*+`.%indeed'~",
      From: "token1~` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%=\"\u0440\u0430\u0431\";tag=_token~1'+`*%!-.",
    },
    "!interesting-Method0123456789_*+`.%indeed'~ sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0",
  ),
  esc01: request({}, 'INVITE sip:sips%3Auser%40example.com@example.net SIP/2.0'),
  escnull: request(
    { Contact: '<sip:%00@host5.example.com>, <sip:%00%00@host5.example.com>' },
    'REGISTER sip:example.com SIP/2.0',
  ),
  esc02: request({ 'Max-Forwards': '87' }, 'RE%47IST%45R sip:registrar.example.com SIP/2.0'),
  lwsdisp: request({ From: 'caller<sip:caller@example.com>;tag=323' }),
  longreq: request(
    {
      To: `"I have a user name of ${'extreme'.repeat(40)} proportion" <sip:user@example.com>`,
      Via: Array.from({ length: 34 }, (_, i) => `SIP/2.0/TCP sip${i}.example.com;branch=z9hG4bK${i}`).join(', '),
    },
    'INVITE sip:user@example.com SIP/2.0',
  ),
  dblreq: Buffer.concat([
    request({}, 'REGISTER sip:example.com SIP/2.0'),
    request({}, 'INVITE sip:joe@example.com SIP/2.0'),
  ]),
  semiuri: request({}, 'OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0'),
  transports: request({
    Via: 'SIP/2.0/UDP t1.example.com;branch=z9hG4bKkdjuw, SIP/2.0/SCTP t2.example.com;branch=z9hG4bKklasjdhf, SIP/2.0/TLS t3.example.com;branch=z9hG4bK2980unddj, SIP/2.0/UNKNOWN t4.example.com;branch=z9hG4bKasd0f3en',
  }),
  unreason: bytes(
    'SIP/2.0 200 = 2**3 * 5**2 но сто девяносто девять - простое',
    ...request({}, 'INVITE x SIP/2.0').toString().split('\r\n').slice(1),
  ),
  noreason: bytes('SIP/2.0 100 ', ...request({}, 'INVITE x SIP/2.0').toString().split('\r\n').slice(1)),
  unkscm: request({}, 'OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0'),
  novelsc: request({}, 'OPTIONS soap.beep://192.0.2.103:3002 SIP/2.0'),
  unksm2: request(
    { To: 'isbn:2983792873', From: '<http://www.example.com>;tag=3234233' },
    'REGISTER sip:example.com SIP/2.0',
  ),
  badbranch: request({ Via: 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK' }),
  inv2543: request(
    {
      'Max-Forwards': null,
      Via: 'SIP/2.0/UDP iftgw.example.com',
      Contact: '<sip:+1 9725552222@gw1.example.net;unknownparam>'.replace(' ', ''),
    },
    'INVITE sip:UserB@example.com SIP/2.0',
    sdp,
  ),
  cparam02: request({ Contact: '<sip:+19725552222@gw1.example.net;unknownparam>' }, 'REGISTER sip:example.com SIP/2.0'),
  regescrt: request(
    { Contact: '<sip:user@example.com?Route=%3Csip:sip.example.com%3E>' },
    'REGISTER sip:example.com SIP/2.0',
  ),
  zeromf: request({ 'Max-Forwards': '0' }),
  ipv6: request(
    { Via: 'SIP/2.0/UDP [2001:db8::9:1]:5070;branch=z9hG4bKas3-111' },
    'REGISTER sip:[2001:db8::10] SIP/2.0',
  ),
}

const refused: Record<string, [number | null, Buffer]> = {
  badinv01: [
    400,
    request(
      { Via: 'SIP/2.0/UDP 192.0.2.15;;,;,,', Contact: '"Joe" <sip:joe@example.org>;;;;' },
      'INVITE sip:user@example.com SIP/2.0',
    ),
  ],
  clerr: [400, request({ 'Content-Length': '9999' }, 'INVITE sip:user@example.com SIP/2.0', sdp)],
  ncl: [400, request({ 'Content-Length': '-999' }, 'INVITE sip:user@example.com SIP/2.0', sdp)],
  scalar02: [
    400,
    request({ CSeq: '36893488147419103232 REGISTER', 'Max-Forwards': '300' }, 'REGISTER sip:example.com SIP/2.0'),
  ],
  quotbal: [400, request({ To: '"Mr. J. User <sip:j.user@example.com>' }, 'INVITE sip:user@example.com SIP/2.0')],
  ltgtruri: [400, request({}, 'INVITE <sip:user@example.com> SIP/2.0')],
  lwsruri: [400, request({}, 'INVITE sip:user@example.com; lr SIP/2.0')],
  lwsstart: [400, request({}, 'INVITE  sip:user@example.com  SIP/2.0')],
  trws: [400, request({}, 'OPTIONS sip:remote-target@example.com SIP/2.0  ')],
  escruri: [400, request({}, 'INVITE sip:user@example.com?Route=%3Csip:example.com%3E SIP/2.0')],
  regbadct: [
    400,
    request({ Contact: 'sip:user@example.com?Route=%3Csip:sip.example.com%3E' }, 'REGISTER sip:example.com SIP/2.0'),
  ],
  baddn: [400, request({ From: 'Bell, Alexander <sip:a.g.bell@example.com>;tag=43' })],
  badvers: [505, request({}, 'OPTIONS sip:t.watson@example.org SIP/7.0')],
  mismatch01: [400, request({ CSeq: '8 INVITE' })],
  mismatch02: [400, request({ CSeq: '8 INVITE' }, 'NEWMETHOD sip:user@example.com SIP/2.0')],
  insuf: [
    400,
    request({ To: null, From: null, 'Call-ID': null, CSeq: '193942 INVITE' }, 'INVITE sip:user@example.com SIP/2.0'),
  ],
  mcl01: [400, bytes(...request({}).toString().trimEnd().split('\r\n'), 'Content-Length: 12', '', '')],
  multi01: [400, bytes(...request({}).toString().trimEnd().split('\r\n'), 'CSeq: 59 OPTIONS', '', '')],
  bigcode: [
    400,
    bytes('SIP/2.0 4294967301 better not break the receiver', ...request({}).toString().split('\r\n').slice(1)),
  ],
  scalarlg: [
    400,
    bytes(
      'SIP/2.0 503 Service Unavailable',
      ...request({ CSeq: '9292394834772304023312 OPTIONS' }).toString().split('\r\n').slice(1),
    ),
  ],
  nothing: [400, Buffer.from('hello\r\n\r\n')],
  endless: [513, Buffer.alloc(60_000, 'a')],
  badport: [400, request({}, 'OPTIONS sip:user@example.com:99999 SIP/2.0')],
  badescape: [400, request({}, 'OPTIONS sip:us%zzer@example.com SIP/2.0')],
}

test('what RFC 4475 says is well formed is taken, and written as it was', () => {
  for (const [name, message] of Object.entries(taken)) {
    const read = parseMessage(message)
    assert.deepEqual(essence(parseMessage(serialise(read))), essence(read), name)
  }
})

test('what RFC 4475 says is malformed is refused with its status', () => {
  for (const [name, [status, message]] of Object.entries(refused))
    assert.throws(
      () => parseMessage(message),
      (error) => error instanceof MessageError && error.status === status,
      name,
    )
})

test('a header never carries a line break further', () => {
  const read = parseMessage(request({}))
  read.headers.add('subject', 'one\r\nInjected: two')
  assert.equal(parseMessage(serialise(read)).headers.get('injected'), null)
})

test('URIs give user, host, port and parameters', () => {
  const uri = parseUri('sip:%2B254711000001:secret@[2001:db8::1]:5070;transport=tcp;lr')
  assert.deepEqual(
    [uri.user, uri.host, uri.port, [...uri.parameters]],
    [
      '+254711000001',
      '[2001:db8::1]',
      5070,
      [
        ['transport', 'tcp'],
        ['lr', null],
      ],
    ],
  )
  assert.equal(parseUri('tel:+254-711-000-001;ext=9').user, '+254711000001')
})

test('ten thousand spoiled datagrams are read or refused, and nothing else happens', () => {
  const seeds = [...Object.values(taken), ...Object.values(refused).map(([, message]) => message), wsinv].filter(
    (seed) => seed.length < 4_000,
  )
  const spoil = fc.record({
    seed: fc.nat(seeds.length - 1),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(12),
    insert: fc.oneof(
      fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array)),
      fc.constantFrom(...['\r\n', ';', '"', '<', ',', ':', '%', '\r\n ', '=']).map((text) => Buffer.from(text)),
    ),
  })
  fc.assert(
    fc.property(spoil, ({ seed, at, cut, insert }) => {
      const whole = seeds[seed] ?? Buffer.alloc(0)
      const place = Math.floor(at * whole.length)
      const datagram = Buffer.concat([whole.subarray(0, place), insert, whole.subarray(place + cut)])
      try {
        serialise(parseMessage(datagram))
      } catch (error) {
        assert.ok(error instanceof MessageError, String(error))
      }
    }),
    { numRuns: 10_000 },
  )
})

function essence(message: SipMessage): unknown {
  const start = message.kind === 'request' ? [message.method, message.uri] : [message.status, message.reason]
  const names = ['via', 'to', 'from', 'call-id', 'cseq', 'contact', 'max-forwards']
  return [start, names.map((name) => message.headers.all(name)), message.body.toString()]
}
