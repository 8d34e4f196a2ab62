// SPDX-License-Identifier: Apache-2.0
// Consistency checks of a document: zone, print, number, dates, and the caller's claims. Pure; not a forensic
// certificate.

import { alpha3Of, type DocumentEntry } from '../catalogue.ts'
import type { ReadDocument, TextLine } from '../engines/tasks.ts'
import { readCodes, type Signature } from './barcode-fields.ts'
import { asFields, datesIn, folded, printedFields, similarity } from './visual-zone.ts'
import { type DocumentFields, fieldsOfZone, noFields } from './zone-fields.ts'

type Result = 'pass' | 'fail' | 'warn' | 'skipped' | 'unavailable'
type Weight = 'critical' | 'major' | 'minor'

export interface Check {
  readonly check: string
  readonly result: Result
  readonly weight: Weight
  readonly detail: string
}

export interface Claims {
  readonly first_name?: string
  readonly last_name?: string
  readonly date_of_birth?: string
  readonly sex?: string
  readonly document_number?: string
}

/** Where a field was read. */
export const sources = ['mrz', 'barcode', 'visual'] as const
type Sources = Readonly<Record<string, (typeof sources)[number]>>

export interface Judgement {
  readonly fields: DocumentFields
  readonly sources: Sources
  /** The same as zone, barcode and print have it, each by itself. */
  readonly readings: {
    readonly zone: DocumentFields | null
    readonly barcode: DocumentFields | null
    readonly print: DocumentFields
  }
  readonly checks: readonly Check[]
}

/** Minimum confidence for a zone to be used, for or against the document. */
const sureZone = 0.5
const sameName = 0.85
/** Similarity at which a printed number counts as the zone's. */
const nearNumber = 0.6
const portraitPart = { least: 0.01, most: 0.6 }

/** A line of print, as opposed to letters that a pattern looks like. */
const sureLine = 0.8
const leastLines = 2

/**
 * Whether a picture shows a document, readable or not: machine-readable lines, a barcode, a known field, or lines of print
 * beside a face. Print alone is a document only where an address is to be proven.
 */
export function isDocument(
  { mrz, barcodes, lines, faces }: Pick<ReadDocument, 'mrz' | 'barcodes' | 'lines' | 'faces'>,
  type: string | undefined,
): boolean {
  if (mrz || barcodes.length > 0 || Object.keys(printedFields(lines)).length > 0) return true
  const isPrint = ({ text, confidence }: TextLine) => confidence >= sureLine && /\p{L}{3}/u.test(text)
  return (faces.length > 0 || type === 'proof_of_address') && lines.filter(isPrint).length >= leastLines
}

/** Printed fields from which a document counts as read. */
const leastFields = 3

/**
 * Whether what matters on a side could be read, however poor the picture is: the print beside the zone, or enough fields;
 * on the back its zone or barcode.
 */
export function isRead(entry: DocumentEntry, field: string, read: ReadDocument, nowMs: number): boolean {
  const { mrz, barcodes: codes, lines } = read
  if (field === 'document_back') return mrz !== null || codes.length > 0
  if (mrz) return zoneAgainstPrint(entry, fieldsOfZone(mrz, nowMs), read)?.result !== 'warn'
  if (readCodes(codes, nowMs).fields) return true
  return Object.keys(printedFields(lines)).length >= leastFields
}

export function judgeDocument(entry: DocumentEntry, read: ReadDocument, claims: Claims, nowMs: number): Judgement {
  const printed = asFields(printedFields(read.lines))
  const zone = read.mrz && read.mrz.confidence >= sureZone ? read.mrz : null
  const inZone = zone ? fieldsOfZone(zone, nowMs) : null
  const { fields: inCode, signature } = readCodes(read.barcodes, nowMs)
  const { fields, sources } = merged(inZone, inCode, printed)
  const today = new Date(nowMs).toISOString().slice(0, 10)
  return {
    fields,
    sources,
    readings: { zone: inZone, barcode: inCode, print: printed },
    checks: [
      present(read, entry),
      zoneDigits(entry, read),
      zoneAgainstPrint(entry, inZone, read),
      issuer(entry, inZone, zone),
      kind(entry, zone),
      recognised(entry, zone, inCode),
      expiry(fields, today),
      numberFormat(entry, printed, fields),
      ...numberDigits(entry, printed, fields),
      dates(entry, fields, today),
      portrait(entry, read),
      barcodes(read, inZone, inCode, printed),
      signed(signature),
      claimed(claims, fields),
      edited(read),
      recaptured(read),
    ].filter((check) => check !== null),
  }
}

/** Each field from the zone, which has check digits, or else from a barcode, or else from the print. */
function merged(zone: DocumentFields | null, code: DocumentFields | null, print: DocumentFields) {
  const fields: Record<string, string | null> = { ...noFields }
  const sources: Record<string, Sources[string]> = {}
  const readings = [
    ['visual', print],
    ['barcode', code],
    ['mrz', zone],
  ] as const
  for (const [source, reading] of readings)
    for (const [name, value] of Object.entries(reading ?? noFields)) {
      if (value === null || (source === 'visual' && zone && !besideZone.includes(name))) continue
      fields[name] = value
      sources[name] = source
    }
  return { fields: { ...noFields, ...fields }, sources }
}

/** Printed fields that count where there is a zone, which has no room for them. */
const besideZone = ['issue_date', 'personal_number']

export const presentCheck = 'document_present'

function present(read: ReadDocument, { type }: DocumentEntry): Check {
  const base = { check: presentCheck, weight: 'critical' } as const
  if (isDocument(read, type)) return { ...base, result: 'pass', detail: 'print, a barcode or a machine-readable zone' }
  return { ...base, result: 'fail', detail: 'nothing of a document is in the picture' }
}

function zoneDigits(entry: DocumentEntry, { mrz }: ReadDocument): Check | null {
  if (!entry.hasMrz && !mrz) return null
  const base = { check: 'mrz_check_digits', weight: 'critical' } as const
  if (!mrz || mrz.confidence < sureZone)
    return { ...base, result: entry.hasMrz ? 'unavailable' : 'skipped', detail: 'no zone could be read' }
  if (mrz.failing.length === 0) return { ...base, result: 'pass', detail: `${mrz.format}, all digits` }
  return { ...base, result: 'fail', detail: mrz.failing.join(', ') }
}

function zoneAgainstPrint(entry: DocumentEntry, zone: DocumentFields | null, { lines }: ReadDocument): Check | null {
  if (!zone) return null
  const base = { check: 'mrz_matches_visual_zone', weight: entry.hasMrz ? 'critical' : 'major' } as const
  const texts = lines.map(({ text }) => text)
  const number = folded(zone.document_number ?? '')
  const numbers = texts.map(folded).filter((text) => /\d{4}/.test(text))
  const hasNumber = numbers.some((text) => text.includes(number))
  const other = hasNumber ? undefined : numbers.find((text) => similarity(text, number) >= nearNumber)
  const printed = datesIn(lines)
  const missing = [zone.date_of_birth, zone.expiry_date].filter((date) => date && !printed.includes(date))
  const name = Math.max(0, ...texts.map((text) => similarity(text, zone.last_name ?? '')))
  if (other) return { ...base, result: 'fail', detail: 'the printed number is another one' }
  if (printed.length >= 2 && missing.length > 0)
    return { ...base, result: 'fail', detail: 'a printed date is another one' }
  if (!hasNumber || missing.length > 0 || name < sameName)
    return { ...base, result: 'warn', detail: 'not all of the print could be read' }
  return { ...base, result: 'pass', detail: 'number, birth date, expiry, name' }
}

/** Codes in zones of national cards that are not those of ISO 3166. */
const ownCodes: Readonly<Record<string, string>> = { KE: 'KYA' }

function issuer(entry: DocumentEntry, zone: DocumentFields | null, mrz: ReadDocument['mrz']): Check | null {
  if (!zone || !mrz) return null
  const found = mrz.lines[0]?.slice(2, 5).replaceAll('<', '') ?? ''
  const isSame = found === alpha3Of(entry.country) || found === ownCodes[entry.country]
  return {
    check: 'issuing_country',
    result: isSame ? 'pass' : 'fail',
    weight: 'critical',
    detail: isSame ? found : `issued by ${found}`,
  }
}

/** A zone states whether the document is a passport. */
function kind({ type }: DocumentEntry, mrz: ReadDocument['mrz']): Check | null {
  if (!mrz) return null
  const base = { check: 'document_kind', weight: 'critical', detail: mrz.lines[0]?.slice(0, 2) ?? '' } as const
  return { ...base, result: mrz.lines[0]?.startsWith('P') === (type === 'passport') ? 'pass' : 'fail' }
}

/** Without a zone, a barcode or a number rule, any card would pass as this document. */
function recognised(
  { rule, type, country }: DocumentEntry,
  mrz: ReadDocument['mrz'],
  code: DocumentFields | null,
): Check | null {
  if (rule || mrz || code) return null
  const detail = `nothing is known by which a ${type} of ${country} could be told from another document`
  return { check: recognisedCheck, result: 'warn', weight: 'major', detail }
}

/** Check that a registry match makes unnecessary. */
export const recognisedCheck = 'document_recognised'

function expiry({ expiry_date }: DocumentFields, today: string): Check {
  const base = { check: 'document_not_expired', weight: 'critical' } as const
  if (!expiry_date) return { ...base, result: 'skipped', detail: 'no expiry date on the document' }
  return { ...base, result: expiry_date < today ? 'fail' : 'pass', detail: expiry_date }
}

/** Number the rule applies to: the printed one where cards have another in the zone. */
function ruledNumber({ rule, type }: DocumentEntry, printed: DocumentFields, fields: DocumentFields): string | null {
  const { document_number, personal_number } = fields
  const candidates = [printed.document_number, document_number, personal_number].filter((number) => number !== null)
  const tidy = [...candidates, ...candidates.map((number) => number.replace(/\D/g, ''))].map((number) =>
    number.replaceAll(' ', ''),
  )
  return (
    (type === 'passport' ? fields.document_number : tidy.find((number) => rule?.pattern.test(number))) ??
    tidy[0] ??
    null
  )
}

function numberFormat(entry: DocumentEntry, printed: DocumentFields, fields: DocumentFields): Check | null {
  if (!entry.rule) return null
  const { pattern, name, isVerified } = entry.rule
  const number = ruledNumber(entry, printed, fields)
  const base = { check: 'number_format', weight: 'major', detail: name } as const
  if (!number) return { ...base, result: 'warn', detail: 'no number could be read' }
  if (pattern.test(number)) return { ...base, result: 'pass' }
  return { ...base, result: isVerified ? 'fail' : 'warn' }
}

function numberDigits(entry: DocumentEntry, printed: DocumentFields, fields: DocumentFields): Check[] {
  const number = ruledNumber(entry, printed, fields)
  const { rule } = entry
  if (!rule || !number || !rule.pattern.test(number)) return []
  const wrong = rule.isVerified ? 'fail' : 'warn'
  const checks: Check[] = []
  if (rule.checksum)
    checks.push({
      check: 'number_checksum',
      result: rule.checksum(number) ? 'pass' : wrong,
      weight: 'critical',
      detail: rule.name,
    })
  const embedded = rule.embeds?.(number)
  if (embedded) {
    const isBirth = !embedded.birth || !fields.date_of_birth || fields.date_of_birth.startsWith(embedded.birth)
    const isSex = !embedded.sex || !fields.sex || fields.sex === embedded.sex
    checks.push({
      check: 'number_embeds_birth_date_sex',
      result: isBirth && isSex ? 'pass' : wrong,
      weight: 'critical',
      detail: rule.name,
    })
  }
  return checks
}

const maxAge = 120

function dates(
  { type }: DocumentEntry,
  { date_of_birth: birth, issue_date: issue, expiry_date: expiryDate }: DocumentFields,
  today: string,
): Check {
  const base = { check: 'dates_plausible', weight: 'major' } as const
  const oldest = `${Number(today.slice(0, 4)) - maxAge}${today.slice(4)}`
  const isWrong =
    (birth && (birth > today || birth < oldest)) ||
    (birth && issue && issue < birth) ||
    (issue && issue > today) ||
    (issue && expiryDate && expiryDate <= issue)
  if (isWrong) return { ...base, result: 'fail', detail: 'the dates contradict each other' }
  return birth || type === 'proof_of_address'
    ? { ...base, result: 'pass', detail: 'in order' }
    : { ...base, result: 'warn', detail: 'no birth date read' }
}

function portrait({ type }: DocumentEntry, { faces, quality }: ReadDocument): Check | null {
  // A utility bill has no photo.
  if (type === 'proof_of_address') return null
  const base = { check: 'portrait_present', weight: 'major' } as const
  const [face] = faces
  if (!face) return { ...base, result: 'fail', detail: 'no face on the front' }
  const part = face.box.height / quality.height
  const isPlausible = part > portraitPart.least && part < portraitPart.most
  return { ...base, result: isPlausible ? 'pass' : 'warn', detail: `${faces.length} found` }
}

/** A barcode must say what zone and print say. */
function barcodes(
  { barcodes: found }: ReadDocument,
  zone: DocumentFields | null,
  code: DocumentFields | null,
  print: DocumentFields,
): Check | null {
  if (found.length === 0) return null
  const base = { check: 'barcode_matches', weight: 'major' } as const
  const formats = found.map(({ format }) => format).join(', ')
  const others = [zone, print].filter((reading) => reading !== null)
  const differsFrom = (reading: DocumentFields | null) =>
    (['document_number', 'date_of_birth'] as const).find((name) => {
      const [own, other] = [code?.[name], reading?.[name]]
      const score = own && other ? similarity(own, other) : 1
      return score < 1 && (name === 'date_of_birth' || score >= nearNumber)
    })
  const [inZone, inPrint] = [differsFrom(zone), differsFrom(print)]
  if (inZone) return { ...base, result: 'fail', detail: `${formats}: another ${inZone} than the zone` }
  if (inPrint) return { ...base, result: 'warn', detail: `${formats}: another ${inPrint} than the print` }
  const numbers = others.flatMap(({ document_number: number }) => (number ? [folded(number)] : []))
  const coded = [code?.document_number, code?.personal_number, ...found.map(({ text }) => text)]
  const isNamed = numbers.some((number) => coded.some((text) => text && folded(text).includes(number)))
  // A code whose form is not known tells nothing, unless the number stands in it.
  if (!isNamed && !code) return { ...base, result: 'skipped', detail: `${formats}: not decoded` }
  return { ...base, result: isNamed ? 'pass' : 'warn', detail: formats }
}

/** A signature that is not the issuer's is for a person to look at, since issuers change their keys. */
function signed(signature: Signature | null): Check | null {
  return signature && { check: 'barcode_signed', weight: 'major', ...signatures[signature] }
}

const signatures: Readonly<Record<Signature, Pick<Check, 'result' | 'detail'>>> = {
  valid: { result: 'pass', detail: 'signed by the issuer' },
  unread: { result: 'skipped', detail: 'signed by the issuer, in a version that is not read' },
  unchecked: { result: 'skipped', detail: 'the key of the issuer is not known' },
  invalid: { result: 'warn', detail: 'not signed with the known key of the issuer' },
}

/** Compares the caller's claims with the document; null when there is nothing to compare. */
export function claimed(
  claims: Claims,
  fields: Pick<DocumentFields, 'first_name' | 'last_name' | 'date_of_birth' | 'sex' | 'document_number'>,
): Check | null {
  const said: string[] = []
  let isWrong = false
  const whole = folded(`${fields.first_name ?? ''} ${fields.last_name ?? ''}`)
  for (const name of ['first_name', 'last_name'] as const) {
    const [claim, found] = [claims[name], fields[name]]
    if (!claim || !found) continue
    const score = similarity(claim, found)
    said.push(`${name} ${score.toFixed(2)}`)
    // Documents with one line for the whole name do not tell which part is which.
    isWrong ||= score < sameName && !whole.includes(folded(claim))
  }
  for (const name of ['date_of_birth', 'sex', 'document_number'] as const) {
    const [claim, found] = [claims[name], fields[name]]
    if (!claim || !found) continue
    const isSame = folded(claim) === folded(found)
    said.push(`${name} ${isSame ? 'equal' : 'differs'}`)
    isWrong ||= !isSame
  }
  if (said.length === 0) return null
  return { check: 'claims_match', result: isWrong ? 'fail' : 'pass', weight: 'major', detail: said.join(', ') }
}

function edited({ editor }: ReadDocument): Check {
  const base = { check: 'image_edited', weight: 'minor' } as const
  return editor
    ? { ...base, result: 'warn', detail: `the file was made by ${editor}` }
    : { ...base, result: 'pass', detail: 'no tag of an editor' }
}

function recaptured({ isRecaptured }: ReadDocument): Check {
  const base = { check: 'image_recaptured', weight: 'minor' } as const
  if (isRecaptured === null) return { ...base, result: 'skipped', detail: 'the picture is too small to tell' }
  return {
    ...base,
    result: isRecaptured ? 'warn' : 'pass',
    detail: isRecaptured ? 'signs of a screen' : 'no signs of a screen',
  }
}

/** Whether every critical check passed and no major one failed. */
export function isAuthentic(checks: readonly Check[]): boolean {
  return checks.every(
    ({ result, weight }) =>
      result === 'pass' || result === 'skipped' || (weight === 'critical' ? result === 'warn' : result !== 'fail'),
  )
}
