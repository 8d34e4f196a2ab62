// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { development, failed, production, request, zoneLookup } from '../../../test/outside.ts'
import { AppError } from '../../kernel/errors.ts'
import { Outbound } from '../outbound.ts'
import type { Environment } from '../tenant.ts'
import { type OutboundPolicy, parseTarget, type UrlUse } from './customer-urls.ts'
import { Failure } from './dial.ts'

/** Refused everywhere: webhook and callback, live and test keys, development and production. */
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
  // Unspecified, link-local and other special addresses.
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
  // Cloud metadata names, and names that resolve to forbidden addresses.
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

test('a URL that leads to no public address is refused, except to test keys in development', async () => {
  for (const policy of [production, development, { ...development, allowPrivate: false }]) {
    const outbound = new Outbound({ policy, lookup: zoneLookup })
    for (const url of notPublic)
      for (const environment of environments) {
        const found = await problem(outbound, url, 'webhook', environment)
        if (policy === development && environment === 'test') assert.equal(found, null, url)
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

test('a destination for another protocol passes the same rules, and has only addresses that were checked', async () => {
  const outbound = new Outbound({ policy: production, lookup: zoneLookup })
  const live = { use: 'callback', environment: 'live' } as const
  const found = await outbound.destinationOf('https://hooks.example.com/audio', live)
  assert.ok(!(found instanceof Failure))
  assert.deepEqual(
    [found.addresses.map(({ address }) => address), found.target.port, found.isStrict],
    [['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'], 443, true],
  )
  for (const url of [...neverUsable, ...notPublic, 'http://four.example.com/']) {
    const refused = await outbound.destinationOf(url, live)
    assert.ok(refused instanceof Failure && refused.error === 'ADDRESS_BLOCKED', url)
  }
  const unknown = await outbound.destinationOf('https://unknown.example.com/', live)
  assert.ok(unknown instanceof Failure && unknown.error === 'DNS_FAILED')
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

function example(name: string): string {
  return `https://${name}.example.com/`
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
