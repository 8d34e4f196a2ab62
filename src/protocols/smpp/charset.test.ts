// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SegmentedMessage } from 'sms-segments-calculator'
import { runs } from '../../../test/properties.ts'
import {
  decodeGsm7,
  decodeMessage,
  decodeText,
  decodeUcs2,
  encodeGsm7,
  encodeMessage,
  encodeUcs2,
  encodeUdh,
  gsmLength,
  isGsm,
  joinings,
  nonGsmCharacters,
  parseUdh,
  split,
  toGsm,
} from './charset.ts'

const hex = (octets: Buffer): string => octets.toString('hex')

test('every character of the GSM alphabet has its own code', () => {
  const rows: readonly [string, string][] = [
    ['@£$¥èéùìòÇ\nØø\rÅå', '000102030405060708090a0b0c0d0e0f'],
    ['Δ_ΦΓΛΩΠΨΣΘΞÆæßÉ', '101112131415161718191a1c1d1e1f'],
    [' !"#¤%&\'()*+,-./', '202122232425262728292a2b2c2d2e2f'],
    ['0123456789:;<=>?', '303132333435363738393a3b3c3d3e3f'],
    ['¡ABCDEFGHIJKLMNO', '404142434445464748494a4b4c4d4e4f'],
    ['PQRSTUVWXYZÄÖÑÜ§', '505152535455565758595a5b5c5d5e5f'],
    ['¿abcdefghijklmno', '606162636465666768696a6b6c6d6e6f'],
    ['pqrstuvwxyzäöñüà', '707172737475767778797a7b7c7d7e7f'],
    ['\f^{}\\[~]|€', '1b0a1b141b281b291b2f1b3c1b3d1b3e1b401b65'],
  ]
  for (const [text, codes] of rows) {
    assert.equal(hex(encodeGsm7(text)), codes)
    assert.equal(decodeGsm7(Buffer.from(codes, 'hex')), text)
    assert.ok(isGsm(text))
  }
  for (const outside of ['ç', 'ê', '`', '\u001b', '\t', '’', '😀', 'ا', '\0']) assert.ok(!isGsm(outside), outside)
})

test('a code that nobody assigned is shown as the alphabet asks, and never lost with what follows', () => {
  assert.equal(decodeGsm7(Buffer.from('411b42', 'hex')), 'AB')
  assert.equal(decodeGsm7(Buffer.from('411b1b65', 'hex')), 'A€')
  assert.equal(decodeGsm7(Buffer.from('411b', 'hex')), 'A ')
  assert.equal(decodeGsm7(Buffer.from('41ff', 'hex')), 'A\ufffd')
  assert.equal(decodeUcs2(Buffer.from('0041d8', 'hex')), 'A')
})

test('text is read by its data coding', () => {
  for (const [octets, coding, text] of [
    ['0041', 0x00, '@A'],
    ['0041', 0x08, 'A'],
    ['0041', 0x18, 'A'],
    ['00', 0x10, '@'],
    ['00', 0xf1, '@'],
    ['e9', 0x03, 'é'],
    ['41', 0x01, 'A'],
  ] as const)
    assert.equal(decodeText(Buffer.from(octets, 'hex'), coding), text)
})

const boundaries: readonly [string, 'gsm7' | 'ucs2', number[]][] = [
  ['', 'gsm7', [0]],
  ['a'.repeat(160), 'gsm7', [160]],
  ['a'.repeat(161), 'gsm7', [153, 8]],
  ['a'.repeat(306), 'gsm7', [153, 153]],
  ['a'.repeat(307), 'gsm7', [153, 153, 1]],
  ['€'.repeat(80), 'gsm7', [80]],
  ['€'.repeat(81), 'gsm7', [76, 5]],
  [`${'a'.repeat(152)}€${'a'.repeat(10)}`, 'gsm7', [152, 11]],
  [`${'a'.repeat(151)}€${'a'.repeat(10)}`, 'gsm7', [152, 10]],
  ['a'.repeat(1530), 'gsm7', Array<number>(10).fill(153)],
  ['ا'.repeat(70), 'ucs2', [70]],
  ['ا'.repeat(71), 'ucs2', [67, 4]],
  ['😀'.repeat(35), 'ucs2', [70]],
  ['😀'.repeat(36), 'ucs2', [66, 6]],
  [`${'ا'.repeat(66)}😀${'ا'.repeat(10)}`, 'ucs2', [66, 12]],
]

test('a message is cut at exactly the characters that networks count', () => {
  for (const [text, encoding, lengths] of boundaries) {
    const { parts, ...rest } = split(text)
    assert.deepEqual(
      parts.map((part) => part.length),
      lengths,
    )
    assert.equal(parts.join(''), text)
    assert.deepEqual(rest, { encoding, units: encoding === 'gsm7' ? gsmLength(text) : text.length })
  }
})

/** Characters that stand alone: the calculator also keeps together what combines into one sign, which networks do not. */
const character = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(..."abcXYZ 019.,@£Δ_éùÇß'") },
  { weight: 4, arbitrary: fc.constantFrom(...'^{}\\[~]|€\f') },
  { weight: 1, arbitrary: fc.constantFrom('ا', 'ቁ', 'ç', '’', '😀', '𝄞', '你') },
)
const gsmCharacter = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...'abcXYZ 019.,@£Δ_éùÇß') },
  { weight: 2, arbitrary: fc.constantFrom(...'^{}\\[~]|€\f') },
)
const anyText = fc.oneof(
  fc.array(character, { maxLength: 200 }).map((all) => all.join('')),
  fc.array(gsmCharacter, { minLength: 140, maxLength: 500 }).map((all) => all.join('')),
)

test('another calculator counts the same segments in any text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const theirs = new SegmentedMessage(text)
      const ours = split(text)
      assert.equal(ours.encoding, theirs.encodingName === 'GSM-7' ? 'gsm7' : 'ucs2')
      assert.equal(ours.parts.length, theirs.segmentsCount)
    }),
    { numRuns: runs(2000), endOnFailure: true },
  )
})

const headerOctets = { udh: 6, udh16: 7, sar: 0, payload: 0 } as const

test('parts join to the text, and none is too long or cuts a character', () => {
  fc.assert(
    fc.property(anyText, fc.constantFrom(...joinings), (text, joining) => {
      const contents = encodeMessage(text, { reference: 300, joining })
      const parts = contents.map((content) => decodeMessage(content))
      assert.equal(parts.map((part) => part.text).join(''), text)
      for (const [i, { shortMessage, dataCoding, esmClass }] of contents.entries()) {
        const headerSeptets = joining === 'udh' ? 7 : 8
        assert.ok(
          shortMessage.length <=
            (dataCoding !== 0 ? 140 : esmClass === 0 ? 160 : 160 - headerSeptets + headerOctets[joining]),
        )
        assert.ok((parts[i]?.text ?? '').isWellFormed())
        const total = contents.length
        const reference = joining === 'udh' ? 300 & 0xff : 300
        assert.deepEqual(parts[i]?.concatenation, total === 1 ? null : { reference, total, number: i + 1 })
        assert.equal(esmClass, total > 1 && headerOctets[joining] > 0 ? 0x40 : 0)
      }
    }),
    { numRuns: runs(500) },
  )
})

test('both alphabets give back what they were given', () => {
  fc.assert(
    fc.property(fc.string({ unit: gsmCharacter }), fc.string({ unit: 'binary' }), (gsm, any) => {
      assert.equal(decodeGsm7(encodeGsm7(gsm)), gsm)
      assert.equal(encodeGsm7(gsm).length, gsmLength(gsm))
      assert.equal(decodeUcs2(encodeUcs2(any)), any)
    }),
    { numRuns: runs(300) },
  )
})

test('a part says which it is in the bytes of 3GPP TS 23.040', () => {
  assert.equal(hex(encodeUdh({ reference: 0x1a7, total: 3, number: 2 })), '050003a70302')
  assert.equal(hex(encodeUdh({ reference: 0xa1a7, total: 3, number: 2 }, 2)), '060804a1a70302')
  const parse = (octets: string) => {
    const { concatenation, rest } = parseUdh(Buffer.from(octets, 'hex'))
    return { concatenation, rest: hex(rest) }
  }
  const second = { reference: 0xa7, total: 3, number: 2 }
  assert.deepEqual(parse('050003a7030241'), { concatenation: second, rest: '41' })
  assert.deepEqual(parse('060804a1a7030241'), { concatenation: { ...second, reference: 0xa1a7 }, rest: '41' })
  assert.deepEqual(parse('0b05040b84000000 03a7030241'.replace(' ', '')), { concatenation: second, rest: '41' })
  assert.deepEqual(parse('0041'), { concatenation: null, rest: '41' }, 'an empty header')
  assert.deepEqual(parse('050003a7030441'), { concatenation: null, rest: '41' }, 'part 4 of 3')
  assert.deepEqual(parse('050003a7030041'), { concatenation: null, rest: '41' }, 'part 0')
  for (const broken of ['', '05', '050003a703', '050009a7030241', '010041'])
    assert.deepEqual(parse(broken), { concatenation: null, rest: broken })
})

test('a text is brought into the GSM alphabet when something near it is there', () => {
  for (const [text, expected] of [
    ['plain', 'plain'],
    ['“Habari” – it’s…', '"Habari" - it\'s...'],
    ['façade, crêpe, São, Ẹkọ́', 'facade, crepe, Sao, Eko'],
    ['cafe\u0301', 'café'],
    ['é à ñ Ü', 'é à ñ Ü'],
    ['ɛ ɔ ŋ Ɗ ƙ œ', 'e o n D k oe'],
    ['a\u00a0b\u200bc\td', 'a bc d'],
    ['½ ﬁ №', '1/2 fi No'],
    ['ok 😀', null],
    ['ቁም', null],
    ['إيقاف', null],
  ] as const)
    assert.equal(toGsm(text), expected)
})

test('what can be brought into the alphabet is in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const plain = toGsm(text)
      assert.ok(plain === null || isGsm(plain))
      if (isGsm(text)) assert.equal(plain, text)
    }),
    { numRuns: runs(1000) },
  )
})

test('the characters that make a message dearer are named once each', () => {
  assert.deepEqual(nonGsmCharacters('It’s a “😀” 😀 ok’'), ['’', '“', '😀', '”'])
})
