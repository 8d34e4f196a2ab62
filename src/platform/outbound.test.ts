// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { AppError } from '../kernel/errors.ts'
import { serverIdentity } from './certificates.ts'
import { type OutboundPolicy, parseTarget, type UrlUse } from './customer-urls.ts'
import { type Lookup, Outbound, type OutboundRequest, type Outcome } from './outbound.ts'
import type { Environment } from './tenant.ts'

const production: OutboundPolicy = {
  production: true,
  allowPrivate: true,
  allowHttp: false,
  allowCidrs: [],
  denyCidrs: [],
  extraCa: null,
  proxy: null,
}
const development: OutboundPolicy = { ...production, production: false }
/** Production, except that this machine counts as the internet. */
const toOurselves: OutboundPolicy = { ...production, allowCidrs: ['127.0.0.0/8'] }
const plainToOurselves: OutboundPolicy = { ...toOurselves, allowHttp: true }

/** What names lead to here; any other does not resolve. */
const zone: Readonly<Record<string, readonly string[]>> = {
  'hooks.example.com': ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'],
  'four.example.com': ['93.184.216.34'],
  'six.example.com': ['2606:2800:220:1:248:1893:25c8:1946'],
  'a_b.example.com': ['93.184.216.34'],
  'xn--mller-kva.example': ['93.184.216.34'],
  'xn--r8jz45g.xn--zckzah': ['93.184.216.34'],
  'local.example.com': ['93.184.216.34'],
  'localhost.example.com': ['93.184.216.34'],
  localhost: ['127.0.0.1', '::1'],
  'app.localhost': ['127.0.0.1'],
  'loop.example.com': ['127.0.0.1'],
  'loop6.example.com': ['::1'],
  'ten.example.com': ['10.0.0.5'],
  'rfc1918.example.com': ['192.168.1.1'],
  'seventeen.example.com': ['172.20.0.1'],
  'ula.example.com': ['fd12:3456::1'],
  'meta.example.com': ['169.254.169.254'],
  'meta6.example.com': ['fd00:ec2::254'],
  'azure.example.com': ['168.63.129.16'],
  'zero.example.com': ['0.0.0.0'],
  'zero6.example.com': ['::'],
  'cgnat.example.com': ['100.64.0.1'],
  'multicast.example.com': ['224.0.0.1'],
  'broadcast.example.com': ['255.255.255.255'],
  'mapped.example.com': ['::ffff:127.0.0.1'],
  'mappedmeta.example.com': ['::ffff:169.254.169.254'],
  'compatible.example.com': ['::127.0.0.1'],
  'nat64.example.com': ['64:ff9b::a00:1'],
  'sixtofour.example.com': ['2002:7f00:1::'],
  'teredo.example.com': ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'linklocal.example.com': ['fe80::1'],
  'zoned.example.com': ['fe80::1%eth0'],
  'sitelocal.example.com': ['fec0::1'],
  'docs.example.com': ['2001:db8::1'],
  'mixed.example.com': ['93.184.216.34', '10.0.0.5'],
  'mixedlast.example.com': [
    '93.184.216.34',
    '8.8.8.8',
    '1.1.1.1',
    '9.9.9.9',
    '4.4.4.4',
    '5.5.5.5',
    '6.6.6.6',
    '127.0.0.1',
  ],
  'mixed6.example.com': ['93.184.216.34', '::1'],
  'mixedclass.example.com': ['127.0.0.1', '169.254.169.254'],
  'nonsense.example.com': ['not-an-address'],
}

const zoneLookup: Lookup = (hostname) => {
  const found = zone[hostname]
  if (!found) return Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
  return Promise.resolve(found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
}

/** Refused everywhere: as a webhook and as a callback, with live and test keys, in development and in production. */
const neverUsable: readonly string[] = [
  // Not absolute https URLs.
  ...['', ' ', 'hooks', '/hook', '//hooks.example.com/', 'hooks.example.com', 'https', 'https:', 'https:/', 'https://'],
  ...['https:hooks.example.com', 'https:/hooks.example.com', 'https:///hooks.example.com', 'https://?x', 'https:///'],
  ...[
    'ftp://hooks.example.com/',
    'file:///etc/passwd',
    'gopher://hooks.example.com:6379/_PING',
    'ws://hooks.example.com/',
  ],
  ...[
    'wss://hooks.example.com/',
    'data:text/plain,x',
    'javascript:alert(1)',
    'dict://hooks.example.com:2628/',
    'blob:x',
  ],
  ...[
    'ldap://hooks.example.com/',
    'jar:https://hooks.example.com!/',
    'unix:///run/docker.sock',
    'httpss://a.example.com',
  ],
  ...['http+unix://run/x', 'view-source:https://hooks.example.com/', 'about:blank', 'mailto:a@example.com', 'tel:1'],
  // Characters that parsers disagree about.
  ...[' https://hooks.example.com/', 'https://hooks.example.com/ ', 'https://hooks.example.com/a b'],
  ...['https://hooks.exa\tmple.com/', 'https://hooks.example.com/\r\nHost: x', 'https://hooks.example.com/\n'],
  ...['https://hooks.example.com/\0', 'https://hooks.example.com/\u007f', '\ufeffhttps://hooks.example.com/'],
  ...['https://hooks.example.com\\@evil.example/', 'https:\\\\hooks.example.com\\', 'https://hooks.example.com/\\..'],
  ...['https://hooks\u00ad.example.com/', 'https://hooks\u200b.example.com/', 'https://hooks.example.com/\u2028'],
  ...['https://hooks.example.com/\u3000', 'https://hooks.example.com/\ud800', 'ht\ntps://hooks.example.com/'],
  // Credentials and fragments.
  ...['https://user:password@hooks.example.com/', 'https://user@hooks.example.com/', 'https://@hooks.example.com/'],
  ...['https://:@hooks.example.com/', 'https://:password@hooks.example.com/', 'https://hooks.example.com@127.0.0.1/'],
  ...[
    'https://hooks.example.com:443@127.0.0.1/',
    'https://127.0.0.1@hooks.example.com/',
    'https://a%40b@hooks.example.com/',
  ],
  ...['https://hooks.example.com/#', 'https://hooks.example.com/#part', 'https://hooks.example.com#@127.0.0.1/'],
  // Ports.
  ...[0, 1, 7, 21, 22, 23, 25, 53, 80, 110, 111, 135, 139, 143, 389, 444, 445, 465, 514, 587, 636, 873, 993, 1023].map(
    (port) => `https://hooks.example.com:${port}/`,
  ),
  ...['https://hooks.example.com:65536/', 'https://hooks.example.com:-1/', 'https://hooks.example.com:x/'],
  ...[
    'https://hooks.example.com:443:443/',
    'https://hooks.example.com:0x1bb/',
    'https://hooks.example.com:99999999999/',
  ],
  // Host names.
  ...['https://hooks.example.com./', 'https://localhost./', 'https://example..com/', 'https://.example.com/'],
  ...['https://-a.example.com/', 'https://a-.example.com/', 'https://*.example.com/', 'https://a,b.example.com/'],
  ...["https://a'b.example.com/", 'https://%68ooks.example.com/', 'https://127.0.0.1%2f@x.example/', 'https://%00/'],
  ...[
    'https://hooks.example.com%00.evil.example/',
    'https://hooks.example.com%2f.evil.example/',
    'https://$/',
    'https://[/',
  ],
  ...['https://[]/', 'https://[x]/', 'https://[1.2.3.4]/', 'https://[::1', 'https://::1/', 'https://1.2.3.4.5/'],
  ...['https://256.256.256.256/', 'https://1.2.3.256/', 'https://4294967296/', 'https://hooks.1/', 'https://xn--/'],
  `https://${'a'.repeat(64)}.example.com/`,
  `https://${'a.'.repeat(127)}example/`,
  `https://hooks.example.com/${'a'.repeat(2048)}`,
  // Addresses in disguise.
  ...[
    'https://2130706433/',
    'https://0x7f000001/',
    'https://017700000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
  ],
  ...['https://127.1/', 'https://127.0.1/', 'https://0x7f.1/', 'https://127.0.0.1./', 'https://0/', 'https://0x0/'],
  ...[
    'https://127.0.0.01/',
    'https://127.00.0.1/',
    'https://0x8.0x8.0x8.0x8/',
    'https://134744072/',
    'https://8.8.2056/',
  ],
  ...[
    'https://１２７.０.０.１/',
    'https://127。0。0。1/',
    'https://127．0．0．1/',
    'https://①②⑦.⓪.⓪.①/',
    'https://８.８.８.８/',
  ],
  ...['https://2852039166/', 'https://0xa9fea9fe/', 'https://0251.0376.0251.0376/', 'https://%31%32%37.0.0.1/'],
  // IPv4 inside of IPv6.
  ...['https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/', 'https://[0:0:0:0:0:ffff:127.0.0.1]/'],
  ...['https://[::ffff:8.8.8.8]/', 'https://[::ffff:169.254.169.254]/', 'https://[::ffff:0:127.0.0.1]/'],
  ...['https://[::127.0.0.1]/', 'https://[::7f00:1]/', 'https://[::8.8.8.8]/', 'https://[64:ff9b::127.0.0.1]/'],
  ...[
    'https://[64:ff9b::8.8.8.8]/',
    'https://[64:ff9b:1::1]/',
    'https://[2002:7f00:1::1]/',
    'https://[2002:808:808::]/',
  ],
  ...['https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/', 'https://[2001::1]/'],
  // Addresses that are nobody's, or everybody's.
  ...['https://0.0.0.0/', 'https://0.1.2.3/', 'https://[::]/', 'https://169.254.169.254/latest/meta-data/'],
  ...[
    'https://169.254.170.2/',
    'https://100.100.100.200/',
    'https://100.64.0.1/',
    'https://192.0.0.192/',
    'https://192.0.2.1/',
  ],
  ...[
    'https://168.63.129.16/',
    'https://192.88.99.1/',
    'https://198.18.0.1/',
    'https://198.51.100.1/',
    'https://203.0.113.1/',
  ],
  ...['https://224.0.0.1/', 'https://239.255.255.250:1900/', 'https://240.0.0.1/', 'https://255.255.255.255/'],
  ...[
    'https://[fe80::1]/',
    'https://[fe80::1%25eth0]/',
    'https://[fe80::1%eth0]/',
    'https://[fec0::1]/',
    'https://[ff02::1]/',
  ],
  ...[
    'https://[100::1]/',
    'https://[2001:db8::1]/',
    'https://[3fff::1]/',
    'https://[5f00::1]/',
    'https://[fd00:ec2::254]/',
  ],
  ...['https://[fd20:ce::254]/', 'https://[4000::1]/', 'https://[::2]/', 'https://[2001:10::1]/'],
  // Names of clouds' metadata, and names that lead to where nothing may go.
  ...['https://metadata/', 'https://metadata.google.internal/computeMetadata/v1/', 'https://metadata.goog/'],
  ...['https://METADATA.google.internal/', 'https://instance-data/', 'https://instance-data.ec2.internal/'],
  ...['meta', 'meta6', 'azure', 'zero', 'zero6', 'cgnat', 'multicast', 'broadcast', 'mappedmeta', 'compatible'].map(
    example,
  ),
  ...['nat64', 'sixtofour', 'teredo', 'linklocal', 'zoned', 'sitelocal', 'docs', 'mixedclass', 'nonsense'].map(example),
]

/** Refused except with a test key in development. */
const notPublic: readonly string[] = [
  ...['https://127.0.0.1/', 'https://127.0.0.1:8443/hook', 'https://127.255.255.254/', 'https://127.0.0.1:6379/'],
  ...[
    'https://[::1]/',
    'https://[::1]:3000/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://10.0.0.1/',
    'https://10.0.0.5:6379/',
  ],
  ...['https://172.16.0.1/', 'https://172.31.255.255/', 'https://192.168.0.1/', 'https://192.168.1.254:5432/'],
  ...[
    'https://[fc00::1]/',
    'https://[fd12:3456:789a::1]/',
    'https://localhost/',
    'https://localhost:3000/',
    'https://LOCALHOST/',
  ],
  ...[
    'https://ｌｏｃａｌｈｏｓｔ/',
    'https://ⓛocalhost/',
    'https://app.localhost/',
    'https://a.b.localhost/',
    'https://printer.local/',
  ],
  ...['https://db.internal/', 'https://vault.service.internal:8200/', 'https://kubernetes/', 'https://redis:6379/'],
  ...[
    'https://router.home.arpa/',
    'https://localhost.localdomain/',
    'https://intranet/',
    'https://a/',
    'https://internal/',
  ],
  ...['loop', 'loop6', 'ten', 'rfc1918', 'seventeen', 'ula', 'mapped', 'mixed', 'mixedlast', 'mixed6'].map(example),
]

const usable: readonly string[] = [
  ...['https://hooks.example.com', 'https://hooks.example.com/', 'https://hooks.example.com/a/b?c=d&e=%20'],
  ...['HTTPS://Hooks.Example.COM/Path', 'https://hooks.example.com:443/', 'https://hooks.example.com:1024/'],
  ...['https://hooks.example.com:8443/', 'https://hooks.example.com:65535/', 'https://four.example.com/'],
  ...['https://six.example.com/', 'https://a_b.example.com/', 'https://müller.example/', 'https://例え.テスト/'],
  ...['https://xn--mller-kva.example/', 'https://local.example.com/', 'https://localhost.example.com/'],
  ...['https://8.8.8.8/', 'https://1.1.1.1:8443/hook', 'https://93.184.216.34/', 'https://223.255.255.255/'],
  ...[
    'https://[2606:4700:4700::1111]/',
    'https://[2001:4860:4860:0:0:0:0:8888]/',
    'https://[2A00:1450:4009:81F::200E]:8443/',
  ],
  ...[
    'https://not-registered-yet.example/',
    'https://hooks.example.com/?url=http://127.0.0.1/',
    'https://hooks.example.com//x',
  ],
  ...['https://hooks.example.com/@user', 'https://hooks.example.com/habari/ñandú', 'https://hooks.example.com?x=1'],
  ...['https://hooks.example.com/a/../b', "https://hooks.example.com/it's", 'https://hooks.example.com/:80'],
  `https://hooks.example.com/${'a'.repeat(2022)}`,
]

function example(name: string): string {
  return `https://${name}.example.com/`
}

const uses: readonly UrlUse[] = ['webhook', 'callback']
const environments: readonly Environment[] = ['test', 'live']

test('the tables are as large as they say', () => {
  const hostile = [...neverUsable, ...notPublic]
  assert.equal(new Set(hostile).size, hostile.length)
  assert.ok(hostile.length >= 250 && usable.length >= 30, `${hostile.length} hostile, ${usable.length} good`)
})

test('a URL that nobody may use is refused when it is given, and never called', async () => {
  for (const policy of [production, development, { ...development, allowHttp: true }]) {
    const outbound = new Outbound({ policy, lookup: zoneLookup })
    for (const url of neverUsable)
      for (const environment of environments) {
        for (const use of uses) assertProblem(await problem(outbound, url, use, environment), url)
        await assertBlocked(outbound, url, environment)
      }
  }
})

test('a URL that leads to no public address is refused, except for test keys in development', async () => {
  for (const policy of [production, development, { ...development, allowPrivate: false }]) {
    const outbound = new Outbound({ policy, lookup: zoneLookup })
    for (const url of notPublic)
      for (const environment of environments) {
        const isAllowed = policy === development && environment === 'test'
        const found = await problem(outbound, url, 'webhook', environment)
        if (isAllowed) assert.equal(found, null, url)
        else {
          assertProblem(found, url)
          await assertBlocked(outbound, url, environment)
        }
      }
  }
})

test('a URL with a public address is accepted, as is one whose name does not resolve yet', async () => {
  for (const policy of [production, development]) {
    const outbound = new Outbound({ policy, lookup: zoneLookup })
    for (const url of usable)
      for (const environment of environments)
        for (const use of uses) assert.equal(await problem(outbound, url, use, environment), null, url)
  }
})

test('a name with letters beyond ASCII is accepted however often it was', () => {
  for (let i = 0; i < 10_000; i += 1) assert.ok(!('problem' in parseTarget('https://müller.example/')), `time ${i}`)
})

test('a refusal names the field and says what to do', async () => {
  const outbound = new Outbound({ policy: production, lookup: zoneLookup })
  const said: [url: string, details: string][] = [
    ['hooks', 'url must be an absolute URL that begins with https://.'],
    ['http://hooks.example.com/', 'url must begin with https://; plain http:// is not called.'],
    ['https://hooks.example.com:22/', 'url must use port 443 or a port from 1024 up.'],
    ['https://hooks.example.com/#x', 'url must not have a fragment; remove everything from # on.'],
    [example('ten'), 'url must lead to a public address; give a host that can be reached from the internet.'],
  ]
  for (const [url, details] of said) assert.equal(await problem(outbound, url, 'webhook', 'live'), details)
})

test('a name server that does not answer does not hold up the registration', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const outbound = new Outbound({ policy: production, lookup: () => new Promise(() => {}) })
  const checked = outbound.checkUrl('https://hooks.example.com/', 'webhook', 'live', 'url')
  t.mock.timers.tick(2_000)
  await checked
})

const plain: [url: string, use: UrlUse, environment: Environment, policy: OutboundPolicy, accepted: boolean][] = [
  ['http://127.0.0.1:3000/', 'callback', 'test', development, true],
  ['http://[::1]:3000/', 'callback', 'test', development, true],
  ['http://localhost:3000/', 'callback', 'test', development, true],
  ['http://loop.example.com:3000/', 'callback', 'test', development, true],
  ['http://unknown.localhost:3000/', 'callback', 'test', development, true],
  ['http://127.0.0.1:3000/', 'webhook', 'test', development, false],
  ['http://127.0.0.1:3000/', 'callback', 'live', development, false],
  ['http://127.0.0.1:3000/', 'callback', 'test', production, false],
  ['http://localhost:3000/', 'callback', 'test', production, false],
  ['http://10.0.0.5:3000/', 'callback', 'test', development, false],
  ['http://hooks.example.com/', 'callback', 'test', development, false],
  ['http://unknown.example.com/', 'callback', 'test', development, false],
  ['http://hooks.example.com/', 'webhook', 'live', production, false],
  ['http://hooks.example.com/', 'webhook', 'live', { ...production, allowHttp: true }, true],
  ['http://hooks.example.com:80/', 'webhook', 'live', { ...production, allowHttp: true }, true],
  ['http://hooks.example.com:25/', 'webhook', 'live', { ...production, allowHttp: true }, false],
  ['http://127.0.0.1:3000/', 'webhook', 'live', { ...production, allowHttp: true }, false],
  ['http://127.0.0.1:3000/', 'webhook', 'test', { ...development, allowHttp: true }, true],
]

test('plain http is for callbacks of test keys to loopback, unless the operator allows it', async () => {
  for (const [url, use, environment, policy, accepted] of plain) {
    const found = await problem(new Outbound({ policy, lookup: zoneLookup }), url, use, environment)
    assert.equal(found === null, accepted, `${url} ${use} ${environment}: ${found}`)
  }
})

test('the operator can allow ranges that are not public, and deny ranges, which wins', async () => {
  const policy = { ...production, allowCidrs: ['10.0.0.0/8', '8.8.8.8'], denyCidrs: ['10.9.0.0/16', '93.184.216.0/24'] }
  const outbound = new Outbound({ policy, lookup: zoneLookup })
  const verdicts: [url: string, accepted: boolean][] = [
    ['https://10.0.0.5/', true],
    [example('ten'), true],
    ['https://10.9.0.5/', false],
    ['https://192.168.0.1/', false],
    ['https://93.184.216.34/', false],
    [example('four'), false],
    ['https://8.8.8.8/', true],
    ['https://9.9.9.9/', true],
  ]
  for (const [url, accepted] of verdicts)
    assert.equal((await problem(outbound, url, 'webhook', 'live')) === null, accepted, url)
  const bad = { ...production, denyCidrs: ['inside'] }
  assert.throws(() => new Outbound({ policy: bad }), /"inside" is not an address or a CIDR range/)
})

test('a name that is public when checked and private when called is not called', async (t) => {
  const { port, connections } = await receiver(t, () => assert.fail('nothing may arrive here'))
  let lookups = 0
  const rebinding: Lookup = () => {
    lookups += 1
    return Promise.resolve([{ address: lookups === 1 ? '93.184.216.34' : '127.0.0.1', family: 4 }])
  }
  const outbound = opened(t, { ...production, allowHttp: true }, rebinding)
  const url = `http://rebinding.example.com:${port}/`
  await outbound.checkUrl(url, 'webhook', 'live', 'url')
  const outcome = await outbound.send(request(url))
  assert.deepEqual(outcome.kind === 'failed' && [outcome.error, outcome.ip], ['ADDRESS_BLOCKED', null])
  assert.doesNotMatch(JSON.stringify(outcome), /127\.0\.0\.1/)
  assert.deepEqual([lookups, connections()], [2, 0])
})

test('the address that was checked is the one that is called: the name is resolved once', async (t) => {
  const { port } = await web(t, (_, response) => response.end('here'))
  const answers = [['127.0.0.1'], ['10.0.0.1'], ['10.0.0.1']]
  let lookups = 0
  const outbound = opened(t, plainToOurselves, () => {
    const [address = ''] = answers[lookups] ?? []
    lookups += 1
    return Promise.resolve([{ address, family: 4 }])
  })
  const outcome = answered(await outbound.send(request(`http://once.example.com:${port}/`)))
  assert.deepEqual([outcome.body, outcome.ip, lookups], ['here', '127.0.0.1', 1])
})

test('when one address does not answer the next is tried', async (t) => {
  const { port } = await web(t, (_, response) => response.end('second'))
  const outbound = opened(t, plainToOurselves, async () => [
    { address: '127.0.0.2', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ])
  const outcome = answered(await outbound.send(request(`http://two.example.com:${port}/`)))
  assert.deepEqual([outcome.body, outcome.ip], ['second', '127.0.0.1'])
})

test('a name that does not resolve, and a name server that hangs, are told apart', async (t) => {
  const outbound = opened(t, production, zoneLookup)
  assert.deepEqual(failed(await outbound.send(request('https://unknown.example.com/'))), [
    'DNS_FAILED',
    'The host name does not resolve.',
  ])
  const hanging = opened(t, production, () => new Promise(() => {}))
  const outcome = await hanging.send(request('https://hooks.example.com/', { timeoutMs: 20 }))
  assert.deepEqual(failed(outcome), ['TIMEOUT', 'No answer came within 0.02 seconds.'])
})

test('the receiver gets exactly the request, and we its answer', async (t) => {
  const seen: IncomingMessage[] = []
  let body = ''
  const { port } = await web(t, (incoming, response) => {
    seen.push(incoming)
    incoming.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    incoming.on('end', () => {
      response.setHeader('X-Twice', ['a', 'b']).setHeader('__proto__', 'x').setHeader('constructor', 'y')
      response.writeHead(201).end('imepokelewa ✓')
    })
  })
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/hook?x=1`
  const headers = { 'content-type': 'application/json', 'x-service-event': 'sms.sent' }
  const outcome = answered(await outbound.send(request(url, { headers, body: '{"a":"ñ"}' })))
  assert.deepEqual(
    [outcome.status, outcome.body, outcome.truncated, outcome.ip],
    [201, 'imepokelewa ✓', false, '127.0.0.1'],
  )
  assert.equal(outcome.headers['x-twice'], 'a, b')
  assert.equal(outcome.headers.constructor, 'y')
  const [incoming] = seen
  assert.ok(incoming)
  assert.deepEqual([incoming.method, incoming.url, body], ['POST', '/hook?x=1', '{"a":"ñ"}'])
  assert.deepEqual(incoming.headers, {
    host: `127.0.0.1:${port}`,
    connection: 'keep-alive',
    'content-type': 'application/json',
    'x-service-event': 'sms.sent',
    'content-length': '10',
  })
})

test('a GET has no body, and headers may be a flat list', async (t) => {
  const { port } = await web(t, (incoming, response) =>
    response.end(`${incoming.method} ${incoming.headers['x-a']} ${incoming.headers['content-length']}`),
  )
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  const outcome = await outbound.send(request(url, { method: 'GET', headers: ['x-a', 'b'], body: null }))
  assert.equal(answered(outcome).body, 'GET b undefined')
})

test('a query of any length follows what the URL has, and more of the answer is kept where it is asked for', async (t) => {
  const { port } = await web(t, (incoming, response) => response.end(incoming.url))
  const outbound = opened(t, plainToOurselves)
  const query = `text=${'x'.repeat(8_000)}`
  for (const [path, joined] of [
    ['/', '/?'],
    ['/send?v=1', '/send?v=1&'],
  ]) {
    const url = `http://127.0.0.1:${port}${path}`
    const { body, truncated } = answered(await outbound.send(request(url, { query, maxAnswerBytes: 10_000 })))
    assert.deepEqual([body, truncated], [`${joined}${query}`, false])
  }
})

test('a redirect is an answer, not followed', async (t) => {
  const lookups: string[] = []
  const { port, connections } = await web(t, (_, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  )
  const outbound = opened(t, plainToOurselves, (hostname) => {
    lookups.push(hostname)
    return Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  })
  const outcome = answered(await outbound.send(request(`http://moved.example.com:${port}/`)))
  assert.deepEqual([outcome.status, outcome.headers.location], [302, 'http://169.254.169.254/latest/meta-data/'])
  assert.deepEqual([lookups, connections()], [['moved.example.com'], 1])
})

test('what a request took is told of new connections only', async (t) => {
  const { port, connections } = await web(t, (_, response) => response.end())
  const outbound = opened(t, plainToOurselves, () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]))
  const url = `http://timed.example.com:${port}/`
  const { timing: first } = await outbound.send(request(url))
  const { timing: second } = await outbound.send(request(url))
  assert.ok(Number.isInteger(first.dnsMs) && Number.isInteger(first.connectMs) && Number.isInteger(first.durationMs))
  assert.equal(first.tlsMs, null)
  assert.deepEqual({ ...second, durationMs: 0 }, { durationMs: 0, dnsMs: null, connectMs: null, tlsMs: null })
  assert.equal(connections(), 1)
})

test('a receiver that accepts and hangs is given up, whatever it did before', async (t) => {
  const ways: ((socket: Socket) => void)[] = [
    () => {},
    (socket) => socket.write('HTTP/1.1 200 OK\r\n'),
    (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'),
    (socket) => {
      const bytes = Buffer.from(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(10_000)}\r\n\r\n`)
      let sent = 0
      const timer = setInterval(() => {
        socket.write(bytes.subarray(sent, sent + 1))
        sent += 1
      }, 2)
      socket.on('close', () => clearInterval(timer))
    },
  ]
  for (const way of ways) {
    const { port, ended } = await receiver(t, way)
    const outbound = opened(t, plainToOurselves)
    const outcome = await outbound.send(request(`http://127.0.0.1:${port}/`, { timeoutMs: 60 }))
    assert.deepEqual(failed(outcome), ['TIMEOUT', 'No answer came within 0.06 seconds.'])
    assert.equal(outcome.ip, '127.0.0.1')
    await ended()
  }
})

test('a receiver that never finishes its TLS handshake is given up', async (t) => {
  const { port, ended } = await receiver(t, () => {})
  const outbound = opened(t, toOurselves)
  const outcome = await outbound.send(request(`https://127.0.0.1:${port}/`, { timeoutMs: 60 }))
  assert.equal(failed(outcome)[0], 'TIMEOUT')
  assert.deepEqual([Number.isInteger(outcome.timing.connectMs), outcome.timing.tlsMs], [true, null])
  await ended()
})

test('an answer whose body does not end counts, with what came of it', async (t) => {
  const { port, ended } = await receiver(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin'),
  )
  const outbound = opened(t, plainToOurselves)
  const outcome = answered(await outbound.send(request(`http://127.0.0.1:${port}/`)))
  assert.deepEqual([outcome.status, outcome.body, outcome.truncated], [200, 'begin', true])
  await ended()
})

const broken: [what: string, bytes: string, reason: string][] = [
  ['closes at once', '', 'The connection was closed before an answer came.'],
  ['closes in the middle of the headers', 'HTTP/1.1 200 OK\r\nx: ', 'The connection was closed before an answer came.'],
  ['speaks something else', '220 mail.example ESMTP secret banner\r\n', 'The answer was not HTTP/1.1.'],
  ['speaks HTTP/2', 'HTTP/2 200 OK\r\n\r\n', 'The answer was not HTTP/1.1.'],
  ['asks for what it has', 'HTTP/1.1 100 Continue\r\n\r\n', 'The connection was closed before an answer came.'],
  [
    'changes the protocol',
    'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    'The connection was closed before an answer came.',
  ],
  [
    'sends one header of 20 KiB',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    'The headers of the answer were longer than 16 KiB.',
  ],
  [
    'sends 2,000 headers',
    `HTTP/1.1 200 OK\r\n${'x: 12345678\r\n'.repeat(2_000)}\r\n`,
    'The headers of the answer were longer than 16 KiB.',
  ],
  [
    'floods with 1xx',
    'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(1_000),
    'The answer did not come to its point.',
  ],
  [
    'has two lengths',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx',
    'The length of the answer was not its Content-Length.',
  ],
]

test('an answer that is no answer is a failed connection, and what it said stays with us', async (t) => {
  for (const [what, bytes, reason] of broken) {
    const { port, ended, connections } = await receiver(t, (socket) => socket.once('data', () => socket.end(bytes)))
    const outbound = opened(t, plainToOurselves)
    const outcome = await outbound.send(request(`http://127.0.0.1:${port}/`))
    assert.deepEqual(failed(outcome), ['CONNECTION_FAILED', reason], what)
    await ended()
    assert.equal(connections(), 1, what)
  }
})

test('a port where nobody listens is a failed connection', async (t) => {
  const { port, stop } = await receiver(t, () => {})
  await stop()
  const outcome = await opened(t, plainToOurselves).send(request(`http://127.0.0.1:${port}/`))
  assert.deepEqual(failed(outcome), ['CONNECTION_FAILED', 'The connection was refused.'])
})

test('of an answer of 100 MB four KiB are read', async (t) => {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  let written = 0
  const { port, ended } = await receiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n')
    const pump = () => {
      while (written < 104_857_600 && !socket.destroyed) {
        written += chunk.length
        if (!socket.write(chunk)) {
          socket.once('drain', pump)
          return
        }
      }
    }
    socket.once('data', pump)
  })
  const outcome = answered(await opened(t, plainToOurselves).send(request(`http://127.0.0.1:${port}/`)))
  assert.deepEqual([outcome.status, outcome.body, outcome.truncated], [200, 'x'.repeat(4096), true])
  await ended()
  assert.ok(written < 50_000_000, `${written} bytes`)
})

test('a compressed answer is left as it is', async (t) => {
  const bomb = gzipSync(Buffer.alloc(3_000_000))
  const { port } = await web(t, (incoming, response) => {
    assert.equal(incoming.headers['accept-encoding'], undefined)
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  })
  const outcome = answered(await opened(t, plainToOurselves).send(request(`http://127.0.0.1:${port}/`)))
  assert.equal(outcome.body.charCodeAt(0), 0x1f)
  assert.ok(outcome.body.length <= 4096)
})

test('the body is text that can be stored, whatever its bytes', async (t) => {
  const bodies: [bytes: Buffer, text: string, truncated: boolean][] = [
    [Buffer.from('a\0b'), 'a\ufffdb', false],
    [Buffer.from([0x61, 0xff, 0x62]), 'a\ufffdb', false],
    [Buffer.from([0x61, 0xe2, 0x82]), 'a\ufffd', false],
    [Buffer.from('x'.repeat(4096)), 'x'.repeat(4096), false],
    [Buffer.from(`${'x'.repeat(4095)}€uro`), 'x'.repeat(4095), true],
    [Buffer.from(`${'x'.repeat(4094)}€`), 'x'.repeat(4094), true],
    [Buffer.alloc(0), '', false],
  ]
  let number = 0
  const { port } = await web(t, (_, response) => response.end(bodies[number]?.[0]))
  const outbound = opened(t, plainToOurselves)
  for (const [, text, truncated] of bodies) {
    const outcome = answered(await outbound.send(request(`http://127.0.0.1:${port}/`)))
    assert.deepEqual([outcome.body, outcome.truncated], [text, truncated])
    number += 1
  }
})

test('HTTP/1.0, chunks and early hints are understood', async (t) => {
  const answers = [
    'HTTP/1.0 200 OK\r\n\r\nold',
    'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nold',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\no\r\n2;x=y\r\nld\r\n0\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nold',
  ]
  for (const answer of answers) {
    const { port } = await receiver(t, (socket) => socket.once('data', () => socket.end(answer)))
    const outcome = answered(await opened(t, plainToOurselves).send(request(`http://127.0.0.1:${port}/`)))
    assert.deepEqual([outcome.status, outcome.body, outcome.truncated], [200, 'old', false], answer)
  }
})

test('a connection that the receiver closed while it was idle does not cost an attempt', async (t) => {
  let requests = 0
  const { port, connections } = await receiver(t, (socket) =>
    socket.on('data', () => {
      requests += 1
      // The close crosses with the second request: it is on its way when the connection ends.
      if (requests === 2) socket.resetAndDestroy()
      else socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n${requests}`)
    }),
  )
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  assert.equal(answered(await outbound.send(request(url))).body, '1')
  const second = answered(await outbound.send(request(url)))
  assert.equal(second.body, '3')
  assert.notEqual(second.timing.connectMs, null)
  assert.deepEqual([requests, connections()], [3, 2])
})

test('a connection that the receiver closes after its answer is replaced', async (t) => {
  const { port, connections, ended } = await receiver(t, (socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')),
  )
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  for (const wait of [ended, () => {}, ended]) {
    assert.equal(answered(await outbound.send(request(url))).body, 'ok')
    await wait()
  }
  assert.equal(connections(), 3)
})

test('connections are kept up to an age and a number, the longest idle going first', async (t) => {
  const { port, connections } = await web(t, (_, response) => response.end())
  const send = async (outbound: Outbound, pool: string): Promise<number> => {
    answered(await outbound.send(request(`http://127.0.0.1:${port}/`, { pool })))
    return connections()
  }
  const few = opened(t, plainToOurselves, zoneLookup, { idleConnections: 2 })
  const counts: number[] = []
  for (const pool of ['a', 'b', 'a', 'c', 'a', 'b']) counts.push(await send(few, pool))
  assert.deepEqual(counts, [1, 2, 2, 3, 3, 4])
  const young = opened(t, plainToOurselves, zoneLookup, { connectionAgeMs: -1 })
  assert.deepEqual([await send(young, 'a'), await send(young, 'a')], [5, 6])
})

test('a request is sent again only once, and never after the answer began', async (t) => {
  for (const [last, expectedConnections] of [['', 2] as const, ['HTTP/1.1 2', 1] as const]) {
    let requests = 0
    const { port, connections } = await receiver(t, (socket) =>
      socket.on('data', () => {
        requests += 1
        if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
        else socket.end(last)
      }),
    )
    const outbound = opened(t, plainToOurselves)
    const url = `http://127.0.0.1:${port}/`
    answered(await outbound.send(request(url)))
    assert.equal(failed(await outbound.send(request(url)))[0], 'CONNECTION_FAILED')
    assert.equal(connections(), expectedConnections)
  }
})

test('a request that must not arrive twice is not sent again, and it is known that it went out', async (t) => {
  let requests = 0
  const { port, connections } = await receiver(t, (socket) =>
    socket.on('data', () => {
      requests += 1
      if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      else socket.resetAndDestroy()
    }),
  )
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  answered(await outbound.send(request(url, { once: true })))
  const outcome = await outbound.send(request(url, { once: true }))
  assert.deepEqual([outcome.kind, outcome.ip], ['failed', '127.0.0.1'])
  assert.deepEqual([requests, connections()], [2, 1])
})

test('no more connections than allowed, and those who wait get their turn', async (t) => {
  let atOnce = 0
  let most = 0
  const { port, connections } = await web(t, (_, response) => {
    atOnce += 1
    most = Math.max(most, atOnce)
    setImmediate(() => {
      atOnce -= 1
      response.end()
    })
  })
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => outbound.send(request(url, { connections: 3 }))))
  assert.ok(outcomes.every((outcome) => outcome.kind === 'answered'))
  assert.deepEqual([most <= 3, connections()], [true, 3])
})

test('more requests for one endpoint than may wait are a mistake of the caller', async (t) => {
  const { port } = await web(t, (_, response) => response.end())
  const outbound = opened(t, plainToOurselves, zoneLookup, { waiting: 1 })
  const send = () => outbound.send(request(`http://127.0.0.1:${port}/`, { connections: 1 }))
  const first = [send(), send()]
  await assert.rejects(send(), /more than 1 requests wait for one endpoint/)
  for (const outcome of await Promise.all(first)) answered(outcome)
})

test('those who wait get their turn also when the ones before them fail', async (t) => {
  const { port, connections } = await receiver(t, (socket) => socket.destroy())
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => outbound.send(request(url, { connections: 2 }))))
  assert.deepEqual(new Set(outcomes.map((outcome) => failed(outcome)[0])), new Set(['CONNECTION_FAILED']))
  assert.equal(connections(), 6)
})

test('an endpoint that hangs does not delay another on the same host', async (t) => {
  const { port } = await web(t, (incoming, response) => {
    if (incoming.url === '/fast') response.end('fast')
  })
  const outbound = opened(t, plainToOurselves)
  const order: string[] = []
  const slow = outbound
    .send(request(`http://127.0.0.1:${port}/slow`, { pool: 'a', connections: 1, timeoutMs: 300 }))
    .then(() => order.push('slow'))
  await outbound.send(request(`http://127.0.0.1:${port}/fast`, { pool: 'b', connections: 1 }))
  order.push('fast')
  await slow
  assert.deepEqual(order, ['fast', 'slow'])
})

test('closing waits for what is in progress, ends idle connections and takes nothing new', async (t) => {
  let answer = () => {}
  const { port, ended } = await web(t, (_, response) => {
    answer = () => response.end('done')
    arrived()
  })
  let arrived = () => {}
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  const outcome = outbound.send(request(url))
  await arrival
  const closed = outbound.close()
  await assert.rejects(outbound.send(request(url)), /after close/)
  answer()
  await closed
  assert.equal(answered(await outcome).body, 'done')
  await ended()
})

test('a request that cannot be written is a mistake of ours, not of the receiver', async (t) => {
  const { port, connections } = await web(t, (_, response) => response.end('fine'))
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  await assert.rejects(outbound.send(request(url, { headers: { 'x-a': 'b\r\nhost: evil' } })), /cannot be written/)
  assert.equal(connections(), 0)
  assert.equal(answered(await outbound.send(request(url))).body, 'fine')
})

test('in development any certificate will do on loopback; elsewhere only one that can be verified', async (t) => {
  const { identity, ca } = await certificate(t, new Date())
  const port = await secure(t, identity)
  const url = `https://localhost:${port}/`
  const byName: Lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  const lenient = answered(await opened(t, development, byName).send(request(url, { environment: 'test' })))
  assert.equal(lenient.body, 'localhost')
  assert.ok(Number.isInteger(lenient.timing.tlsMs))
  const strict = await opened(t, toOurselves, byName).send(request(url))
  assert.deepEqual(failed(strict), [
    'TLS_FAILED',
    'The certificate is not from a public authority, or its chain is not complete.',
  ])
  const trusting = opened(t, { ...toOurselves, extraCa: ca }, byName)
  assert.equal(answered(await trusting.send(request(url))).body, 'localhost')
  assert.equal(answered(await trusting.send(request(`https://127.0.0.1:${port}/`))).body, 'no name')
  assert.throws(() => new Outbound({ policy: { ...production, extraCa: 'no certificate' } }))
})

test('in development a certificate that cannot be verified is refused beyond loopback', async (t) => {
  const { identity } = await certificate(t, new Date())
  const port = await secure(t, identity)
  const policy = { ...development, allowCidrs: ['127.0.0.0/8'] }
  // One address of another kind among them is enough to make it strict.
  const outbound = opened(t, policy, async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '10.255.255.254', family: 4 },
  ])
  const outcome = await outbound.send(request(`https://localhost:${port}/`, { environment: 'test' }))
  assert.equal(failed(outcome)[0], 'TLS_FAILED')
})

test('a certificate for another name, or one that has expired, is refused', async (t) => {
  const good = await certificate(t, new Date())
  const old = await certificate(t, new Date('2020-01-01T00:00:00Z'))
  const byName: Lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  const elsewhere = opened(t, { ...toOurselves, extraCa: good.ca }, byName)
  const wrong = await elsewhere.send(request(`https://other.example.com:${await secure(t, good.identity)}/`))
  assert.deepEqual(failed(wrong), ['TLS_FAILED', 'The certificate is not for this host name.'])
  const expired = opened(t, { ...toOurselves, extraCa: old.ca }, byName)
  const outcome = await expired.send(request(`https://localhost:${await secure(t, old.identity)}/`))
  assert.deepEqual(failed(outcome), ['TLS_FAILED', 'The certificate has expired.'])
})

test('TLS before 1.2 and no TLS at all are refused, in development too', async (t) => {
  const { identity } = await certificate(t, new Date())
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const outbound = opened(t, development)
  const to = (port: number) => outbound.send(request(`https://127.0.0.1:${port}/`, { environment: 'test' }))
  assert.deepEqual(failed(await to(await secure(t, { ...identity, ...old }))), [
    'TLS_FAILED',
    'The server does not speak TLS 1.2 or later.',
  ])
  const { port } = await web(t, () => {})
  assert.deepEqual(failed(await to(port)), ['TLS_FAILED', 'The server does not speak TLS on this port.'])
})

test('through a proxy the checked address is asked for, and the receiver’s own certificate counts', async (t) => {
  const { identity, ca } = await certificate(t, new Date())
  const proxy = await startProxy(t, 'clerk', 'p:w/d')
  const outbound = opened(t, { ...toOurselves, extraCa: ca, proxy: proxy.url }, async () => [
    { address: '127.0.0.1', family: 4 },
  ])
  const port = await secure(t, identity)
  const outcome = answered(await outbound.send(request(`https://localhost:${port}/`)))
  assert.deepEqual([outcome.status, outcome.body, outcome.ip], [200, 'localhost', '127.0.0.1'])
  assert.deepEqual(proxy.asked, [`127.0.0.1:${port}`], 'an address, which cannot change its mind')
  const blocked = await outbound.send(request('https://10.0.0.1/'))
  assert.equal(failed(blocked)[0], 'ADDRESS_BLOCKED')
  assert.equal(proxy.asked.length, 1, 'and never for one that may not be called')
})

test('plain http goes through the proxy too', async (t) => {
  const proxy = await startProxy(t, 'clerk', 'p:w/d')
  const { port } = await web(t, (_, response) => response.end('plain'))
  const outbound = opened(t, { ...plainToOurselves, proxy: proxy.url })
  const outcome = answered(await outbound.send(request(`http://127.0.0.1:${port}/`)))
  assert.deepEqual([outcome.status, outcome.body], [200, 'plain'])
})

test('a proxy that refuses, is not there or is none is a failed connection', async (t) => {
  const { port } = await web(t, () => {})
  const { url } = await startProxy(t, 'clerk', 'p:w/d')
  const rude = createTcpServer((socket) => socket.end())
  await listening(t, rude)
  const noProxy = createTcpServer((socket) => socket.end('a'.repeat(5_000)))
  await listening(t, noProxy)
  const ways: [proxy: string, reason: string][] = [
    [url.replace('clerk', 'stranger'), 'The proxy does not connect to the host.'],
    ['http://127.0.0.1:1', 'The proxy cannot be reached.'],
    [`http://127.0.0.1:${portOf(noProxy)}`, 'The proxy did not answer as one.'],
    [`http://127.0.0.1:${portOf(rude)}`, 'The proxy closed the connection.'],
  ]
  for (const [proxy, reason] of ways) {
    const outbound = opened(t, { ...plainToOurselves, proxy })
    const outcome = await outbound.send(request(`http://127.0.0.1:${port}/`))
    assert.deepEqual(failed(outcome), ['CONNECTION_FAILED', reason])
  }
})

/** A proxy that connects whoever gives the name and password, and remembers to where. */
async function startProxy(t: TestContext, name: string, password: string): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createHttpServer()
  const credentials = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    if (incoming.headers['proxy-authorization'] !== credentials)
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    asked.push(incoming.url ?? '')
    const [host = '', port = ''] = (incoming.url ?? '').split(':')
    const onward = connect({ host, port: Number(port) }, () => socket.write('HTTP/1.1 200 Connected\r\n\r\n'))
    onward.on('error', () => socket.destroy())
    onward.pipe(socket).pipe(onward)
  })
  await listening(t, server)
  return { url: `http://${name}:${encodeURIComponent(password)}@127.0.0.1:${portOf(server)}`, asked }
}

function request(url: string, changes: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    pool: 'wh_1',
    url,
    use: 'webhook',
    environment: 'live',
    method: 'POST',
    headers: {},
    body: '{}',
    connections: 5,
    ...changes,
  }
}

async function problem(outbound: Outbound, url: string, use: UrlUse, environment: Environment): Promise<string | null> {
  try {
    await outbound.checkUrl(url, use, environment, 'url')
    return null
  } catch (error) {
    assert.ok(error instanceof AppError)
    assert.equal(error.code, 'INVALID_URL')
    return error.details
  }
}

function assertProblem(found: string | null, url: string): void {
  assert.match(found ?? 'accepted', /^url [a-z][^\n]{10,}\.$/, url)
}

async function assertBlocked(outbound: Outbound, url: string, environment: Environment): Promise<void> {
  const outcome = await outbound.send(request(url, { environment, timeoutMs: 1_000 }))
  assert.equal(outcome.kind, 'failed', url)
  const [error, reason] = failed(outcome)
  assert.equal(error, 'ADDRESS_BLOCKED', url)
  assert.match(reason, /^The [^\n]*\.$/, url)
  assert.deepEqual([outcome.ip, outcome.timing.connectMs], [null, null], url)
}

function answered(outcome: Outcome): Outcome & { kind: 'answered' } {
  assert.ok(outcome.kind === 'answered', JSON.stringify(outcome))
  return outcome
}

function failed(outcome: Outcome): [error: string, reason: string] {
  assert.ok(outcome.kind === 'failed', JSON.stringify(outcome))
  return [outcome.error, outcome.reason]
}

function opened(
  t: TestContext,
  policy: OutboundPolicy,
  lookup: Lookup = zoneLookup,
  limits: ConstructorParameters<typeof Outbound>[0]['limits'] = {},
): Outbound {
  const outbound = new Outbound({ policy, lookup, limits })
  t.after(() => outbound.close())
  return outbound
}

interface Receiver {
  port: number
  connections(): number
  /** Resolves when every connection so far has ended. */
  ended(): Promise<void>
  stop(): Promise<void>
}

async function receiver(t: TestContext, onConnection: (socket: Socket) => void): Promise<Receiver> {
  return listening(t, createTcpServer(onConnection))
}

async function web(t: TestContext, listener: RequestListener): Promise<Receiver> {
  return listening(t, createHttpServer(listener))
}

async function listening(t: TestContext, server: Server): Promise<Receiver> {
  const open = new Set<Socket>()
  let count = 0
  server.on('connection', (socket: Socket) => {
    count += 1
    open.add(socket)
    socket.on('error', () => {})
    socket.on('data', () => {})
    socket.on('close', () => open.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async (): Promise<void> => {
    for (const socket of open) socket.destroy()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  t.after(stop)
  return {
    port: portOf(server),
    connections: () => count,
    ended: async () => {
      for (const socket of open) await new Promise((resolve) => socket.once('close', resolve))
    },
    stop,
  }
}

async function secure(t: TestContext, options: { key: string; cert: string }): Promise<number> {
  const server = createHttpsServer(options, (incoming, response) => {
    const name = 'servername' in incoming.socket ? incoming.socket.servername : ''
    response.end(typeof name === 'string' && name !== '' ? name : 'no name')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return portOf(server)
}

async function certificate(
  t: TestContext,
  now: Date,
): Promise<{ identity: { key: string; cert: string }; ca: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-outbound-'))
  t.after(() => rm(dir, { recursive: true }))
  const { key, cert } = await serverIdentity({ dir, now })
  return { identity: { key, cert }, ca: await readFile(join(dir, 'ca.pem'), 'utf8') }
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return address.port
}
