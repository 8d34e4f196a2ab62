// SPDX-License-Identifier: Apache-2.0
// Draws the documents of the identity specimens, with the faces that tools/identity-faces.mjs made. Invented data; no
// country's design is copied. Needs the font OCR-B (Debian's fonts-ocr-b): node tools/identity-documents.mjs

import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'

const out = join(dirname(dirname(fileURLToPath(import.meta.url))), 'src/areas/identity/specimens')
const portrait = `data:image/jpeg;base64,${readFileSync(join(out, 'face_a.jpg')).toString('base64')}`

const characters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const digitOf = (text) =>
  [...text].reduce((sum, c, i) => sum + Math.max(0, characters.indexOf(c)) * [7, 3, 1][i % 3], 0) % 10
const checked = (text) => `${text}${digitOf(text)}`
const filled = (text, length) => text.padEnd(length, '<').slice(0, length)
const day = (text) => text.slice(2).replaceAll('-', '')

function passportZone({ number, birth, expiry, sex, last, first }) {
  const parts = [
    checked(filled(number, 9)),
    'KEN',
    checked(day(birth)),
    sex,
    checked(day(expiry)),
    checked(filled('', 14)),
  ]
  const composite = digitOf(parts[0] + parts[2] + parts[4] + parts[5])
  return [filled(`P<KEN${last}<<${first.replaceAll(' ', '<')}`, 44), `${parts.join('')}${composite}`]
}

function cardZone({ number, birth, expiry, sex, last, first }) {
  const one = `I<GHA${checked(filled(number, 9))}${filled('', 15)}`
  const [born, until] = [checked(day(birth)), checked(day(expiry))]
  const composite = digitOf(one.slice(5) + born + until + filled('', 11))
  return [
    one,
    `${born}${sex}${until}GHA${filled('', 11)}${composite}`,
    filled(`${last}<<${first.replaceAll(' ', '<')}`, 30),
  ]
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const printed = (text) => `${text.slice(8)} ${months[Number(text.slice(5, 7)) - 1]} ${text.slice(0, 4)}`

function page({ title, subtitle, fields, zone = [], size = 1250, height = 880, zoneSize = 36, hasPortrait = true }) {
  const waves = Array.from(
    { length: 40 },
    (_, i) =>
      `<path d="M0 ${i * 22} Q ${size / 4} ${i * 22 - 14} ${size / 2} ${i * 22} T ${size} ${i * 22}" fill="none" stroke="#9db7a6" stroke-width="1" opacity="0.5"/>`,
  )
  const rows = fields.map(
    ([label, value, column = 0, row = 0]) =>
      `<text x="${430 + column * 400}" y="${210 + row * 84}" font-size="18" fill="#4d5a52">${label}</text>
       <text x="${430 + column * 400}" y="${244 + row * 84}" font-size="30" fill="#101418">${value}</text>`,
  )
  const lines = zone.map(
    (line, i) =>
      `<text x="${size / 2}" y="${height - 30 - (zone.length - 1 - i) * (zoneSize + 20)}" text-anchor="middle" font-family="OCR B" font-size="${zoneSize}" fill="#111">${line.replaceAll('<', '&lt;')}</text>`,
  )
  const band = zone.length
    ? `<rect y="${height - 45 - zone.length * (zoneSize + 20)}" width="${size}" height="${45 + zone.length * (zoneSize + 20)}" fill="#f1f3ef"/>`
    : ''
  const picture = hasPortrait
    ? `<image x="50" y="170" width="340" height="400" preserveAspectRatio="xMidYMid slice" href="${portrait}"/>`
    : ''
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${height}" font-family="DejaVu Sans"><rect width="${size}" height="${height}" fill="#dfe8de"/>${waves.join('')}
  <text x="50" y="70" font-size="34" fill="#223a2c">${title}</text><text x="50" y="120" font-size="24" fill="#223a2c">${subtitle}</text>
  <text x="${size - 60}" y="120" font-size="30" fill="#a33" opacity="0.7" text-anchor="end">SPECIMEN</text>${picture}${rows.join('')}${band}${lines.join('')}</svg>`
}

const holder = {
  number: 'AK0123456',
  birth: '1990-02-15',
  expiry: '2031-02-14',
  issued: '2021-02-15',
  sex: 'F',
  last: 'WANJIKU',
  first: 'AMINA NJERI',
}

function passport(person, zone = passportZone(person)) {
  return page({
    title: 'JAMHURI YA KENYA   REPUBLIC OF KENYA',
    subtitle: 'PASIPOTI   PASSPORT',
    fields: [
      ['Type', 'P', 0, 0],
      ['Passport No.', person.number, 1, 0],
      ['Surname', person.last, 0, 1],
      ['Given names', person.first, 1, 1],
      ['Date of birth', printed(person.birth), 0, 2],
      ['Sex', person.sex, 1, 2],
      ['Date of issue', printed(person.issued), 0, 3],
      ['Date of expiry', printed(person.expiry), 1, 3],
      ['Nationality', 'KENYAN', 0, 4],
      ['Authority', 'GOVERNMENT OF KENYA', 1, 4],
    ],
    zone,
  })
}

const [first, second] = passportZone(holder)
const ghana = { ...holder, number: 'GHA123456', expiry: '2032-05-01', issued: '2022-05-02' }
const za = luhn('900215012308')

function luhn(digits) {
  const sum = [...digits]
    .reverse()
    .reduce((all, c, i) => all + (i % 2 ? Number(c) : [0, 2, 4, 6, 8, 1, 3, 5, 7, 9][Number(c)]), 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

const drawings = {
  passport_ke: passport(holder),
  passport_expired: passport({ ...holder, issued: '2012-03-01', expiry: '2022-02-28' }),
  passport_bad_mrz: passport(holder, [first, second.replace('AK01234', 'AK01284')]),
  passport_altered: passport({ ...holder, number: 'AK0199456' }, [first, second]),
  id_gh_front: page({
    title: 'REPUBLIC OF GHANA',
    subtitle: 'GHANA CARD',
    fields: [
      ['Surname', ghana.last, 0, 0],
      ['Firstnames', ghana.first, 1, 0],
      ['Nationality', 'GHANAIAN', 0, 1],
      ['Sex', ghana.sex, 1, 1],
      ['Date of birth', printed(ghana.birth), 0, 2],
      ['Personal ID Number', 'GHA-712345678-9', 1, 2],
      ['Date of issue', printed(ghana.issued), 0, 3],
      ['Date of expiry', printed(ghana.expiry), 1, 3],
      ['Document number', ghana.number, 0, 4],
    ],
    height: 790,
  }),
  id_gh_back: page({
    title: 'ECOWAS IDENTITY CARD',
    subtitle: 'PLACE OF ISSUANCE ACCRA',
    fields: [],
    zone: cardZone(ghana),
    height: 790,
    zoneSize: 54,
    hasPortrait: false,
  }),
  id_za: page({
    title: 'REPUBLIC OF SOUTH AFRICA',
    subtitle: 'NATIONAL IDENTITY CARD',
    fields: [
      ['Surname', holder.last, 0, 0],
      ['Names', holder.first, 0, 1],
      ['Sex', holder.sex, 1, 0],
      ['Nationality', 'RSA', 1, 1],
      ['Identity Number', za, 0, 2],
      ['Date of Birth', printed(holder.birth), 0, 3],
      ['Country of Birth', 'RSA', 1, 3],
      ['Status', 'CITIZEN', 0, 4],
    ],
    height: 790,
  }),
  no_face: `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480"><rect width="640" height="300" fill="#88b6d8"/><rect y="300" width="640" height="180" fill="#5f8a4a"/><path d="M0 300 L180 150 L330 300 Z" fill="#6d6a66"/><path d="M220 300 L420 120 L640 300 Z" fill="#7d7a74"/>${Array.from({ length: 60 }, (_, i) => `<path d="M${i * 11} 480 l4 -${40 + ((i * 37) % 50)} l4 ${40 + ((i * 37) % 50)}" fill="#37602c"/>`).join('')}</svg>`,
}

for (const [name, svg] of Object.entries(drawings)) {
  const picture = await sharp(Buffer.from(svg)).png().toBuffer()
  writeFileSync(join(out, `${name}.jpg`), await sharp(picture).jpeg({ quality: 80 }).toBuffer())
  if (name === 'passport_ke')
    writeFileSync(join(out, 'passport_blurred.jpg'), await sharp(picture).blur(4).jpeg({ quality: 80 }).toBuffer())
}
