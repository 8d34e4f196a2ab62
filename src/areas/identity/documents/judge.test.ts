// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryFor } from '../catalogue.ts'
import type { ReadDocument } from '../engines/tasks.ts'
import { judgeDocument } from './judge.ts'

const nowMs = Date.UTC(2026, 10, 17)
const box = { x: 0, y: 0, width: 100, height: 100 }
const line = (text: string) => ({ text, confidence: 1, box })

/** Card with a birth date and a face. */
const card: ReadDocument = {
  mrz: null,
  lines: ['DATE OF BIRTH', '15 FEB 1990', 'SURNAME', 'WANJIKU'].map(line),
  barcodes: [],
  faces: [{ box: { x: 0, y: 0, width: 200, height: 200 }, score: 1, eyeDistance: 60, isCut: false, descriptor: null }],
  quality: { sharpness: 1, brightness: 1, glare: 0, width: 1000, height: 600, problems: [] },
  flaws: { document_front: [], document_back: [] },
  isRecaptured: false,
  editor: null,
  portrait: null,
  ocrEngine: '',
  faceEngine: '',
}

const passport: ReadDocument = {
  ...card,
  mrz: {
    format: 'TD3',
    lines: ['P<KENWANJIKU<<AMINA<NJERI<<<<<<<<<<<<<<<<<<<', 'AK01234565KEN9002155F3102145<<<<<<<<<<<<<<<0'],
    status: 'read',
    failing: [],
    confidence: 1,
    box,
  },
}

function found(type: string, read: ReadDocument): Record<string, string> {
  const { checks } = judgeDocument(entryFor(type, 'KE'), read, {}, nowMs)
  return Object.fromEntries(checks.map(({ check, result }) => [check, result]))
}

test('a card of which nothing is known is for a person to look at, whatever it shows', () => {
  for (const type of ['drivers_license', 'refugee_id', 'residence_permit', 'proof_of_address'])
    assert.equal(found(type, card).document_recognised, 'warn', type)
  assert.equal(found('national_id', card).document_recognised, undefined)
})

test('a zone must be that of the kind of document that was asked for', () => {
  assert.equal(found('passport', passport).document_kind, 'pass')
  for (const type of ['drivers_license', 'refugee_id', 'national_id'])
    assert.equal(found(type, passport).document_kind, 'fail', type)
})

test('a bill needs neither a face nor a birth date', () => {
  const bill = found('proof_of_address', { ...card, faces: [], lines: [line('Water bill'), line('1 March 2026')] })
  assert.deepEqual([bill.portrait_present, bill.dates_plausible], [undefined, 'pass'])
})

test('a barcode tells for or against a document only where its contents are known', () => {
  const zoneNumber = 'AK0123456'
  const rows: [string, string, string | undefined][] = [
    ['a code that is not decoded', 'aGVsbG8gd29ybGQ=;b25l;dHdv', 'skipped'],
    ['an address', 'https://verify.example.com/x?id=1', 'skipped'],
    ['a code that is not decoded, with the number in it', `x;${zoneNumber};y`, 'pass'],
    ['text with labels', `Document Number: ${zoneNumber}\nDate of Birth: 15/02/1990`, 'pass'],
    ['another birth date than the zone', `Document Number: ${zoneNumber}\nDate of Birth: 16/02/1990`, 'fail'],
    ['nearly the number of the zone', 'Document Number: AK0123457\nDate of Birth: 15/02/1990', 'fail'],
  ]
  for (const [name, text, result] of rows)
    assert.equal(
      found('passport', { ...passport, barcodes: [{ format: 'QRCode', text }] }).barcode_matches,
      result,
      name,
    )
  assert.equal(found('passport', passport).barcode_matches, undefined)
})

test('a code in the form of an issuer, with the signature of somebody else, is for a person to look at', () => {
  const fayda =
    'UklGRhoA:DLT:Abebe Bikila:V:4:G:M:A:4912038475610293:D:1987/11/03:SIGN:eyJhbGciOiJSUzI1NiJ9..c29tZWJvZHk'
  const licence = Buffer.concat([Buffer.from('019b09450000', 'hex'), Buffer.alloc(714, 7)]).toString('base64')
  const smartCard = 'WANJIKU|AMINA|F|RSA|9002150123083|15 FEB 1990|RSA|CITIZEN|02 MAR 2021|30129|108123456|1234567890'
  const rows: [ReadDocument['barcodes'][number], string | undefined][] = [
    [{ format: 'QRCode', text: fayda }, 'warn'],
    [{ format: 'PDF417', text: '', bytes: licence }, 'warn'],
    [{ format: 'PDF417', text: smartCard }, 'skipped'],
    [{ format: 'QRCode', text: 'https://verify.example.com' }, undefined],
  ]
  for (const [code, result] of rows)
    assert.equal(found('national_id', { ...card, barcodes: [code] }).barcode_signed, result, code.text)
})
