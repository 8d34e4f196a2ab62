// SPDX-License-Identifier: Apache-2.0
// Printed text of a document: values under their labels, and dates and numbers anywhere.
import type { TextLine } from '../engines/tasks.ts'
import { type DocumentFields, noFields } from './zone-fields.ts'

export interface PrintedField {
  readonly value: string
  readonly confidence: number
  readonly box: readonly number[]
}

type FieldName = keyof DocumentFields

/** Labels of fields in English, French and Portuguese. */
const labels: readonly (readonly [FieldName, RegExp])[] = [
  [
    'document_number',
    /passport n|passeport n|document n|identity n|id n(o|um)|personal id|card n|licen[cs]e n|num[eé]ro/i,
  ],
  ['last_name', /^surname|^last name|^nom$|^apelido/i],
  ['first_name', /given names?|first ?names?|^names$|forenames?|pr[eé]noms?/i],
  ['date_of_birth', /date of birth|birth ?date|naissance|nascimento/i],
  ['sex', /^sex/i],
  ['nationality', /^nationalit/i],
  ['issue_date', /date of issue|issued? on|d[eé]livr/i],
  ['expiry_date', /date of expiry|expir/i],
]

const dateFields: readonly FieldName[] = ['date_of_birth', 'issue_date', 'expiry_date']

/** Printed fields by the label above or before them. */
export function printedFields(lines: readonly TextLine[]): Partial<Record<FieldName, PrintedField>> {
  const found: Partial<Record<FieldName, PrintedField>> = {}
  for (const [field, label] of labels) {
    const above = lines.find(({ text }) => label.test(text))
    const value = above && valueUnder(lines, above, labels)
    if (!value) continue
    const text = dateFields.includes(field) ? dateIn(value.text) : value.text.toUpperCase()
    if (text) found[field] = { value: text, confidence: percent(value.confidence), box: boxOf(value) }
  }
  return found
}

/** Nearest line below the label, left-aligned with it and not a label itself. */
function valueUnder(lines: readonly TextLine[], label: TextLine, known: typeof labels): TextLine | null {
  const { x, y, width, height } = label.box
  const below = lines.filter(
    ({ box, text }) =>
      box.y > y + height * 0.3 &&
      box.y < y + height * 4 &&
      box.x < x + Math.max(width, height * 3) &&
      box.x > x - height * 2 &&
      !known.some(([, pattern]) => pattern.test(text)),
  )
  return below.sort((a, b) => a.box.y - b.box.y)[0] ?? null
}

export function asFields(printed: Partial<Record<FieldName, PrintedField>>): DocumentFields {
  const fields: Record<string, string | null> = { ...noFields }
  for (const [name, field] of Object.entries(printed)) fields[name] = field.value
  return { ...noFields, ...fields, sex: /^[MF]/.exec(fields.sex ?? '')?.[0] ?? null }
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']

/** Date written as 15 FEB 1990, 15/02/1990 or 1990-02-15; null for other texts. */
export function dateIn(text: string): string | null {
  const upper = text.toUpperCase()
  const named = /(\d{1,2})\s*([A-Z]{3})[A-Z]*\s*(\d{4})/.exec(upper)
  const month = named ? months.indexOf(named[2] ?? '') + 1 : 0
  if (named && month > 0) return dateText(named[3], String(month), named[1])
  const [, day, plainMonth, year] = /(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})/.exec(upper) ?? []
  if (year) return dateText(year, plainMonth, day)
  const [, isoYear, isoMonth, isoDay] = /(\d{4})[/.-](\d{2})[/.-](\d{2})/.exec(upper) ?? []
  return isoYear ? dateText(isoYear, isoMonth, isoDay) : null
}

function dateText(year = '', month = '', day = ''): string {
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
}

export function datesIn(lines: readonly TextLine[]): readonly string[] {
  return lines.map(({ text }) => dateIn(text)).filter((date) => date !== null)
}

/** Normalised text for comparing names and numbers: letters and digits without accents. */
export function folded(text: string): string {
  return text
    .normalize('NFD')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
}

/** Similarity of two texts from 0 to 1, by edit distance. */
export function similarity(a: string, b: string): number {
  const [left, right] = [folded(a), folded(b)]
  const longer = Math.max(left.length, right.length)
  return longer === 0 ? 1 : 1 - edits(left, right) / longer
}

function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

function boxOf({ box }: TextLine): number[] {
  return [box.x, box.y, box.width, box.height].map(Math.round)
}

function percent(confidence: number): number {
  return Math.round(confidence * 1000) / 10
}
