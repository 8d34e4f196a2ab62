// SPDX-License-Identifier: Apache-2.0
// Fields of a document in its barcode: those of South African smart cards and driving licences, of the cards of Uganda and Ethiopia,
// and of systems that follow MOSIP; machine-readable lines in a code, lines of `label: value` and JSON, and the number alone.

import { claim169Fields } from './claim-169.ts'
import { faydaFields, isFayda, isFaydaSigned } from './fayda.ts'
import { asDocument, dateIn, fieldLabelled, fullName } from './visual-zone.ts'
import { isLicence, licenceFields } from './za-licence.ts'
import { type DocumentFields, fieldsOfZone, noFields } from './zone-fields.ts'

interface Code {
  readonly format: string
  readonly text: string
  /** Content that is no text, in base64. */
  readonly bytes?: string
}

type CodeFields = Partial<{ readonly [Name in keyof DocumentFields]: string }>

/** Outcome of the check of a signature; `unchecked` where the key of the issuer is not known, `unread` for a version that is not read. */
export type Signature = 'valid' | 'invalid' | 'unchecked' | 'unread'

export interface CodeReading {
  /** Fields of one code, the one that is trusted most; null when none of them says anything that is known here. */
  readonly fields: DocumentFields | null
  /** Signature of that code, or `invalid` if that of any code is; null for codes without a signature that is known here. */
  readonly signature: Signature | null
}

/** What the barcodes of a document say, and whether the issuer signed it. */
export function readCodes(codes: readonly Code[], nowMs: number, faydaKey?: string): CodeReading {
  const readings = codes.map((code) => readingOf(code, nowMs, faydaKey))
  const [used] = readings.filter(({ fields }) => fields !== null).sort((a, b) => a.rank - b.rank)
  const signatures = readings.flatMap(({ signature }) => signature ?? [])
  return {
    fields: used ? { ...noFields, ...used.fields } : null,
    signature: signatures.includes('invalid') ? 'invalid' : used ? used.signature : (signatures[0] ?? null),
  }
}

interface Reading {
  /** Place among the forms that are known, signed ones first. */
  readonly rank: number
  readonly fields: CodeFields | null
  readonly signature: Signature | null
}

function readingOf(code: Code, nowMs: number, faydaKey: string | undefined): Reading {
  const content = code.bytes ? Buffer.from(code.bytes, 'base64') : null
  const text = code.text.trim()
  // Of a form that is signed, nothing is read but what its issuer signed.
  if (content && isLicence(content)) {
    const licence = licenceFields(content)
    return { rank: 0, fields: licence && stated(licence), signature: licence ? 'valid' : 'invalid' }
  }
  if (isFayda(text)) {
    const fields = faydaFields(text, faydaKey)
    const signature = isFaydaSigned(text, faydaKey) ? 'unread' : 'invalid'
    return { rank: 1, fields: fields && stated(fields), signature: fields ? 'valid' : signature }
  }
  for (const [i, { read, signature }] of unsigned.entries()) {
    // The text of a claim counts with its spaces.
    const fields = read(read === inClaim ? code.text : text, nowMs)
    if (fields && Object.keys(fields).length > 0) return { rank: 2 + i, fields, signature }
  }
  return { rank: Number.POSITIVE_INFINITY, fields: null, signature: null }
}

/** Forms that are read without a check of their signature, in the order in which they count. */
const unsigned: readonly { read(text: string, nowMs: number): CodeFields | null; signature: Signature | null }[] = [
  { read: inClaim, signature: 'unchecked' },
  { read: inZone, signature: null },
  { read: inSmartCard, signature: 'unchecked' },
  { read: inUgandanCard, signature: null },
  { read: inObject, signature: null },
  { read: inLines, signature: null },
  { read: inNumber, signature: null },
]

const zoneForms = [
  { format: 'TD3', lines: 2, length: 44 },
  { format: 'TD2', lines: 2, length: 36 },
  { format: 'TD1', lines: 3, length: 30 },
]

function inZone(text: string, nowMs: number): CodeFields | null {
  const packed = text.replace(/\s/g, '')
  if (!/^[A-Z][A-Z0-9<]+$/.test(packed) || !packed.includes('<<')) return null
  const form = zoneForms.find(({ lines, length }) => packed.length === lines * length)
  if (!form) return null
  const lines = Array.from({ length: form.lines }, (_, i) => packed.slice(i * form.length, (i + 1) * form.length))
  return stated({ ...fieldsOfZone({ format: form.format, lines }, nowMs) })
}

/** SURNAME|NAMES|SEX|NATIONALITY|NUMBER|BIRTH|COUNTRY OF BIRTH|STATUS|ISSUED|… of the back of a smart card. */
function inSmartCard(text: string): CodeFields | null {
  const [last, first, sex, nationality, number, birth, , , issued] = text.split('|')
  if (!/^\d{13}$/.test(number ?? '')) return null
  return stated({
    document_number: number,
    last_name: last,
    first_name: first,
    sex: sexIn(sex),
    nationality,
    date_of_birth: dateIn(birth ?? ''),
    issue_date: dateIn(issued ?? ''),
  })
}

function inClaim(text: string): CodeFields | null {
  const { full_name: whole, ...found } = claim169Fields(text) ?? {}
  const fields = stated({ ...found, ...(whole ? fullName(whole) : {}) })
  return Object.keys(fields).length > 0 ? fields : null
}

/** Three names in base64; birth; two more; NIN; card number; then `[FNG]` and fingerprints, which are left alone, as public readers have it. */
function inUgandanCard(text: string): CodeFields | null {
  const [last, first, other, birth, , , nin, number] = text.split('[FNG]')[0]?.split(';') ?? []
  if (!/^C[MF][0-9A-Z]{12}$/.test(nin?.trim() ?? '') || !/^\d{8}$/.test(birth?.trim() ?? '')) return null
  const named = (name = '') => Buffer.from(name, 'base64').toString('utf8').trim()
  return stated({
    document_number: number,
    personal_number: nin,
    last_name: named(last),
    first_name: [named(first), named(other)].join(' '),
    date_of_birth: birth?.trim().replace(/^(\d\d)(\d\d)(\d{4})$/, '$3-$2-$1'),
  })
}

function inObject(text: string): CodeFields | null {
  if (!text.startsWith('{')) return null
  try {
    const members: [string, unknown][] = Object.entries(Object(JSON.parse(text)))
    return labelled(members.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])))
  } catch {
    return null
  }
}

function inLines(text: string): CodeFields | null {
  const pairs = text.split(/[\r\n;,]+/).map((line) => line.split(/:\s*/))
  return labelled(pairs.flatMap(([name, value]) => (name && value ? [[name, value] as const] : [])))
}

/** Fewer are a coincidence. */
const leastPairs = 2

function labelled(pairs: readonly (readonly [name: string, value: string])[]): CodeFields | null {
  const found: Record<string, string | null> = {}
  for (const [name, value] of pairs) {
    const field = fieldLabelled(name.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' '))
    if (field === 'full_name') Object.assign(found, fullName(value))
    else if (field) found[field] ??= field === 'sex' ? sexIn(value) : asDocument(field, value)
  }
  return Object.keys(found).length < leastPairs ? null : stated(found)
}

/** A number alone, as on the back of an identity book. */
function inNumber(text: string): CodeFields | null {
  return /^[A-Z]{0,3}\d{7,16}$/.test(text) ? { document_number: text } : null
}

function sexIn(text = ''): string | null {
  return /^[MF]/i.exec(text.trim())?.[0]?.toUpperCase() ?? null
}

function stated(fields: Readonly<Record<string, string | null | undefined>>): CodeFields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim().toUpperCase()]] : [])),
  )
}
