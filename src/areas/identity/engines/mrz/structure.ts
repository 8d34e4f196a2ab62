// SPDX-License-Identifier: Apache-2.0
// Layout of machine-readable zones (ICAO 9303 parts 4 to 7): fields of each format, their characters and check digits.
import { countryCodes } from './country-codes.ts'
import { characters } from './marginals.ts'

export type Format = 'TD1' | 'TD2' | 'TD3' | 'MRVA' | 'MRVB'

export const lineLengths: Readonly<Record<Format, number>> = { TD1: 30, TD2: 36, TD3: 44, MRVA: 44, MRVB: 36 }

const digits = '0123456789'
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Kind of character -> those it may be. */
const alphabets = {
  digit: digits,
  dateDigit: `${digits}<`,
  letter: `${letters}<`,
  any: characters,
  sex: 'MFX<',
  filler: '<',
  passport: 'P',
  visa: 'V',
  card: 'ACI',
} as const
type Alphabet = keyof typeof alphabets

/** One character of the zone. */
export interface Place {
  readonly name: string
  readonly alphabet: string
  readonly role: 'check' | 'composite' | null
  /** Field whose check digit covers it, or is it. */
  readonly field: string | null
  readonly isInComposite: boolean
  /** Decoded as a block with its neighbours. */
  readonly block: 'country' | 'month' | 'day' | null
}

/** Places in reading order; `extra` > 0: a document number longer than 9 that runs on into the optional data (TD1, TD2). */
export function placesOf(format: Format, extra: number): readonly Place[] {
  const list = new PlaceList()
  if (format === 'TD1') return cardOfThreeLines(list, extra)
  const hasComposite = format === 'TD2' || format === 'TD3'
  list.add('type', 1, firstLetter[format])
  list.add('type', 1, 'letter')
  list.country('issuer')
  list.add('names', lineLengths[format] - 5, 'letter')
  list.number(hasComposite, extra)
  list.country('nationality')
  list.date('birth', hasComposite)
  list.add('sex', 1, 'sex')
  list.date('expiry', hasComposite)
  if (format === 'TD3') {
    list.add('optional', 14, 'any', { field: 'personal', isInComposite: true })
    list.add('optionalCheck', 1, 'dateDigit', { role: 'check', field: 'personal', isInComposite: true })
  } else if (format === 'TD2') list.tail(7, extra)
  else list.add('optional', lineLengths[format] - 28, 'any')
  if (hasComposite) list.add('compositeCheck', 1, 'digit', { role: 'composite' })
  return list.places
}

const firstLetter: Readonly<Record<Exclude<Format, 'TD1'>, Alphabet>> = {
  TD2: 'card',
  TD3: 'passport',
  MRVA: 'visa',
  MRVB: 'visa',
}

function cardOfThreeLines(list: PlaceList, extra: number): readonly Place[] {
  list.add('type', 1, 'card')
  list.add('type', 1, 'letter')
  list.country('issuer')
  list.number(true, extra)
  list.tail(15, extra)
  list.date('birth', true)
  list.add('sex', 1, 'sex')
  list.date('expiry', true)
  list.country('nationality')
  list.add('optional2', 11, 'any', { isInComposite: true })
  list.add('compositeCheck', 1, 'digit', { role: 'composite' })
  list.add('names', 30, 'letter')
  return list.places
}

class PlaceList {
  readonly places: Place[] = []

  add(name: string, count: number, alphabet: Alphabet, more: Partial<Place> = {}): void {
    const place = { name, alphabet: alphabets[alphabet], role: null, field: null, isInComposite: false, block: null }
    for (let i = 0; i < count; i++) this.places.push({ ...place, ...more })
  }

  country(name: string): void {
    this.add(name, 3, 'letter', { block: 'country' })
  }

  date(name: string, isInComposite: boolean): void {
    const field = { field: name, isInComposite }
    this.add(name, 2, 'dateDigit', field)
    this.add(name, 2, 'dateDigit', { ...field, block: 'month' })
    this.add(name, 2, 'dateDigit', { ...field, block: 'day' })
    this.add(`${name}Check`, 1, 'digit', { ...field, role: 'check' })
  }

  number(isInComposite: boolean, extra: number): void {
    this.add('number', 9, 'any', { field: 'number', isInComposite })
    if (extra > 0) this.add('numberCheck', 1, 'filler', { isInComposite })
    else this.add('numberCheck', 1, 'digit', { role: 'check', field: 'number', isInComposite })
  }

  /** Optional data, after the rest of a long number. */
  tail(length: number, extra: number): void {
    if (extra > 0) {
      this.add('number', extra, 'any', { field: 'number', isInComposite: true })
      this.add('numberCheck', 1, 'digit', { role: 'check', field: 'number', isInComposite: true })
      this.add('optional', 1, 'filler', { isInComposite: true })
    }
    this.add('optional', extra > 0 ? length - extra - 2 : length, 'any', { isInComposite: true })
  }
}

const twoDigits = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1).padStart(2, '0'))

/** Kind of block -> the texts it may be. */
export const blockTexts: Readonly<Record<NonNullable<Place['block']>, readonly string[]>> = {
  country: countryCodes,
  month: [...twoDigits(12), '<<'],
  day: [...twoDigits(31), '<<'],
}

/** Value of a character in a check digit. */
export function checkValueOf(character: string): number {
  const index = characters.indexOf(character)
  return index < 36 ? index : 0
}

const checkWeights = [7, 3, 1]

/** Weights of each place in the check digit of its field, and in the composite one. */
export function weightsOf(places: readonly Place[]): { field: number[]; composite: number[] } {
  const counted = new Map<string, number>()
  let inComposite = 0
  const field = places.map(({ field: name, role }) => {
    if (name === null || role !== null) return 0
    const count = counted.get(name) ?? 0
    counted.set(name, count + 1)
    return checkWeights[count % 3] ?? 0
  })
  const composite = places.map(({ isInComposite }) => (isInComposite ? (checkWeights[inComposite++ % 3] ?? 0) : 0))
  return { field, composite }
}

/** Names of failing check digits and of fields with invalid values. */
export function failingIn(places: readonly Place[], text: string): string[] {
  const { field, composite } = weightsOf(places)
  const sums = new Map<string, number>()
  const failing = new Set<string>()
  let whole = 0
  places.forEach((place, i) => {
    const character = text[i] ?? '<'
    const value = checkValueOf(character)
    if (place.block === null && !place.alphabet.includes(character)) failing.add(place.name)
    if (place.role === 'check' && (letters.includes(character) || value !== (sums.get(place.field ?? '') ?? 0) % 10))
      failing.add(place.name)
    if (place.role === 'composite' && (letters.includes(character) || value !== whole % 10)) failing.add(place.name)
    if (place.field !== null && place.role === null)
      sums.set(place.field, (sums.get(place.field) ?? 0) + value * (field[i] ?? 0))
    whole += value * (composite[i] ?? 0)
  })
  for (const { name, block, part } of dateBlocksOf(places, text))
    if (!blockTexts[block].includes(part)) failing.add(name)
  return [...failing]
}

function dateBlocksOf(places: readonly Place[], text: string) {
  const blocks: { name: string; block: 'month' | 'day'; part: string }[] = []
  for (let i = 0; i < places.length; i++) {
    const place = places[i]
    if (place?.block !== 'month' && place?.block !== 'day') continue
    blocks.push({ name: place.name, block: place.block, part: text.slice(i, i + 2) })
    i += 1
  }
  return blocks
}
