// SPDX-License-Identifier: Apache-2.0
// Printed text of a document: values under their labels, and dates and numbers anywhere.
import type { Region, TextLine } from '../engines/tasks.ts'
import { type DocumentFields, noFields } from './zone-fields.ts'

export interface PrintedField {
  readonly value: string
  readonly confidence: number
  readonly box: readonly number[]
  /** Place on the stored picture, where it is known. */
  readonly region?: Region | undefined
}

type FieldName = keyof DocumentFields

type Label = FieldName | 'full_name'

/** Labels of fields in English, French, Portuguese, Swahili and Kinyarwanda, as documents of Africa print them. */
const printedLabels: readonly (readonly [Label, RegExp])[] = [
  [
    'personal_number',
    /^nin\b|national identification number|^nin\/|num[eé]ro d.identification nationale?|^n[iı]u\b|^personal n/i,
  ],
  [
    'document_number',
    /passport n|passeport n|passaporte n|^n.? de la carte|document n|identity n|^id n(o|um)|national id n|personal id|^card n|licen[cs]e n|^l\/no|num[eé]ro|^n[°º]|namba ya|nambari|indangamuntu|^number$|^fan$|^fcn$|identification number/i,
  ],
  ['last_name', /^surname|^last ?name|^nom\b(?! et)|^apelido|jina la (mwisho|ukoo)/i],
  ['first_name', /given ?names?|first ?names?|^names$|forenames?|pr[eé]noms?|^nomes? pr|jina la kwanza|^other names?/i],
  ['full_name', /full ?names?|^name$|amazina|^nom et pr|nome completo|majina|holder/i],
  ['date_of_birth', /date of birth|birth ?date|^dob\b|d of b|naissance|nascimento|kuzaliwa|yavuk|yavutse/i],
  ['sex', /^sex|^gender|^jinsia?|igitsina|g[eê]nero/i],
  ['nationality', /^nationalit|^nacionalidade|^uraia|^citizenship$/i],
  ['issue_date', /date of issue|date of issuance|^issued?( on| date)|^iss\b|d[eé]livr|emiss[aã]o|kutolewa/i],
  ['expiry_date', /date of expiry|expir|^exp\b|validade|v[aá]lido at[eé]|valid until|mwisho wa matumizi|kuisha/i],
]

/** The reader drops spaces now and then. */
const labels = printedLabels.map(([field, { source, flags }]) => {
  const label = new RegExp(source.replaceAll(' ', String.raw`\s*`), flags)
  return [field, label] as const
})

const dateFields: readonly Label[] = ['date_of_birth', 'issue_date', 'expiry_date']

/** Field that a label names; null for other texts. */
export function fieldLabelled(text: string): Label | null {
  return labels.find(([, label]) => label.test(text.trim()))?.[0] ?? null
}

const numberFields: readonly Label[] = ['document_number', 'personal_number']

/** Value of a field as records have it; null when it cannot be one. */
export function asDocument(field: Label, text: string): string | null {
  if (numberFields.includes(field) && !/\d/.test(text)) return null
  return dateFields.includes(field) ? dateIn(text) : text.trim().toUpperCase() || null
}

/** Names in the order in which they are written, given names first; a comma comes after the surname. */
export function fullName(text: string): { first_name: string; last_name: string } {
  const [surname = '', given] = text.toUpperCase().split(',')
  if (given !== undefined) return { first_name: given.trim(), last_name: surname.trim() }
  const words = surname.trim().split(/\s+/)
  return { first_name: words.slice(0, -1).join(' '), last_name: words.at(-1) ?? '' }
}

/** Printed fields by the label above, before or beside them. */
export function printedFields(lines: readonly TextLine[]): Partial<Record<FieldName, PrintedField>> {
  const found: Partial<Record<FieldName, PrintedField>> = {}
  for (const [field, label] of labels) {
    const values = lines.filter(({ text }) => label.test(text)).map((named) => valueNear(lines, named))
    const value = values.find((one) => one && (field === 'full_name' || asDocument(field, one.text)))
    if (!value) continue
    const { confidence, region } = value
    const shown = { confidence: percent(confidence), box: boxOf(value), region }
    if (field === 'full_name') {
      for (const [name, part] of Object.entries(fullName(value.text)))
        if (part && (name === 'first_name' || name === 'last_name')) found[name] ??= { value: part, ...shown }
      continue
    }
    const text = asDocument(field, value.text)
    if (text) found[field] = { value: text, ...shown }
  }
  return found
}

function valueNear(lines: readonly TextLine[], label: TextLine): TextLine | null {
  return valueBeside(label) ?? valueUnder(lines, label) ?? valueAfter(lines, label)
}

/** What follows the colon of a label in one line. */
function valueBeside(label: TextLine): TextLine | null {
  const [, text] = /^[^:]{2,40}:\s*(\S.*)$/.exec(label.text) ?? []
  return text === undefined ? null : { ...label, text }
}

const isLabel = (text: string) => fieldLabelled(text) !== null

/** Nearest line below the label, left-aligned with it and not a label itself. */
function valueUnder(lines: readonly TextLine[], { box: { x, y, width, height } }: TextLine): TextLine | null {
  const below = lines.filter(
    ({ box, text }) =>
      box.y > y + height * 0.3 &&
      box.y < y + height * 4 &&
      box.x < x + Math.max(width, height * 3) &&
      box.x > x - height * 2 &&
      !isLabel(text),
  )
  return below.sort((a, b) => a.box.y - b.box.y)[0] ?? null
}

/** Nearest line to the right of the label, in the same row. */
function valueAfter(lines: readonly TextLine[], { box: { x, y, width, height } }: TextLine): TextLine | null {
  const after = lines.filter(
    ({ box, text }) =>
      box.x >= x + width * 0.9 && Math.abs(box.y + box.height / 2 - y - height / 2) < height && !isLabel(text),
  )
  return after.sort((a, b) => a.box.x - b.box.x)[0] ?? null
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

/** Characters of a text that is compared letter by letter, which takes the square of them. */
const maxCompared = 1_000

/** Similarity of two texts from 0 to 1, by edit distance; longer than any field, they are equal or not. */
export function similarity(a: string, b: string): number {
  const [left, right] = [folded(a), folded(b)]
  const longer = Math.max(left.length, right.length)
  if (longer > maxCompared || left === right) return left === right ? 1 : 0
  return 1 - edits(left, right) / longer
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
