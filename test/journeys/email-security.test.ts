// SPDX-License-Identifier: Apache-2.0
// What a domain says of its mail servers is kept to: MTA-STS (RFC 8461) and DANE (RFC 7672), over the sandbox's own DNS,
// policy hosts and mail servers. Where they say no, a message waits and says why; it is never sent in the clear.
import assert from 'node:assert/strict'
import { createHash, type X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { routeFor } from '../../src/areas/email/delivery/route.ts'
import { deliveryDnsFor } from '../../src/areas/email/dns/resolvers.ts'
import { type MailWorld, mailWorld } from '../../src/areas/email/mail-world.ts'
import { SmtpClient } from '../../src/protocols/smtp/client.ts'
import { Client } from '../client.ts'
import { lookInto } from '../looking.ts'
import { sendMail, settled } from '../mailing.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

const servers = {
  usual: 'mx1.sandbox.pamoja.test',
  notls: 'notls.mx.sandbox.pamoja.test',
  badtls: 'badtls.mx.sandbox.pamoja.test',
  sts: 'sts.mx.sandbox.pamoja.test',
  badsts: 'badsts.mx.sandbox.pamoja.test',
}

let world: World
let ada: Account
let mail: MailWorld
before(async () => {
  world = await startWorld()
  ada = await world.account({ balance: 1_000 })
  const simulated = mailWorld.of(world.app)
  assert.ok(simulated)
  mail = simulated
})
after(() => world.stop())

async function edit(name: string, type: string, value: string | null): Promise<void> {
  const { status, body } = await ada.client.post('/v1/sandbox/dns', { name, type, value })
  assert.equal(status, 200, JSON.stringify(body))
}

function policy(mode: string, mx: readonly string[], maxAge = 86_400): string {
  return ['version: STSv1', `mode: ${mode}`, ...mx.map((one) => `mx: ${one}`), `max_age: ${maxAge}`, ''].join('\r\n')
}

/** Has a domain announce a policy; the id before it is replaced. */
async function announce(domain: string, id: string): Promise<void> {
  await edit(`_mta-sts.${domain}`, 'TXT', null)
  await edit(`_mta-sts.${domain}`, 'TXT', `v=STSv1; id=${id};`)
}

async function publish(domain: string, exchangers: readonly string[], text: string, id = '1'): Promise<void> {
  for (const [i, server] of exchangers.entries()) await edit(domain, 'MX', `${(i + 1) * 10} ${server}`)
  mail.publishPolicy(domain, { body: text })
  await announce(domain, id)
}

/** What became of the first attempt: delivered, or put off and why. */
async function attempted(to: string, account = ada) {
  const id = await sendMail(account, { to })
  return eventually(async () => {
    const { body } = await account.client.get(`/v1/email/${id}`)
    const [recipient] = body.recipients
    if (body.status !== 'delivered' && !body.next_attempt_at) return null
    return {
      status: body.status,
      reason: body.reason,
      level: recipient.tls_level,
      mx: recipient.mx,
      tls: recipient.tls,
    }
  }, `an attempt to reach ${to}`)
}

async function delivered(to: string, level: string) {
  const outcome = await attempted(to)
  assert.deepEqual([outcome.status, outcome.level], ['delivered', level], JSON.stringify(outcome))
  return outcome
}

async function putOff(to: string, reason: RegExp): Promise<void> {
  const outcome = await attempted(to)
  assert.equal(outcome.status, 'sent', JSON.stringify(outcome))
  assert.match(outcome.reason, reason)
}

describe('recipients of the sandbox', () => {
  test('show every level of TLS, in the record and in the event', async () => {
    assert.equal((await delivered('notls+1@shop.example', 'plain')).tls, null)
    assert.match((await delivered('amina@shop.example', 'encrypted')).tls ?? '', /^TLS/)
    await delivered('sts+1@shop.example', 'mta_sts')
    await delivered('dane+1@shop.example', 'dane')
    const id = await sendMail(ada, { to: 'sts+2@shop.example' })
    await settled(ada, id)
    const { body } = await ada.client.get(`/v1/events?resource_id=${id}&event=email.delivered`)
    assert.equal(body.data[0].payload.tls_level, 'mta_sts')
  })

  test('whose servers are not who they should be get nothing, and the reason says what failed', async () => {
    await putOff('badsts+1@shop.example', /^MTA-STS of badsts\.shop\.example does not allow badsts\.mx.*altnames/)
    await putOff('baddane+1@shop.example', /^DANE of baddane\.mx.*does not match its TLSA records/)
  })
})

describe('a policy that is enforced', () => {
  test('passes over servers that it does not name, and uses the one that it does', async () => {
    await publish('pata.example', [servers.usual, servers.sts], policy('enforce', ['*.mx.sandbox.pamoja.test']))
    assert.equal((await delivered('a@pata.example', 'mta_sts')).mx, servers.sts)
  })

  const refused: [string, string, string, RegExp][] = [
    ['none of whose servers are named', servers.usual, servers.sts, /allows none of its mail servers: mx1/],
    ['whose server has no TLS', servers.notls, servers.notls, /offers no STARTTLS/],
    ['whose server breaks the handshake', servers.badtls, servers.badtls, /handshake failed/],
    ['whose server has a certificate of nobody', servers.usual, servers.usual, /handshake failed/],
    ['whose server has the certificate of another', servers.badsts, servers.badsts, /altnames/],
  ]
  for (const [i, [what, server, named, reason]] of refused.entries())
    test(`puts off mail to a domain ${what}`, async () => {
      await publish(`kataa${i}.example`, [server], policy('enforce', [named]))
      await putOff(`a@kataa${i}.example`, reason)
      assert.ok(!mail.mail().some(({ to }) => to === `a@kataa${i}.example`))
    })

  test('lets waiting mail go once the server is in order', async () => {
    await publish('ngoja.example', [servers.badsts], policy('enforce', ['*.mx.sandbox.pamoja.test']))
    const id = await sendMail(ada, { to: 'a@ngoja.example' })
    await eventually(async () => (await ada.client.get(`/v1/email/${id}`)).body.next_attempt_at, 'it to be put off')
    await edit('ngoja.example', 'MX', null)
    await edit('ngoja.example', 'MX', `10 ${servers.sts}`)
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 70 })
    assert.equal((await settled(ada, id)).recipients[0].tls_level, 'mta_sts')
  })

  test('does not lend its connections to, or borrow them from, domains that ask for less', async () => {
    await edit('jirani.example', 'MX', `10 ${servers.badsts}`)
    await publish('kaka.example', [servers.badsts], policy('enforce', [servers.badsts]))
    await delivered('a@jirani.example', 'encrypted')
    await putOff('a@kaka.example', /altnames/)
  })
})

describe('a policy that is not enforced', () => {
  test('is counted where it is broken while it is tested, and asks for nothing as none', async () => {
    const broken = async (reason: string) => {
      const text = await world.app.metrics.text()
      const [, count = '0'] = new RegExp(`sts_testing_failures_total\\{reason="${reason}"\\} (\\d+)`).exec(text) ?? []
      return Number(count)
    }
    const rows: [string, string, string, string][] = [
      ['mx', servers.usual, servers.sts, 'encrypted'],
      ['starttls', servers.notls, servers.notls, 'plain'],
      ['certificate', servers.badsts, servers.badsts, 'encrypted'],
    ]
    for (const [reason, server, named, level] of rows) {
      await publish(`jaribu-${reason}.example`, [server], policy('testing', [named]))
      const before = await broken(reason)
      await delivered(`a@jaribu-${reason}.example`, level)
      assert.equal(await broken(reason), before + 1, reason)
    }
    await publish('bila.example', [servers.badsts], policy('none', []))
    await delivered('a@bila.example', 'encrypted')
  })
})

describe('a policy that was fetched', () => {
  const domain = 'weka.example'
  test('is fetched once, outlives its record and failures of the DNS and of its host, and ends with the next one', async () => {
    await publish(domain, [servers.badsts], policy('enforce', [servers.badsts]))
    await putOff(`a@${domain}`, /altnames/)
    await putOff(`b@${domain}`, /altnames/)
    assert.equal(mail.policyRequests(domain), 1)
    mail.spoil(`_mta-sts.${domain}`, true)
    await putOff(`c@${domain}`, /altnames/)
    mail.spoil(`_mta-sts.${domain}`, false)
    await edit(`_mta-sts.${domain}`, 'TXT', null)
    await putOff(`d@${domain}`, /altnames/)
    mail.publishPolicy(domain, { body: 'away', status: 503 })
    await announce(domain, '2')
    await putOff(`e@${domain}`, /altnames/)
    mail.publishPolicy(domain, { body: policy('none', []) })
    await announce(domain, '3')
    await delivered(`f@${domain}`, 'encrypted')
  })

  test('ends when it has expired', async () => {
    await publish('isha.example', [servers.badsts], policy('enforce', [servers.badsts], 1))
    await putOff('a@isha.example', /altnames/)
    mail.publishPolicy('isha.example', { body: 'away', status: 503 })
    await eventually(async () => (await attempted('b@isha.example')).status === 'delivered', 'the policy to expire')
  })

  const unusable: [string, Parameters<MailWorld['publishPolicy']>[1]][] = [
    ['redirects', { body: '', status: 302, headers: { location: 'https://mta-sts.pata.example/' } }],
    ['has a page instead', { body: policy('enforce', [servers.sts]), headers: { 'content-type': 'text/html' } }],
    ['has the certificate of another', { body: policy('enforce', [servers.sts]), certificateFor: 'other.example' }],
    ['has too much', { body: `${policy('enforce', [servers.sts])}x: ${'y'.repeat(64 * 1024)}\r\n` }],
    ['has what is no policy', { body: 'version: STSv1\r\nmode: sometimes\r\nmax_age: 5\r\n' }],
    ['has none', null],
  ]
  for (const [i, [what, answer]] of unusable.entries())
    test(`is none when its host ${what}`, async () => {
      mail.publishPolicy(`si${i}.example`, answer)
      await announce(`si${i}.example`, '1')
      await delivered(`a@si${i}.example`, 'encrypted')
      assert.ok(i === 2 || mail.policyRequests(`si${i}.example`) > 0)
    })
})

describe('DANE', () => {
  const domain = 'benki.example'
  const at = `_25._tcp.${servers.sts}`
  let chain: readonly X509Certificate[] = []
  before(async () => {
    mail.sign(domain)
    await edit(domain, 'MX', `10 ${servers.sts}`)
    const client = await SmtpClient.connect({
      host: mail.host,
      port: mail.portOf(servers.sts) ?? 0,
      hello: 'test',
      servername: servers.sts,
      tls: 'encrypted',
      chainProblem: (found) => {
        chain = found
        return null
      },
    })
    await client.quit()
  })
  after(() => edit(at, 'TLSA', null))

  function record(usage: number, selector: number, matching: number, place = usage === 2 ? 1 : 0): string {
    const certificate = chain[place]
    assert.ok(certificate)
    const whole = selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' })
    const hash = matching === 1 ? 'sha256' : 'sha512'
    const data = matching === 0 ? whole : createHash(hash).update(whole).digest()
    return `${usage} ${selector} ${matching} ${data.toString('hex')}`
  }

  async function pin(...values: string[]): Promise<void> {
    await edit(at, 'TLSA', null)
    for (const value of values) await edit(at, 'TLSA', value)
  }

  const other = (head: string) => `${head} ${'00'.repeat(32)}`

  for (const usage of [2, 3])
    for (const selector of [0, 1])
      for (const matching of [0, 1, 2])
        test(`a server is known by its record ${usage} ${selector} ${matching}`, async () => {
          await pin(record(usage, selector, matching))
          await delivered(`a${usage}${selector}${matching}@${domain}`, 'dane')
        })

  test('a record among many, too many for one packet, is found', async () => {
    await pin(
      ...Array.from({ length: 40 }, (_, i) => `3 1 1 ${String(i).padStart(2, '0').repeat(32)}`),
      record(3, 1, 1),
    )
    await delivered(`many@${domain}`, 'dane')
  })

  test('records that do not match put mail off; those that mean nothing ask for TLS only', async () => {
    await pin(other('3 1 1'))
    await putOff(`b@${domain}`, /does not match its TLSA records/)
    await pin(other('2 1 1'))
    await putOff(`c@${domain}`, /nor an authority of it/)
    await pin(other('1 1 1'), '3 1 1 00')
    await delivered(`d@${domain}`, 'encrypted')
    await edit(`_25._tcp.${servers.notls}`, 'TLSA', other('0 0 1'))
    mail.sign('bila-tls.example')
    await edit('bila-tls.example', 'MX', `10 ${servers.notls}`)
    await putOff('a@bila-tls.example', /^DANE of notls.*offers no STARTTLS/)
    await edit(`_25._tcp.${servers.notls}`, 'TLSA', null)
  })

  test('means nothing without signatures of the domain, and nothing goes where those of the records are bad', async () => {
    await pin(other('3 1 1'))
    await edit('wazi.example', 'MX', `10 ${servers.sts}`)
    await delivered('a@wazi.example', 'encrypted')
    mail.spoil(at, true)
    await putOff(`e@${domain}`, /^DANE of sts\.mx.*bad signatures/)
    await edit(domain, 'MX', `20 ${servers.badsts}`)
    assert.equal((await delivered(`f@${domain}`, 'encrypted')).mx, servers.badsts)
    mail.spoil(at, false)
    await edit(domain, 'MX', null)
    await edit(domain, 'MX', `10 ${servers.sts}`)
  })

  test('holds for a signed name that is an alias into a zone without signatures, by the records of that name', async () => {
    mail.sign('lakabu.example')
    await edit('lakabu.example', 'MX', '10 mx.lakabu.example')
    await edit('mx.lakabu.example', 'CNAME', servers.usual)
    await delivered('a@lakabu.example', 'encrypted')
    await edit('_25._tcp.mx.lakabu.example', 'TLSA', other('3 1 1'))
    await putOff('b@lakabu.example', /^DANE of mx\.lakabu\.example/)
    // An alias that nobody signed says nothing.
    await edit('wazi2.example', 'MX', '10 mx.wazi2.example')
    await edit('mx.wazi2.example', 'CNAME', servers.usual)
    await edit('_25._tcp.mx.wazi2.example', 'TLSA', other('3 1 1'))
    await delivered('a@wazi2.example', 'encrypted')
  })

  test('does not keep a server from its turn that only a policy names, behind five that it does not', async () => {
    mail.sign('foleni.example')
    const before = Array.from({ length: 5 }, (_, i) => `mx${i}.foleni.example`)
    for (const name of before) await edit(name, 'A', mail.host)
    await pin()
    await publish('foleni.example', [...before, servers.sts], policy('enforce', [servers.sts]))
    assert.equal((await delivered('a@foleni.example', 'mta_sts')).mx, servers.sts)
  })

  test('comes before MTA-STS', async () => {
    await publish(domain, [], policy('enforce', ['elsewhere.example']))
    await pin(record(3, 1, 1))
    await delivered(`g@${domain}`, 'dane')
    mail.publishPolicy(domain, { body: policy('enforce', [servers.sts]) })
    await announce(domain, '2')
    await pin(other('3 1 1'))
    await putOff(`h@${domain}`, /^DANE of/)
    await pin(other('1 1 1'))
    await delivered(`i@${domain}`, 'mta_sts')
    await pin()
    await delivered(`j@${domain}`, 'mta_sts')
  })
})

describe('what cannot be found out now', () => {
  test('is no attempt: neither where too much is asked of the DNS, nor where a policy cannot be read', async () => {
    const names = deliveryDnsFor(world.app, 'test')
    assert.ok(names)
    const asking = Array.from({ length: 500 }, (_, i) => names.exchanges(`swali${i}.example`))
    assert.equal(await routeFor(world.app, 'test', 'a@shop.example'), 'busy')
    await Promise.all(asking)
    const sql = lookInto(world)
    await sql.connect()
    try {
      await sql.query('alter table email.sts_policies rename to sts_policies_away')
      assert.equal(await routeFor(world.app, 'test', 'a@haisomeki.example'), 'busy')
    } finally {
      await sql.query('alter table email.sts_policies_away rename to sts_policies')
      await sql.end()
    }
    await delivered('a@haisomeki.example', 'encrypted')
  })
})

describe('a restart', () => {
  test('leaves policies in force, though their domains can no longer be asked', async () => {
    const domain = 'kumbuka.example'
    await publish(domain, [servers.sts], policy('enforce', [servers.sts]))
    await delivered(`a@${domain}`, 'mta_sts')
    // Another node on the same database, whose sandbox knows nothing of the domain: it has the usual server and no record.
    await world.node.stop()
    const next = await world.another()
    const client = new Client(next.url, next.caFile && readFileSync(next.caFile, 'utf8'), ada.key)
    const account = { ...ada, client }
    try {
      const outcome = await attempted(`b@${domain}`, account)
      assert.equal(outcome.status, 'sent')
      assert.match(outcome.reason, /^MTA-STS of kumbuka\.example allows none of its mail servers/)
    } finally {
      client.close()
      await next.stop()
    }
  })
})
