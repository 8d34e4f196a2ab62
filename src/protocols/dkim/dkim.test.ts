// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { authenticate } from 'mailauth'
import { compose } from '../mime/compose.ts'
import { headerField, mailboxText, textField } from '../mime/header.ts'
import { dkimSignatures, type SigningKey } from './sign.ts'
import { dkimRecord, verifyDkim, verifyDmarc, verifySpf } from './verify.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const edwards = generateKeyPairSync('ed25519')
const keys: SigningKey[] = [
  { domain: 'shop.example', selector: 'pj1', algorithm: 'rsa-sha256', privateKey: rsa.privateKey },
  { domain: 'shop.example', selector: 'pj1e', algorithm: 'ed25519-sha256', privateKey: edwards.privateKey },
]
const zone: Record<string, string> = {
  'pj1._domainkey.shop.example': dkimRecord(rsa.publicKey),
  'pj1e._domainkey.shop.example': dkimRecord(edwards.publicKey),
  'rp.shop.example': 'v=spf1 include:spf.mail.example ~all',
  'spf.mail.example': 'v=spf1 ip4:192.0.2.0/24 a:out.mail.example -all',
  '_dmarc.shop.example': 'v=DMARC1; p=reject',
}
const dns = {
  txt: async (name: string) => (zone[name] ? [zone[name]] : []),
  addresses: async (name: string) => (name === 'out.mail.example' ? ['198.51.100.7'] : []),
  exchanges: async () => [],
}

/** The same zone as mailauth asks for it. */
async function resolver(name: string, type: string): Promise<string[][] | string[]> {
  const error = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
  if (type === 'TXT' && zone[name]) return [[zone[name]]]
  if (type === 'A' && name === 'out.mail.example') return ['198.51.100.7']
  throw error
}

const messages = {
  'text and html with a file': compose({
    fields: [
      headerField('From', mailboxText({ name: 'Duka la Amina, Ltd', address: 'shop@shop.example' })),
      headerField('To', 'b@y.example'),
      textField('Subject', `Habari 👋 ${'ndefu sana '.repeat(12)}`),
      headerField('Date', 'Mon, 05 Jan 2026 09:00:00 +0000'),
      headerField('Message-ID', '<x@shop.example>'),
      headerField('List-Unsubscribe', `<https://x.example/u/${'a'.repeat(120)}>, <mailto:u@rp.shop.example>`),
    ],
    text: 'Habari\n.\nFrom here   \n\n\n',
    html: '<p>Karibu – è</p>\n',
    attachments: [
      {
        filename: 'ripoti è.pdf',
        contentType: 'application/pdf',
        content: Buffer.alloc(1000, 1),
        disposition: 'attachment',
        contentId: null,
      },
      {
        filename: 'logo.png',
        contentType: 'image/png',
        content: Buffer.alloc(100, 2),
        disposition: 'inline',
        contentId: 'logo',
      },
    ],
  }),
  'one text of no length': compose({
    fields: [headerField('From', 'a@shop.example')],
    text: '',
    html: null,
    attachments: [],
  }),
  'spaces, tabs and empty lines': Buffer.from(
    'From: a@shop.example\r\nSubject:  x \t y\r\n  z\r\n\r\n \r\n\tx  y \t\r\n\r\n\r\n',
  ),
}

for (const [what, message] of Object.entries(messages))
  test(`both signatures of ${what} are verified by mailauth and by ourselves`, async () => {
    const signed = Buffer.concat([Buffer.from(await dkimSignatures(message, keys, 1_767_600_000_000)), message])
    const theirs = await authenticate(signed, {
      resolver,
      ip: '192.0.2.9',
      helo: 'mx.mail.example',
      sender: 'b+1@rp.shop.example',
    })
    assert.deepEqual(
      theirs.dkim.results.map(({ status }: { status: { result: string } }) => status.result),
      ['pass', 'pass'],
    )
    assert.ok(theirs.spf)
    assert.equal(theirs.spf.status.result, 'pass')
    assert.ok(theirs.dmarc)
    assert.equal(theirs.dmarc.status.result, 'pass')
    const ours = await verifyDkim(signed, dns)
    assert.deepEqual(
      ours.map(({ result }) => result),
      ['pass', 'pass'],
    )
    const spf = await verifySpf('rp.shop.example', '192.0.2.9', dns)
    assert.equal(spf.result, 'pass')
    assert.deepEqual(await verifyDmarc(signed, ours, spf, dns), {
      result: 'pass',
      policy: 'reject',
      domain: 'shop.example',
    })
  })

test('a changed body, a changed date, a second From and a missing key do not pass', async () => {
  const message = messages['text and html with a file']
  const signed = Buffer.concat([Buffer.from(await dkimSignatures(message, keys.slice(0, 1), 0)), message]).toString(
    'latin1',
  )
  const result = async (text: string) => (await verifyDkim(Buffer.from(text, 'latin1'), dns))[0]?.result
  assert.equal(await result(signed), 'pass')
  assert.equal(await result(signed.replace('Karibu', 'Kwaheri')), 'fail')
  assert.equal(await result(signed.replace('Date: Mon', 'Date: Tue')), 'fail')
  assert.equal(await result(`From: evil@x.example\r\n${signed}`), 'fail')
  assert.equal(await result(signed.replace('s=pj1;', 's=pj9;')), 'permerror')
})

test('SPF is decided by address, by name and by who is included', async () => {
  assert.equal((await verifySpf('rp.shop.example', '198.51.100.7', dns)).result, 'pass')
  assert.equal((await verifySpf('rp.shop.example', '203.0.113.1', dns)).result, 'softfail')
  assert.equal((await verifySpf('spf.mail.example', '203.0.113.1', dns)).result, 'fail')
  assert.equal((await verifySpf('other.example', '203.0.113.1', dns)).result, 'none')
})
