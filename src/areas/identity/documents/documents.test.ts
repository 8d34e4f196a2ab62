// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { constants, generateKeyPairSync, type KeyObject, privateEncrypt, randomBytes, sign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { brotliCompressSync, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { prepareZXingModule, writeBarcode } from 'zxing-wasm/writer'
import { catalogue, countryOf, entryFor } from '../catalogue.ts'
import { readBarcodes } from '../engines/barcodes.ts'
import { decode } from '../engines/image.ts'
import { packageFolder } from '../engines/nets/weights.ts'
import { numberRules } from '../number-rules.ts'
import { readCodes } from './barcode-fields.ts'
import { claim169Fields } from './claim-169.ts'
import { faydaFields } from './fayda.ts'
import { dateIn, printedFields, similarity } from './visual-zone.ts'
import { type LicenceKey, licenceFields, opened, published } from './za-licence.ts'
import { fieldsOfZone } from './zone-fields.ts'

const nowMs = Date.UTC(2026, 10, 17)

test('the fields of a zone stand where ICAO 9303 has them', () => {
  // Specimens of ICAO 9303, parts 4 and 5.
  const passport = fieldsOfZone(
    {
      format: 'TD3',
      lines: ['P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<', 'L898902C36UTO7408122F1204159ZE184226B<<<<<10'],
    },
    nowMs,
  )
  assert.deepEqual(
    [passport.document_number, passport.last_name, passport.first_name, passport.date_of_birth, passport.expiry_date],
    ['L898902C3', 'ERIKSSON', 'ANNA MARIA', '1974-08-12', '2012-04-15'],
  )
  assert.deepEqual([passport.sex, passport.nationality, passport.personal_number], ['F', 'UTO', 'ZE184226B'])
  const card = fieldsOfZone(
    {
      format: 'TD1',
      lines: ['I<UTOD231458907<<<<<<<<<<<<<<<', '7408122F1204159UTO<<<<<<<<<<<6', 'ERIKSSON<<ANNA<MARIA<<<<<<<<<<'],
    },
    nowMs,
  )
  assert.deepEqual([card.document_number, card.date_of_birth, card.last_name], ['D23145890', '1974-08-12', 'ERIKSSON'])
})

test('a number that is longer than its place goes on behind it', () => {
  const lines = ['I<UTOD23145890<7349<<<<<<<<<<<', '3407127M9507122UTOB012345678X6', 'STEVENSON<<PETER<JOHN<<<<<<<<<']
  const { document_number, personal_number } = fieldsOfZone({ format: 'TD1', lines }, nowMs)
  assert.deepEqual([document_number, personal_number], ['D23145890734', 'B012345678X'])
})

test('barcodes are read as issuers write them, and text of another kind is none', () => {
  const read = (text: string) => readCodes([{ format: 'PDF417', text }], nowMs).fields
  const card = read(
    'DLAMINI|THANDI ZANELE|F|RSA|9002150123083|15 Feb 1990|RSA|CITIZEN|02 Mar 2021|30129|108123456|1234567890',
  )
  assert.deepEqual(
    [card?.document_number, card?.last_name, card?.date_of_birth, card?.sex, card?.issue_date],
    ['9002150123083', 'DLAMINI', '1990-02-15', 'F', '2021-03-02'],
  )
  const zone = read('I<UTOD231458907<<<<<<<<<<<<<<<7408122F1204159UTO<<<<<<<<<<<6ERIKSSON<<ANNA<MARIA<<<<<<<<<<')
  assert.deepEqual([zone?.document_number, zone?.first_name], ['D23145890', 'ANNA MARIA'])
  const slip = read(
    '{"surname": "Okafor", "firstName": "Ada", "dateOfBirth": "1990-02-15", "gender": "female", "nin": "12345678901"}',
  )
  assert.deepEqual([slip?.last_name, slip?.sex, slip?.personal_number], ['OKAFOR', 'F', '12345678901'])
  const lines = read('Full Name: Abebe Bikila Demissie\nDate of Birth: 07/08/1992\nSex: Male')
  assert.deepEqual(
    [lines?.first_name, lines?.last_name, lines?.date_of_birth],
    ['ABEBE BIKILA', 'DEMISSIE', '1992-08-07'],
  )
  assert.equal(read('9002150123083')?.document_number, '9002150123083')
  for (const text of ['https://verify.example.com/x?id=1', '{"a": 1}', 'Hello: world', ' \u0001\u009b\tE'])
    assert.equal(read(text), null, text)
})

/** Contents of the sample that is published with the description of South African licences, and the same with other values. */
const licences = [
  {
    texts: 'B\xe1\xe1\xe1SANDERS\xe0J\xe1ZA\xe0ZA\xe00\xe1\xe1\xe16234560001AB\xe08609135139012',
    halves: ['02', '20070219', 'aaa', '10', 'a', '01', '19860913', '20121114', '20171214', '01'].join(''),
    fields: {
      ...{ document_number: '6234560001AB', personal_number: '8609135139012', last_name: 'SANDERS' },
      ...{ date_of_birth: '1986-09-13', issue_date: '2012-11-14', expiry_date: '2017-12-14', sex: 'M' },
    },
  },
  {
    texts: 'A\xe0B\xe0C\xe0EC\xe0DLAMINI\xe0TZ\xe0G,P\xe0ZA\xe0ZA\xe01\xe03\xe1\xe1702345000XYZ\xe09002150123083',
    halves: [
      ...['02', '20100101', '20110102', '20120103', '20130104', '12', '20300101', '02'],
      ...['19900215', '20260101', '20310101', '02'],
    ].join(''),
    fields: {
      ...{ document_number: '702345000XYZ', personal_number: '9002150123083', last_name: 'DLAMINI' },
      ...{ date_of_birth: '1990-02-15', issue_date: '2026-01-01', expiry_date: '2031-01-01', sex: 'F' },
    },
  },
]

/** A licence as an issuer with a key of ours writes it. */
function licenceCode({ texts, halves }: { texts: string; halves: string }, key: Parameters<typeof privateEncrypt>[0]) {
  const strings = Buffer.from(texts, 'latin1')
  const digits = Buffer.from(halves, 'hex')
  const head = Buffer.from([2, 0x6d, 0x16, 3, 0, strings.length, 1, digits.length, 0x82, 0x5a])
  const content = Buffer.alloc(615)
  Buffer.concat([head, strings, digits]).copy(content)
  const blocks = Array.from({ length: 5 }, (_, i) => {
    const mark = [1, 2, 3, 4, 5].map((byte) => byte * 2 ** i)
    const block = Buffer.concat([Buffer.from(mark), content.subarray(i * 123, (i + 1) * 123)])
    return privateEncrypt({ key: Object(key), padding: constants.RSA_NO_PADDING }, block)
  })
  return Buffer.concat([Buffer.from('019b09450000', 'hex'), ...blocks, Buffer.alloc(74, 7)])
}

test('a South African licence is read where its issuer signed it, from the bytes of the barcode in a picture', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 })
  const key = publicKey.export({ type: 'pkcs1', format: 'der' }).toString('base64')
  const keys: LicenceKey[] = [{ head: '019b0945', key }]
  const codes = licences.map((contents) => licenceCode(contents, privateKey))
  const pictures = await Promise.all(codes.map((code) => pictureOf(code)))
  for (const [i, code] of codes.entries()) {
    assert.deepEqual(licenceFields(code, keys), licences[i]?.fields)
    assert.equal(licenceFields(code), null, 'signed by somebody else')
    assert.equal(licenceFields(code.subarray(0, 719), keys), null, 'cut short')
    const [found] = await readBarcodes((await decode(pictures[i] ?? Buffer.alloc(0), 2_000)).image)
    assert.deepEqual(Buffer.from(found?.bytes ?? '', 'base64'), code)
  }
})

/** Keys of both versions as another publication has them (stackoverflow.com/q/17549231): modulus and exponent. */
const keyNumbers = {
  '01e10245': {
    modulus:
      '0xfed2e1c27e3363316e77317a7a52c54981395186be4974760c72518d63e0544a48d088b332c5b0c370c765d65d983c1f9de0a42b310ccc07ae770bd2b61d6a4dcceac757689bdcbf608478faf312f6087cc496c3762cf5c4651caecda3499fae7edb7eb40e3e18eb304170e91ed5b156aace6f432d6eca6cc35851de8c678f67',
    exponent: '0xbb797ffdec7f9e42c9d6f79b137059db',
  },
  '019b0945': {
    modulus:
      '0xca9f18ef6c3f3fa4c5a461fea54ab19406ba5ecd746d60a27492dca3d74e3b5c1d315f7b10383241809b029ebbd5de4d116030cc57f7d5a6c9a16f373bb14a508523f7e80a4c744d9085663a4a1472d7af2c56ae41b5065f7efa0293bd3278ad693546f9f16219b79ff471a3636824cffcdb63a8ed8059e6b9a4f0db895381cb',
    exponent: '0x187092da6454ceb1853e6915f8466a05',
  },
}

test('both published keys of South African licences open a block as their numbers say', () => {
  for (const [head, { modulus, exponent }] of Object.entries(keyNumbers)) {
    const key = published.find((one) => one.head === head)
    assert.ok(key)
    const block = Buffer.from(Array.from({ length: 128 }, (_, i) => (i * 89 + 7) % 251))
    const content = power(BigInt(`0x${block.toString('hex')}`), BigInt(exponent), BigInt(modulus))
    assert.equal(opened(block, key)?.toString('hex'), content.toString(16).padStart(256, '0'), head)
  }
})

/** base ^ exponent mod modulus */
function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [product, square] = [1n, base % modulus]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest % 2n === 1n) product = (product * square) % modulus
    square = (square * square) % modulus
  }
  return product
}

/** A Fayda code as an issuer with this key writes it, with a photograph. */
function faydaCode(person: string, key: KeyObject): string {
  // As long as a small photograph.
  const photo = randomBytes(600)
  const content = `${photo.toString('base64url')}:DLT:${person}`
  const header = Buffer.from('{"alg":"RS256"}').toString('base64url')
  const signed = Buffer.from(`${header}.${Buffer.from(content).toString('base64url')}`)
  return `${content}:SIGN:${header}..${sign('RSA-SHA256', signed, key).toString('base64url')}`
}

test('a Fayda code is read where its issuer signed it, from a picture, and anybody else’s is for a person', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const code = faydaCode('Abebe Bikila Demissie :V:4:G:M:A:4912 0384 7561 0293:D:1987/11/03', privateKey)
  const [found] = await readBarcodes((await decode(await pictureOf(code, 'QRCode'), 2_000)).image)
  assert.equal(found?.text, code)
  assert.deepEqual(faydaFields(code, key), {
    ...{ first_name: 'ABEBE BIKILA', last_name: 'DEMISSIE', document_number: '4912038475610293' },
    ...{ sex: 'M', date_of_birth: '1987-11-03' },
  })
  for (const other of [
    code.replace('1987', '1989'),
    code.replace('Abebe', 'Kebede'),
    code.replace('..', '.e30.'),
    code.slice(0, -4),
    faydaCode('Abebe Bikila:V:5:G:M:A:4912038475610293:D:1987/11/03', privateKey),
  ])
    assert.equal(faydaFields(other, key), null, other.slice(-60))
  const read = [{ format: 'QRCode', text: code }]
  assert.deepEqual(readCodes(read, nowMs), { fields: null, signature: 'invalid' })
})

/** Item of CBOR: numbers, texts, bytes, lists, maps. */
function cbor(item: unknown): Buffer {
  const head = (major: number, size: number) =>
    size < 24
      ? Buffer.from([(major << 5) | size])
      : size < 256
        ? Buffer.from([(major << 5) | 24, size])
        : size < 65_536
          ? Buffer.from([(major << 5) | 25, size >> 8, size & 255])
          : Buffer.from([(major << 5) | 26, ...[24, 16, 8, 0].map((shift) => (size >> shift) & 255)])
  if (typeof item === 'number') return item < 0 ? head(1, -1 - item) : head(0, item)
  if (typeof item === 'string') return Buffer.concat([head(3, Buffer.byteLength(item)), Buffer.from(item)])
  if (Buffer.isBuffer(item)) return Buffer.concat([head(2, item.length), item])
  if (Array.isArray(item)) return Buffer.concat([head(4, item.length), ...item.map(cbor)])
  const entries = Object.entries(Object(item))
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([name, of]) => [cbor(Number(name)), cbor(of)])])
}

function base45(bytes: Buffer): string {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:'
  const digits = (value: number, count: number) =>
    Array.from({ length: count }, (_, i) => alphabet[Math.floor(value / 45 ** i) % 45]).join('')
  let text = ''
  for (let at = 0; at < bytes.length; at += 2)
    text += at + 1 < bytes.length ? digits(bytes.readUInt16BE(at), 3) : digits(bytes.readUInt8(at), 2)
  return text
}

/** A code with claim 169: a tagged COSE_Sign1 message with the claims, compressed, in Base45. */
function claimCode(person: object, compress: (bytes: Buffer) => Buffer = deflateSync): string {
  const claims = cbor({ 1: 'https://id.example.org', 4: 1_900_000_000, 6: 1_750_000_000, 169: person })
  const message = cbor([cbor({ 1: -8 }), { 4: Buffer.from('key-1') }, claims, randomBytes(64)])
  return base45(compress(Buffer.concat([Buffer.from([0xd8, 61, 0xd2]), message])))
}

test('codes of identity systems that follow MOSIP are read, compressed either way, and their signature is not checked', async () => {
  const amina = {
    1: '3918592438',
    4: 'Amina Njeri Wanjiku',
    8: '19900215',
    9: 2,
    13: 'KE',
    62: [{ 0: randomBytes(300), 1: 0 }],
  }
  const expected = {
    ...{ document_number: '3918592438', personal_number: null, first_name: 'AMINA NJERI', last_name: 'WANJIKU' },
    ...{ date_of_birth: '1990-02-15', sex: 'F', nationality: 'KE', issue_date: null, expiry_date: null },
  }
  for (const text of [claimCode(amina), claimCode(amina, brotliCompressSync)]) {
    const [found] = await readBarcodes((await decode(await pictureOf(text, 'QRCode'), 2_000)).image)
    assert.equal(found?.text, text)
    assert.deepEqual(readCodes([found], nowMs), { fields: expected, signature: 'unchecked' })
  }
  const parts = claimCode({ 5: 'Amina', 6: 'Njeri', 7: 'Wanjiku', 8: '1990-02-15', 9: '2' })
  assert.deepEqual(readCodes([{ format: 'QRCode', text: parts }], nowMs).fields, {
    ...expected,
    ...{ document_number: null, nationality: null },
  })
  const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 1)
  for (const text of [
    claimCode(amina).slice(0, -30),
    base45(deflateSync(cbor({ 1: 'no message' }))).padEnd(60, '0'),
    base45(deflateSync(cbor(deep))).padEnd(60, '0'),
    base45(deflateSync(Buffer.alloc(2_000_000))),
    base45(randomBytes(200)),
    ':'.repeat(90),
  ])
    assert.equal(claim169Fields(text), null)
})

test('a value longer than any of a person is not read, and long texts are equal or not', () => {
  const long = 'A'.repeat(60_000)
  const { fields } = readCodes([{ format: 'QRCode', text: claimCode({ 1: long, 5: 'Amina', 7: long }) }], nowMs)
  assert.equal(fields, null)
  const named = claimCode({ 1: long, 5: 'Amina', 7: 'Wanjiku' })
  const found = readCodes([{ format: 'QRCode', text: named }], nowMs).fields
  assert.deepEqual([found?.document_number, found?.last_name], [null, 'WANJIKU'])
  assert.deepEqual([similarity(long, `${long}B`), similarity(long, long), similarity(long, 'A')], [0, 1, 0])
})

test('a signature counts for the code whose fields are used, and one that is not the issuer’s for all of them', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const person = (version: number) => `Abebe Bikila:V:${version}:G:M:A:4912038475610293:D:1987/11/03`
  const signed = faydaCode(person(4), privateKey)
  const unread = faydaCode(person(5), privateKey)
  const wrong = signed.replace('Abebe', 'Kebede')
  const lines = faydaCode('Abebe\nSurname: Kebede\nDate of Birth: 1990-02-15\n:V:4:G:M', privateKey).slice(0, -4)
  const [claim, zone] = [
    claimCode({ 1: '3918592438', 5: 'Amina', 7: 'Wanjiku' }),
    'I<UTOD231458907<<<<<<<<<<<<<<<7408122F1204159UTO<<<<<<<<<<<6ERIKSSON<<ANNA<MARIA<<<<<<<<<<',
  ]
  const rows: [string[], string | undefined, string | null][] = [
    [[signed], '4912038475610293', 'valid'],
    [[claim, signed], '4912038475610293', 'valid'],
    [[zone, signed], '4912038475610293', 'valid'],
    [[unread], undefined, 'unread'],
    [[unread, claim], '3918592438', 'unchecked'],
    [[unread, zone], 'D23145890', null],
    [[wrong], undefined, 'invalid'],
    [[wrong, signed], '4912038475610293', 'invalid'],
    [[claim, wrong], '3918592438', 'invalid'],
    [[lines], undefined, 'invalid'],
  ]
  for (const [texts, number, signature] of rows) {
    const codes = texts.map((text) => ({ format: 'QRCode', text }))
    const read = readCodes(codes, nowMs, key)
    assert.deepEqual([read.fields?.document_number ?? undefined, read.signature], [number, signature], texts.join(' '))
  }
})

test('the barcode of a Ugandan card has names in base64, and its fingerprints are left alone', () => {
  const [last, first, other] = ['Namukasa', 'Grace', 'Temitope'].map((name) => Buffer.from(name).toString('base64'))
  const text = `${last};${first};${other};03111987;18062024;17062034;CF8710910ABCDE;024681357;[FNG]gAB/${'8f'.repeat(60)}`
  assert.deepEqual(readCodes([{ format: 'PDF417', text }], nowMs).fields, {
    ...{ document_number: '024681357', personal_number: 'CF8710910ABCDE', first_name: 'GRACE TEMITOPE' },
    ...{ last_name: 'NAMUKASA', date_of_birth: '1987-11-03' },
    ...{ sex: null, nationality: null, issue_date: null, expiry_date: null },
  })
  assert.equal(readCodes([{ format: 'PDF417', text: text.replace('CF87', '1187') }], nowMs).fields, null)
})

/** Picture of a barcode. */
async function pictureOf(content: Uint8Array | string, format: 'PDF417' | 'QRCode' = 'PDF417'): Promise<Buffer> {
  const wasm = await readFile(join(packageFolder('zxing-wasm'), 'dist', 'writer', 'zxing_writer.wasm'))
  await prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(wasm).buffer }, fireImmediately: true })
  const { image, error } = await writeBarcode(content, { format, scale: 3 })
  assert.equal(error, '')
  const png = Buffer.from((await image?.arrayBuffer()) ?? new ArrayBuffer(0))
  return sharp(png).flatten({ background: '#ffffff' }).jpeg().toBuffer()
}

test('labels are those of each country, above their value, beside it or in its line', () => {
  const at = (text: string, x: number, y: number) => ({ text, confidence: 1, box: { x, y, width: 100, height: 20 } })
  const read = (...lines: ReturnType<typeof at>[]) =>
    Object.fromEntries(Object.entries(printedFields(lines)).map(([name, { value }]) => [name, value]))
  assert.deepEqual(
    read(at('FULL NAMES', 0, 0), at('AMINA NJERI WANJIKU', 0, 30), at('ID NUMBER:', 200, 0), at('12345678', 320, 0)),
    {
      ...{ first_name: 'AMINA NJERI', last_name: 'WANJIKU', document_number: '12345678' },
    },
  )
  assert.deepEqual(read(at('Jina la Kwanza: Asha', 0, 0), at('Tarehe ya kuzaliwa: 15/02/1990', 0, 40)), {
    ...{ first_name: 'ASHA', date_of_birth: '1990-02-15' },
  })
  assert.deepEqual(read(at('Nom', 0, 0), at('DIOP', 0, 30), at("Date d'expiration", 0, 80), at('01/02/2031', 0, 110)), {
    ...{ last_name: 'DIOP', expiry_date: '2031-02-01' },
  })
})

test('a label is found without its spaces, and one whose value cannot be that is passed over', () => {
  const at = (text: string, x: number, y: number) => ({ text, confidence: 1, box: { x, y, width: 100, height: 20 } })
  const { issue_date, document_number, expiry_date, personal_number } = printedFields([
    ...[
      at('NATIONAL IDENTIFICATION NUMBER SLIP', 0, 0),
      at('OKAFOR', 0, 30),
      at('NIN', 300, 0),
      at('71928374650', 300, 30),
    ],
    ...[at('DATE OFISSUE', 0, 100), at('18/06/2024', 0, 130), at('Valido ate', 300, 100), at('17/06/2034', 300, 130)],
    ...[at('N de la carte', 0, 200), at('107198711', 0, 230)],
  ])
  assert.deepEqual([issue_date?.value, expiry_date?.value], ['2024-06-18', '2034-06-17'])
  assert.deepEqual([document_number?.value, personal_number?.value], ['107198711', '71928374650'])
})

test('printed dates are read as documents write them', () => {
  const rows: [string, string | null][] = [
    ['15 FEB 1990', '1990-02-15'],
    ['15FEB1990', '1990-02-15'],
    ['1 February 2031', '2031-02-01'],
    ['15/02/1990', '1990-02-15'],
    ['1990-02-15', '1990-02-15'],
    ['AK0123456', null],
  ]
  for (const [text, date] of rows) assert.equal(dateIn(text), date, text)
})

test('numbers that were verified have a check digit, and all others can only warn', () => {
  const za = numberRules.find(({ country }) => country === 'ZA')
  assert.equal(za?.checksum?.('8001015009087'), true)
  assert.equal(za?.checksum?.('8001015009086'), false)
  assert.deepEqual(za?.embeds?.('8001015009087'), { birth: '1980-01-01', sex: 'M' })
  assert.deepEqual(
    numberRules.filter(({ isVerified }) => isVerified).map(({ name }) => name),
    ['passport', 'ZA identity number'],
  )
})

test('the catalogue has 54 countries, each with a passport, and says where it is unsure', () => {
  assert.equal(new Set(catalogue.map(({ country }) => country)).size, 54)
  assert.equal(catalogue.filter(({ type }) => type === 'passport').length, 54)
  assert.ok(catalogue.every(({ source }) => source.length > 0))
  assert.deepEqual([countryOf('KEN'), countryOf('ke'), countryOf('FRA')], ['KE', 'KE', null])
  assert.throws(() => entryFor('nin_slip', 'KE'), /INVALID_DOCUMENT_TYPE/)
})

test('names are compared without marks and order of letters lost', () => {
  assert.equal(similarity('Wanjikũ', 'WANJIKU'), 1)
  assert.ok(similarity('WANJIKU', 'WANJIRU') > 0.85)
  assert.ok(similarity('WANJIKU', 'OKONKWO') < 0.5)
})
