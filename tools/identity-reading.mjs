// SPDX-License-Identifier: Apache-2.0
// `node tools/identity-reading.mjs [document ...]` (after `npm run build`): how well documents, or those named, are read. Draws
// documents of several countries with invented data, in fonts, layouts, light and angles that none of the models was trained with,
// reads them with the engines, and prints the tables of docs/identity.md: by document, and by kind of picture. Needs the fonts OCR-B,
// Lato and Open Sans (Debian's fonts-ocr-b, fonts-lato and fonts-open-sans); no country's design is copied.

import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import sharp from 'sharp'
import { prepareZXingModule, writeBarcode } from 'zxing-wasm/writer'

const src = new URL('../dist/src/', import.meta.url)
const { Compute } = await import(new URL('platform/compute.js', src))
const { readDocument } = await import(new URL('areas/identity/engines/tasks.js', src))
const { printedFields } = await import(new URL('areas/identity/documents/visual-zone.js', src))

const file = (path) => readFileSync(new URL(`../${path}`, import.meta.url))
const face = `data:image/jpeg;base64,${file('src/areas/identity/specimens/face_a.jpg').toString('base64')}`
const wasm = file('node_modules/zxing-wasm/dist/writer/zxing_writer.wasm')
await prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(wasm).buffer }, fireImmediately: true })

// --- documents ---

const fonts = ['Lato', 'Open Sans']
const person = {
  last: 'OYELARAN',
  first: 'TEMITOPE GRACE',
  birth: '1987-11-03',
  sex: 'F',
  issued: '2024-06-18',
  expiry: '2034-06-17',
}

const characters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const weights = [7, 3, 1]
const digitOf = (text) =>
  [...text].reduce((sum, c, i) => sum + Math.max(0, characters.indexOf(c)) * weights[i % 3], 0) % 10
const checked = (text) => `${text}${digitOf(text)}`
const filled = (text, length) => text.padEnd(length, '<').slice(0, length)
const day = (text) => text.slice(2).replaceAll('-', '')
const names = `${person.last}<<${person.first.replaceAll(' ', '<')}`

function passportZone(country, number) {
  const parts = [
    checked(filled(number, 9)),
    country,
    checked(day(person.birth)),
    person.sex,
    checked(day(person.expiry)),
    checked(filled('', 14)),
  ]
  return [filled(`P<${country}${names}`, 44), `${parts.join('')}${digitOf(parts[0] + parts[2] + parts[4] + parts[5])}`]
}

function cardZone(country, number) {
  const one = `I<${filled(country, 3)}${checked(filled(number, 9))}${filled('', 15)}`
  const [born, until] = [checked(day(person.birth)), checked(day(person.expiry))]
  return [
    one,
    `${born}${person.sex}${until}${filled(country, 3)}${filled('', 11)}${digitOf(one.slice(5) + born + until + filled('', 11))}`,
    filled(names, 30),
  ]
}

const months = { en: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'] }
const named = (text) => `${text.slice(8)} ${months.en[Number(text.slice(5, 7)) - 1]} ${text.slice(0, 4)}`
const slashed = (text) => text.split('-').reverse().join('/')

/** Labels of a document, and which field each is. */
const fields = (number, [last, first, birth, sex, issued, expiry, own], date = slashed, personal = null) => [
  ...[
    [own, number, 'document_number', number],
    [last, person.last, 'last_name', person.last],
  ],
  ...[
    [first, person.first, 'first_name', person.first],
    [birth, date(person.birth), 'date_of_birth', person.birth],
  ],
  [sex, person.sex, 'sex', person.sex],
  ...(issued ? [[issued, date(person.issued), 'issue_date', person.issued]] : []),
  ...(expiry ? [[expiry, date(person.expiry), 'expiry_date', person.expiry]] : []),
  ...(personal ? [personal] : []),
]

const english = ['Surname', 'Given names', 'Date of birth', 'Sex', 'Date of issue', 'Date of expiry']
const french = ['Nom', 'Prénoms', 'Date de naissance', 'Sexe', 'Date de délivrance', "Date d'expiration"]
const portuguese = ['Apelido', 'Nomes próprios', 'Data de nascimento', 'Sexo', 'Data de emissão', 'Válido até']

const smartCard = `${person.last}|${person.first}|F|RSA|8711030123081|03 NOV 1987|RSA|CITIZEN|18 JUN 2024|30129|108123456|${'7'.repeat(100)}`
/** As long as a licence is, which nobody but its issuer can write. */
const licence = Buffer.concat([
  Buffer.from('019b09450000', 'hex'),
  Buffer.from(Array.from({ length: 714 }, (_, i) => (i * 167 + 41) % 256)),
])

/** Written as the issuer of Fayda does, with a key of ours and bytes as long as a small photograph. */
const faydaText = `${licence.subarray(6, 600).toString('base64url')}:DLT:${person.first} ${person.last}:V:4:G:F:A:4912038475610293:D:1987/11/03`
const faydaHead = Buffer.from('{"alg":"RS256"}').toString('base64url')
const faydaSignature = sign(
  'RSA-SHA256',
  Buffer.from(`${faydaHead}.${Buffer.from(faydaText).toString('base64url')}`),
  generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey,
)
const fayda = `${faydaText}:SIGN:${faydaHead}..${faydaSignature.toString('base64url')}`

const encoded = (text) => Buffer.from(text).toString('base64')
const [firstName, otherName] = person.first.split(' ')
const ugandan = `${[person.last, firstName, otherName].map(encoded).join(';')};03111987;18062024;17062034;CF8710910ABCDE;024681357;[FNG]${licence.subarray(6, 256).toString('base64')}`

const documents = {
  'passport, English': {
    shape: 0.7,
    title: 'FEDERAL REPUBLIC OF NIGERIA',
    fields: fields('B50127394', [...english, 'Passport No.'], named),
    zone: passportZone('NGA', 'B50127394'),
  },
  'passport, French': {
    shape: 0.7,
    title: 'REPUBLIQUE DU SENEGAL',
    fields: fields('A01934572', [...french, 'Passeport No'], slashed),
    zone: passportZone('SEN', 'A01934572'),
  },
  'passport, Portuguese': {
    shape: 0.7,
    title: 'REPUBLICA DE MOCAMBIQUE',
    fields: fields('AB0419283', [...portuguese, 'Passaporte N°'], slashed),
    zone: passportZone('MOZ', 'AB0419283'),
  },
  'Ghana Card, front': {
    title: 'REPUBLIC OF GHANA',
    fields: fields('GHA-726153849-1', [
      'Surname',
      'Firstnames',
      'Date of birth',
      'Sex',
      'Date of issuance',
      'Date of expiry',
      'Personal ID Number',
    ]),
  },
  'Ghana Card, back': { title: 'ECOWAS IDENTITY CARD', zone: cardZone('GHA', 'AR7261538') },
  'identity card of Kenya, front': {
    title: 'JAMHURI YA KENYA',
    fields: fields('36281947', ['SURNAME', 'GIVEN NAME', 'DATE OF BIRTH', 'SEX', 'DATE OF ISSUE', null, 'ID NUMBER']),
  },
  'identity card of Kenya, back': { title: 'DISTRICT OF BIRTH', zone: cardZone('KYA', '362819471') },
  'identity card of Uganda, front': {
    title: 'REPUBLIC OF UGANDA',
    fields: fields(
      '019283746',
      ['SURNAME', 'GIVEN NAME', 'DATE OF BIRTH', 'SEX', null, 'DATE OF EXPIRY', 'CARD NO.'],
      slashed,
      ['NIN', 'CF87110300ABCD', 'personal_number', 'CF87110300ABCD'],
    ),
  },
  'identity card of Uganda, back': { title: 'VILLAGE  PARISH  COUNTY', zone: cardZone('UGA', '019283746') },
  'identity card of Senegal, front': {
    title: 'CARTE D IDENTITE CEDEAO',
    fields: fields('1 07 198711', [...french, 'N° de la carte']),
  },
  'identity card of Tanzania, front': {
    title: 'JAMHURI YA MUUNGANO WA TANZANIA',
    fields: fields('19871103-12345-00001-27', [
      'Jina la Mwisho',
      'Jina la Kwanza',
      'Tarehe ya Kuzaliwa',
      'Jinsi',
      null,
      'Mwisho wa Matumizi',
      'Namba ya Kitambulisho',
    ]),
  },
  'identity card of Rwanda, front': {
    title: 'REPUBULIKA Y U RWANDA',
    fields: [
      ['Amazina / Names', `${person.first} ${person.last}`, 'first_name', person.first],
      ['Itariki yavutseho / Date of Birth', slashed(person.birth), 'date_of_birth', person.birth],
      ['Igitsina / Sex', 'F', 'sex', 'F'],
      ['Indangamuntu / National ID No.', '1198770123456789', 'document_number', '1198770123456789'],
    ],
  },
  'identity card of Ethiopia, front': {
    title: 'ETHIOPIAN DIGITAL ID CARD',
    fields: [
      ['Full Name', `${person.first} ${person.last}`, 'first_name', person.first],
      ['Date of Birth', slashed(person.birth), 'date_of_birth', person.birth],
      ['Sex', 'Female', 'sex', 'F'],
      ['FAN', '4912038475610293', 'document_number', '4912038475610293'],
    ],
  },
  'identity card of Ethiopia, back': { title: 'FAYDA', code: fayda, format: 'QRCode' },
  'NIN slip of Nigeria': {
    shape: 0.5,
    title: 'National Identification Number Slip (NINS)',
    fields: [
      ['Surname:', person.last, 'last_name', person.last],
      ['First Name:', person.first, 'first_name', person.first],
      ['NIN:', '71928374650', 'personal_number', '71928374650'],
      ['Gender:', 'F', 'sex', 'F'],
    ],
  },
  'identity card of Uganda, barcode of the back': { title: 'REPUBLIC OF UGANDA', code: ugandan },
  'identity card of South Africa, front': {
    title: 'REPUBLIC OF SOUTH AFRICA',
    fields: fields('8711030123081', ['Surname', 'Names', 'Date of Birth', 'Sex', null, null, 'Identity Number'], named),
  },
  'identity card of South Africa, back': { title: 'DEPARTMENT OF HOME AFFAIRS', code: smartCard },
  'driving licence of South Africa, back': { title: 'DRIVING LICENCE', code: licence },
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

async function drawn({ shape = 0.63, title, fields: rows = [], zone = [], code = null, format = 'PDF417' }, font) {
  const [width, height] = [1_400, Math.round(1_400 * shape)]
  const stripes = Array.from(
    { length: 60 },
    (_, i) => `<path d="M${i * 48 - 700} ${height} L${i * 48} 0" stroke="#c9b99a" stroke-width="2" opacity="0.45"/>`,
  )
  const size = zone.length === 2 ? 40.5 : 58
  const room = zone.length === 0 ? 0 : 60 + zone.length * size * 1.55
  const left = font === fonts[0] ? 60 : 880
  const from = font === fonts[0] ? 480 : 60
  const perColumn = rows.some(([, value]) => value.length > 22) ? rows.length : Math.ceil(rows.length / 2)
  const step = (height - room - 190) / Math.max(perColumn, 3)
  const print = rows.map(([label, value], i) => {
    const [x, y] = [from + (i >= perColumn ? 430 : 0), 200 + (i % perColumn) * step]
    return `<text x="${x}" y="${y}" font-size="20" fill="#6a5237">${escaped(label)}</text><text x="${x}" y="${y + 36}" font-size="31" fill="#1a1613">${escaped(value)}</text>`
  })
  const lines = zone.map(
    (line, i) =>
      `<text x="${width / 2}" y="${height - 34 - (zone.length - 1 - i) * size * 1.55}" text-anchor="middle" font-family="OCR B" font-size="${size}" fill="#1c1a19">${escaped(line)}</text>`,
  )
  const band = zone.length === 0 ? '' : `<rect y="${height - room}" width="${width}" height="${room}" fill="#f4efe6"/>`
  const portrait =
    rows.length > 0
      ? `<image x="${left}" y="180" width="330" height="${Math.min(410, height - room - 210)}" preserveAspectRatio="xMidYMid slice" href="${face}"/>`
      : ''
  const bars = code === null ? '' : (await writeBarcode(code, { format, scale: format === 'QRCode' ? 5 : 3 })).svg
  const barcode = bars
    .slice(bars.indexOf('<svg'))
    .replace('<svg', `<svg x="120" y="${format === 'QRCode' ? 110 : 240}" preserveAspectRatio="xMinYMin"`)
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="${font}"><rect width="${width}" height="${height}" fill="#efe4d0"/>${stripes.join('')}<text x="60" y="84" font-size="36" font-weight="bold" fill="#5a2d1c">${escaped(title)}</text>${portrait}${print.join('')}${band}${lines.join('')}${barcode}</svg>`
  return sharp(Buffer.from(svg)).jpeg({ quality: 95 }).toBuffer()
}

// --- pictures of them ---

/** Light from one side, from a colour to nothing. */
const light = ({ width, height }, colour, strength, x) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><radialGradient id="l" cx="${x}" cy="0.3" r="0.35"><stop offset="0" stop-color="${colour}" stop-opacity="${strength}"/><stop offset="1" stop-color="${colour}" stop-opacity="0"/></radialGradient><rect width="100%" height="100%" fill="url(#l)"/></svg>`,
  )

const table = { background: '#4b5563' }
const kinds = {
  'as it is': [(picture) => picture],
  'held sideways or upside down': [90, 180, 270].map((angle) => (picture) => picture.rotate(angle)),
  'tilted by 4 and 8 degrees': [4, -8].map((angle) => (picture) => picture.rotate(angle, table)),
  'seen from the side': [(picture) => picture.affine([1, 0.08, 0.03, 0.86], table)],
  '800 and 560 pixels wide': [800, 560].map((width) => (picture) => picture.resize(width)),
  'a quarter of the light, yellow': [(picture) => picture.linear([0.3, 0.26, 0.16], [4, 3, 2])],
  'a shadow': [(picture, size) => picture.composite([{ input: light(size, '#000', 0.7, 0.75) }])],
  'a reflection': [(picture, size) => picture.composite([{ input: light(size, '#fff', 0.95, 0.2) }])],
  'a little out of focus': [(picture) => picture.blur(1.3)],
  'out of focus': [(picture) => picture.blur(2.6)],
  'a JPEG of quality 20': [(picture) => picture],
}

// --- reading ---

const compute = new Compute({
  program: new URL('areas/identity/engines/program.js', src),
  processes: 1,
  maxWaitMs: 600_000,
  maxWaiting: 64,
  log: pino({ level: 'silent' }),
})
const empty = () => ({ pictures: 0, zones: 0, zonesRead: 0, codes: 0, codesRead: 0, fields: 0, fieldsRead: 0 })
const byDocument = new Map()
const byKind = new Map()

const chosen = process.argv.slice(2)
for (const [name, document] of Object.entries(documents)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  const pages = await Promise.all(fonts.map((font) => drawn(document, font)))
  let turn = 0
  for (const [kind, makes] of Object.entries(kinds))
    for (const make of makes) {
      const page = pages[turn++ % pages.length]
      const picture = make(sharp(page), await sharp(page).metadata())
      const front = await picture.jpeg({ quality: kind.includes('quality 20') ? 20 : 85 }).toBuffer()
      const read = await compute.run(
        readDocument,
        { front, back: null, wantsPortrait: false },
        { owner: '', isUrgent: false },
      )
      for (const [counts, key] of [
        [byDocument, name],
        [byKind, kind],
      ])
        counts.set(key, added(counts.get(key) ?? empty(), document, read))
    }
}
await compute.stop()

function added(count, { zone, code, fields: rows = [] }, { mrz, barcodes, lines }) {
  const printed = printedFields(lines)
  const isRead =
    typeof code === 'string'
      ? barcodes.some(({ text }) => text === code)
      : barcodes.some(({ bytes }) => bytes === code?.toString('base64'))
  return {
    pictures: count.pictures + 1,
    zones: count.zones + (zone ? 1 : 0),
    zonesRead: count.zonesRead + (zone && mrz?.lines.join() === zone.join() ? 1 : 0),
    codes: count.codes + (code ? 1 : 0),
    codesRead: count.codesRead + (code && isRead ? 1 : 0),
    fields: count.fields + rows.length,
    fieldsRead:
      count.fieldsRead +
      rows.filter(([, , field, value]) => unspaced(printed[field]?.value ?? '').startsWith(unspaced(value))).length,
  }
}

/** Readers drop spaces now and then. */
function unspaced(text) {
  return text.replaceAll(' ', '')
}

const of = (read, all) => (all === 0 ? '–' : `${read} of ${all}`)
for (const [head, counts] of [
  ['Document', byDocument],
  ['Picture', byKind],
]) {
  process.stdout.write(
    `| ${head} | Pictures | Zones read | Barcodes read | Printed fields read |\n|---|---|---|---|---|\n`,
  )
  for (const [name, { pictures, ...one }] of counts)
    process.stdout.write(
      `| ${name} | ${pictures} | ${of(one.zonesRead, one.zones)} | ${of(one.codesRead, one.codes)} | ${of(one.fieldsRead, one.fields)} |\n`,
    )
  process.stdout.write('\n')
}
