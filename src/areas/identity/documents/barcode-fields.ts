// SPDX-License-Identifier: Apache-2.0
// Fields of a document in its barcode: those of South African smart cards and driving licences, of the cards of Uganda and Ethiopia,
// and of systems that follow MOSIP; machine-readable lines in a code, lines of `label: value` and JSON, and the number alone.

import { claim169Fields } from './claim-169.ts'
import { faydaFields, isFayda } from './fayda.ts'
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

/** What the barcodes of a document say; null when none of them says anything that is known here. */
export function fieldsOfCodes(codes: readonly Code[], nowMs: number): DocumentFields | null {
  for (const { bytes } of codes) {
    const licence = bytes ? licenceFields(Buffer.from(bytes, 'base64')) : null
    if (licence) return { ...noFields, ...licence }
  }
  for (const { text } of codes) {
    const claim = inClaim(text)
    if (claim) return { ...noFields, ...claim }
  }
  for (const read of [inZone, inSmartCard, inFayda, inUgandanCard, inObject, inLines, inNumber])
    for (const code of codes) {
      const found = read(code.text.trim(), nowMs)
      if (found && Object.values(found).some((value) => value)) return { ...noFields, ...found }
    }
  return null
}

/** Outcome of the check of a signature; `unchecked` where the key of the issuer is not known. */
export type Signature = 'valid' | 'invalid' | 'unchecked'

/** Whether the issuer signed a barcode; null for barcodes without a signature that is known here. */
export function signatureOfCodes(codes: readonly Code[]): Signature | null {
  for (const { text, bytes } of codes) {
    const content = bytes ? Buffer.from(bytes, 'base64') : null
    if (content && isLicence(content)) return licenceFields(content) ? 'valid' : 'invalid'
    if (isFayda(text.trim())) return faydaFields(text.trim()) ? 'valid' : 'invalid'
    if (claim169Fields(text) || inSmartCard(text.trim())) return 'unchecked'
  }
  return null
}

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

function inFayda(text: string): CodeFields | null {
  const found = faydaFields(text)
  return found && stated(found)
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
