// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { workedMs } from '../../../test/eventually.ts'
import { parseMailbox } from '../../kernel/email-address.ts'
import { composeAbuseReport, composeDeliveryReport, parseAbuseReport, parseDeliveryReport } from '../dsn.ts'
import { compose } from './compose.ts'
import { decodeTransfer, encodeText } from './encoding.ts'
import { decodeWords, encodeWords, fieldOf, headerField, parseHeader, textField } from './header.ts'
import { bytesOf, everyPart, parseMessage, partOf, textOf } from './parse.ts'

test('any text comes back from its transfer encoding, in lines no longer than servers take', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 2000 }), fc.string({ maxLength: 2000 })), (text) => {
      const { encoding, body } = encodeText(text)
      assert.ok(body.split('\r\n').every((line) => line.length <= 900))
      assert.ok(/^[\t\r\n -~]*$/.test(body))
      const back = decodeTransfer(Buffer.from(body), encoding).toString()
      assert.equal(back, Buffer.from(text.replace(/\r\n|\r|\n/g, '\r\n')).toString())
    }),
  )
})

test('any subject comes back from its encoded words, and cannot begin another field', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
      const field = textField('Subject', `x${text}\r\nBcc: evil@x.test`)
      const { fields } = parseHeader(Buffer.from(`${field}\r\n`))
      assert.equal(fields.length, 1)
      assert.ok(field.split('\r\n').every((line) => line.length <= 998))
    }),
  )
  assert.equal(
    decodeWords(encodeWords('Habari 👋 ndefu sana, tena ndefu kuliko mstari mmoja è')),
    'Habari 👋 ndefu sana, tena ndefu kuliko mstari mmoja è',
  )
  assert.equal(decodeWords('=?iso-8859-1?Q?caf=E9_au?= lait'), 'café au lait')
})

test('a composed message has its parts where readers look for them', () => {
  const content = compose({
    fields: [headerField('From', 'a@x.test')],
    text: 'Habari è',
    html: '<img src="cid:logo">',
    attachments: [
      {
        filename: 'a.txt',
        contentType: 'text/plain',
        content: Buffer.from('file'),
        disposition: 'attachment',
        contentId: null,
      },
      {
        filename: 'l.png',
        contentType: 'image/png',
        content: Buffer.from([1, 2]),
        disposition: 'inline',
        contentId: 'logo',
      },
    ],
  })
  const message = parseMessage(content)
  const types = [...everyPart(message)].map(({ type }) => type)
  assert.deepEqual(types, [
    'multipart/mixed',
    'multipart/alternative',
    'text/plain',
    'multipart/related',
    'text/html',
    'image/png',
    'text/plain',
  ])
  const html = partOf(message, 'text/html')
  assert.equal(html && textOf(content, html).trim(), '<img src="cid:logo">')
  const image = partOf(message, 'image/png')
  assert.deepEqual(image && bytesOf(content, image), Buffer.from([1, 2]))
  assert.equal(image && fieldOf(image.fields, 'content-id'), '<logo>')
})

test('hostile structures are read as far as the bounds go', () => {
  const nested = (depth: number): string =>
    depth === 0
      ? '\r\nx'
      : `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n${nested(depth - 1)}\r\n--b${depth}--\r\n`
  assert.ok([...everyPart(parseMessage(Buffer.from(nested(50))))].length < 50)
  const many = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(2000)}`
  assert.ok([...everyPart(parseMessage(Buffer.from(many)))].length <= 500)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => void [...everyPart(parseMessage(Buffer.from(bytes)))]),
  )
})

test('headers and bodies that make a careless reader look at everything again and again are read in a moment', () => {
  const megabyte = 1_000_000
  const startedMs = workedMs()
  for (const value of [';', '"', ';"', '="', ' '].map((piece) => piece.repeat(megabyte / piece.length)))
    parseMessage(Buffer.from(`Content-Type: text/plain${value}\r\n\r\nx`))
  for (const body of [
    ' '.repeat(megabyte),
    ' \t'.repeat(megabyte / 2),
    '= '.repeat(megabyte / 2),
    ' \n'.repeat(megabyte / 2),
  ])
    decodeTransfer(Buffer.from(`${body}x`), 'quoted-printable')
  assert.ok(workedMs() - startedMs < 10_000)
  assert.equal(decodeTransfer(Buffer.from('a \t\r\nb=  \r\nc '), 'quoted-printable').toString(), 'a\r\nbc ')
})

test('reports come back as they were written', () => {
  const about = {
    reporter: 'mx.test',
    to: 'b+x@rp.test',
    recipient: 'c@y.test',
    originalHeader: 'Message-ID: <1@x>\r\n',
    at: new Date(0),
  }
  assert.deepEqual(
    parseDeliveryReport(composeDeliveryReport({ ...about, status: '5.1.1', diagnostic: '550 5.1.1 gone' }))?.recipients,
    [{ address: 'c@y.test', action: 'failed', status: '5.1.1', diagnostic: '550 5.1.1 gone', server: 'mx.test' }],
  )
  assert.deepEqual(parseAbuseReport(composeAbuseReport({ ...about, feedbackType: 'abuse' })), {
    feedbackType: 'abuse',
    reporter: 'dns; mx.test',
    recipient: 'c@y.test',
    originalMessageId: '<1@x>',
  })
  assert.equal(parseDeliveryReport(Buffer.from('Subject: x\r\n\r\nhello\r\n')), null)
  assert.equal(parseAbuseReport(Buffer.from('Subject: x\r\n\r\nhello\r\n')), null)
})

for (const [text, address, name] of [
  ['a@b.example', 'a@b.example', null],
  ['Amina <a+b@B.Example>', 'a+b@b.example', 'Amina'],
  ['"Duka, \\"la\\" Amina" <a@b.example>', 'a@b.example', 'Duka, "la" Amina'],
  ['a@bücher.example', 'a@xn--bcher-kva.example', null],
  ['jörg@b.example', 'jörg@b.example', null],
] as const)
  test(`${text} is a mailbox`, () => {
    const found = parseMailbox(text)
    assert.deepEqual([found?.address, found?.name], [address, name])
  })

test('what is no mailbox is refused', () => {
  for (const text of [
    '',
    'a',
    'a@',
    '@b.example',
    'a@b',
    'a b@c.example',
    'a@b..example',
    'a@-b.example',
    'a..b@c.example',
    'a@[127.0.0.1]',
    'a@1.2.3.4',
    'x <a@b.example',
    'x" <a@b.example>',
    'a@b.example\r\nBcc: c@d.example',
    `${'a'.repeat(65)}@b.example`,
    'a@b_c.example',
  ])
    assert.equal(parseMailbox(text), null, text)
})

const names: readonly (readonly [name: string, plain: string, disposition: string])[] = [
  ['a.txt', 'a.txt', 'filename="a.txt"'],
  ['Crédit épuisé.pdf', 'Credit epuise.pdf', "filename*=UTF-8''Cr%C3%A9dit%20%C3%A9puis%C3%A9.pdf"],
  ['bei ረ ሰላም.txt', 'bei.txt', "filename*=UTF-8''bei%20%E1%88%A8%20%E1%88%B0%E1%88%8B%E1%88%9D.txt"],
  ['ሰላም.txt', 'attachment.txt', "filename*=UTF-8''%E1%88%B0%E1%88%8B%E1%88%9D.txt"],
  ['a"b.txt', 'ab.txt', "filename*=UTF-8''a%22b.txt"],
]

test('names of attachments are read by old parsers: one parameter in each field, and no encoded word in quotes', () => {
  for (const [filename, plainName, disposition] of names) {
    const file = { filename, contentType: 'text/plain', content: Buffer.from('x'), contentId: null }
    const content = compose({
      fields: [],
      text: 'x',
      html: null,
      attachments: [{ ...file, disposition: 'attachment' }],
    })
    const text = content.toString().replace(/\r\n[ \t]/g, ' ')
    assert.match(text, new RegExp(`Content-Type: text/plain; name="${plainName}"\r\n`), filename)
    const [, found] = /Content-Disposition: attachment; (.*)\r\n/.exec(text) ?? []
    assert.equal(found, disposition)
  }
})
