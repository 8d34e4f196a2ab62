// SPDX-License-Identifier: Apache-2.0
// Columns of a provider's statement, and how a row is read. Providers write the same things under several
// names, and above the names they put a few lines about the account; a row is taken as the first one that has the names.
import { getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js/max'
import { type Static, Type } from 'typebox'
import { microDecimals, parseAmount } from '../../../kernel/money.ts'
import { parseMoment } from '../../../kernel/time.ts'
import { kindOf } from '../carriers/kinds.ts'

const name = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 100, rule: 'must be the name of a column', description }))

export const Columns = Type.Object(
  {
    receipt: name('Column of the provider’s own transaction id'),
    time: name('Column of the time of completion'),
    amount: name('Column of the amount, negative for money out; not needed with paid_in and withdrawn'),
    paid_in: name('Column of money in'),
    withdrawn: name('Column of money out'),
    fee: name('Column of the provider’s fee'),
    balance: name('Column of the balance afterwards'),
    phone: name(
      'Column of the payer’s number, complete or masked with stars; for money out the payee’s, unless `payee` is given',
    ),
    payee: name('Column of the payee’s number'),
    status: name('Column of the status; incomplete rows are left out'),
    type: name('Column of the kind of transaction, which identifies charges and bank transfers'),
    details: name('Column of the details, kept with the line'),
  },
  { description: 'Column names of the file, if they differ from the provider’s usual ones' },
)
export type Columns = Static<typeof Columns>
type Field = keyof Columns

/** UTC offsets of statements, by the country of the provider. */
export const utcOffsets: Readonly<Record<string, string>> = {
  KE: '+03:00', UG: '+03:00', TZ: '+03:00', MG: '+03:00', ET: '+03:00', RW: '+02:00', ZM: '+02:00', MW: '+02:00',
  SZ: '+02:00', LS: '+02:00', MZ: '+02:00', ZW: '+02:00', CD: '+01:00', CM: '+01:00', CG: '+01:00', GA: '+01:00',
  BJ: '+01:00', NG: '+01:00', NE: '+01:00', BF: '+00:00', CI: '+00:00', GH: '+00:00', GM: '+00:00', GN: '+00:00',
  LR: '+00:00', ML: '+00:00', SN: '+00:00',
} // biome-ignore format: a table reads better dense

export function utcOffsetOf(country: string): string {
  return utcOffsets[country] ?? '+00:00'
}

/** Positions of the columns in a row. */
export type Places = Readonly<Partial<Record<Field, number>>>

/** Finds the columns in a row of names; null when it is not that row. */
export function placesIn(cells: readonly string[], provider: string, given: Columns): Places | null {
  const places: Partial<Record<Field, number>> = {}
  const known = cells.map(plain)
  for (const field of fields) {
    const own = given[field]
    const names = own === undefined ? (kindOf(provider)?.facts.statement?.[field] ?? []) : [own]
    const [place] = names.map((one) => known.indexOf(plain(one))).filter((at) => at >= 0)
    if (place !== undefined) places[field] = place
    else if (own !== undefined) return null
  }
  const hasMoney = places.amount !== undefined || places.paid_in !== undefined
  return places.receipt !== undefined && places.time !== undefined && hasMoney ? places : null
}

const fields: readonly Field[] = [
  'receipt', 'time', 'amount', 'paid_in', 'withdrawn', 'fee', 'balance', 'phone', 'payee', 'status', 'type', 'details',
] // biome-ignore format: a list

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

export type Kind = 'collection' | 'fee' | 'settlement' | 'other'

export interface Line {
  receipt: string
  kind: Kind
  at: Date
  micros: bigint
  /** E.164, with `_` for digits that the provider does not show. */
  phone: string | null
  details: string | null
  balanceMicros: bigint | null
}

export interface Circumstances {
  country: string
  utcOffset: string
}

const maxReceiptLength = 100
const maxDetailsLength = 200
/** A statement names no larger one, so that a few of them can be added up. */
export const maxAmount = 10n ** 18n

/** Lines of a row; none for one that is not complete; or a sentence about what is wrong with it. */
export function linesIn(cells: readonly string[], places: Places, about: Circumstances): Line[] | { problem: string } {
  const cell = (field: Field): string => cells[places[field] ?? -1] ?? ''
  const status = cell('status')
  if (status !== '' && !isComplete(status)) return []
  const receipt = cell('receipt')
  if (receipt === '' || receipt.length > maxReceiptLength)
    return { problem: `has no receipt of 1 to ${maxReceiptLength} characters` }
  const at = momentOf(cell('time'), about.utcOffset)
  if (!at) return { problem: 'has a time that cannot be read' }
  const amount = signedOf(cell('amount')) + signedOf(cell('paid_in')) - size(signedOf(cell('withdrawn')))
  const fee = size(signedOf(cell('fee')))
  const balance = cell('balance') === '' ? null : readMicros(cell('balance'))
  if (broken(amount) || broken(fee) || (balance !== null && broken(balance)))
    return { problem: 'has an amount that cannot be read' }
  const words = `${cell('type')} ${cell('details')}`
  const details = cell('details').slice(0, maxDetailsLength) || cell('type').slice(0, maxDetailsLength) || null
  const party = amount < 0n && cell('payee') !== '' ? cell('payee') : cell('phone')
  const phone = phoneOf(party, about.country)
  const common = { receipt, at, phone, details, balanceMicros: balance }
  const lines: Line[] = []
  if (amount !== 0n) lines.push({ ...common, kind: kindOfLine(amount, words), micros: size(amount) })
  if (fee !== 0n) lines.push({ ...common, kind: 'fee', micros: fee })
  return lines
}

function kindOfLine(amount: bigint, words: string): Kind {
  if (amount > 0n) return 'collection'
  if (/\b(charges?|fees?|commission|tariff)\b/i.test(words)) return 'fee'
  return /\b(bank|settlement)\b/i.test(words) ? 'settlement' : 'other'
}

function isComplete(status: string): boolean {
  return /^(complete|completed|success|successful|ts|transaction success)$/i.test(status)
}

/** Stands for an amount that cannot be read, so that sums with it cannot either. */
const unreadable = -(10n ** 30n)

function broken(micros: bigint): boolean {
  return size(micros) > maxAmount
}

function signedOf(text: string): bigint {
  return text === '' || text === '-' ? 0n : readMicros(text)
}

/** `1,500.00`, `-20`, `KES 5.5`, `(20)`. */
function readMicros(text: string): bigint {
  const [, opening = '', minus = '', digits = ''] =
    /^(\()?\s*(?:[A-Z]{3}\s*)?(-)?\s*(?:[A-Z]{3}\s*)?((?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d{1,6})?)\s*(?:[A-Z]{3})?\)?$/.exec(
      text,
    ) ?? []
  const micros = parseAmount(
    digits
      .replaceAll(',', '')
      .replace(/(\.\d*?)0+$/, '$1')
      .replace(/\.$/, ''),
    microDecimals,
  )
  if (typeof micros !== 'bigint') return unreadable
  return opening !== '' || minus !== '' ? -micros : micros
}

function size(micros: bigint): bigint {
  return micros < 0n ? -micros : micros
}

const dayFirst = /^(\d{2})[-/.](\d{2})[-/.](\d{4})[ T]+(\d{2}:\d{2})(:\d{2})?$/
const yearFirst = /^(\d{4})[-/.](\d{2})[-/.](\d{2})[ T]+(\d{2}:\d{2})(:\d{2})?(?:\.\d+)?$/

/** A moment with an offset, or one of the clock on the wall, day or year first. */
function momentOf(text: string, utcOffset: string): Date | null {
  const [, day, month, year, time, seconds = ':00'] = dayFirst.exec(text) ?? []
  if (day !== undefined) return parseMoment(`${year}-${month}-${day}T${time}${seconds}${utcOffset}`)
  const [, y, m, d, clock, rest = ':00'] = yearFirst.exec(text) ?? []
  if (y !== undefined) return parseMoment(`${y}-${m}-${d}T${clock}${rest}${utcOffset}`)
  return parseMoment(text)
}

/** The number that a cell has somewhere, such as `254700***001 - ASHA`; null without one. */
function phoneOf(text: string, country: string): string | null {
  const [found] = /\+?\d[\dxX*]{6,14}/.exec(text) ?? []
  if (found === undefined || !isSupportedCountry(country)) return null
  const code = getCountryCallingCode(country)
  const digits = found.replace(/^\+/, '').replaceAll(/[xX*]/g, '_')
  if (found.startsWith('+') || digits.startsWith(code)) return `+${digits}`
  return digits.startsWith('0') ? `+${code}${digits.slice(1)}` : `+${code}${digits}`
}
