// SPDX-License-Identifier: Apache-2.0
// Input of the speech engine for a text: plain text of a language that it speaks is unchanged, everything else is rewritten for
// it. Of SSML it obeys break, prosody, emphasis, sub, p, s and mark itself; say-as, phoneme, lang and, in languages that it has no
// voice for, all words are put into a form that it knows.
import { phonemesOfIpa } from './ipa.ts'
import { spelledOut, spoken } from './letter-to-sound.ts'
import { escapeMarkup, isMarkup, type MarkupPiece, markupPieces, obeyedSsml } from './ssml.ts'
import { localeFor, locales } from './voices.ts'

export interface Reading {
  readonly text: string
  readonly isMarkup: boolean
}

export function readingOf(language: string, text: string): Reading {
  const locale = locales[language]
  if (isMarkup(text)) return { text: markupReading(language, text), isMarkup: true }
  return { text: locale?.spelling ? spoken(locale.spelling, text) : text, isMarkup: false }
}

/** An element that is open: what it closes with, and how the text in it is read. */
interface Open {
  readonly closing: string
  readonly language: string
  readonly sayAs: string | null
  /** Whether its text is replaced. */
  readonly isReplaced: boolean
}

function markupReading(language: string, text: string): string {
  const open: Open[] = [{ closing: '', language, sayAs: null, isReplaced: false }]
  let read = ''
  for (const piece of markupPieces(obeyedSsml(text))) {
    const around = open.at(-1)
    if (!around) break
    if (piece.kind === 'text') read += around.isReplaced ? '' : textReading(around, piece.text)
    else if (piece.kind === 'close') read = followed(read, open.pop()?.closing ?? '')
    else {
      const { opening, ...element } = elementReading(around, piece)
      if (!around.isReplaced) read = followed(read, opening)
      if (!piece.isEmpty) open.push(element)
    }
  }
  return read.trim()
}

/** Appends a tag or phonemes. Without a space the engine takes a tag after phonemes for text. */
function followed(read: string, next: string): string {
  return next !== '' && (read.endsWith(']]') || next.startsWith('[[')) ? `${read} ${next}` : `${read}${next}`
}

/** Kinds of say-as that are written out here. The engine knows those of letters and digits by names of its own. */
const written = new Set(['digits', 'telephone', 'cardinal', 'ordinal', 'date', 'currency'])

function elementReading(around: Open, piece: Extract<MarkupPiece, { kind: 'open' }>): Open & { opening: string } {
  const { name, attributes, source } = piece
  const closing = piece.isEmpty || around.isReplaced ? '' : `</${name}>`
  const plain = { ...around, opening: source, closing }
  const spelling = locales[around.language]?.spelling
  switch (name) {
    case 'say-as': {
      const sayAs = attributes['interpret-as'] ?? ''
      const isOwn = written.has(sayAs) || (sayAs === 'characters' && spelling !== undefined)
      return isOwn ? { ...plain, opening: '', closing: '', sayAs } : plain
    }
    case 'lang': {
      const language = localeFor(attributes['xml:lang'] ?? '')
      const found = language === null ? undefined : locales[language]
      if (language === null || !found) return plain
      return { ...plain, opening: `<voice xml:lang="${found.engineVoice}">`, closing: '</voice>', language }
    }
    case 'sub': {
      if (spelling === undefined) return plain
      return { ...plain, opening: textReading(around, attributes.alias ?? ''), closing: '', isReplaced: true }
    }
    case 'phoneme': {
      const { alphabet = 'ipa', ph = '' } = attributes
      const sounds = alphabet === 'ipa' ? phonemesOfIpa(locales[around.language]?.engineVoice ?? '', ph) : null
      if (sounds === null) return { ...plain, opening: '', closing: '' }
      return { ...plain, opening: `[[${sounds}]]`, closing: '', isReplaced: true }
    }
    default:
      return plain
  }
}

/** Text inside markup, as the language around it and its say-as have it read. */
function textReading({ language, sayAs }: Open, text: string): string {
  const spelling = locales[language]?.spelling
  if (spelling !== undefined && sayAs === 'characters') return spelledOut(spelling, text)
  const words = sayAs === null ? text : sayAsWords(language, sayAs, text.trim())
  return escapeMarkup(spelling === undefined ? words : spoken(spelling, words))
}

const pauses: Readonly<Record<string, number>> = {
  none: 0,
  'x-weak': 100,
  weak: 200,
  medium: 400,
  strong: 700,
  'x-strong': 1_000,
}

/**
 * Texts and pauses in milliseconds, for a voice that knows no markup: break, say-as, sub, p and s are obeyed, what other elements
 * hold is read as it stands.
 */
export function plainReading(language: string, text: string): (string | number)[] {
  if (!isMarkup(text)) return [text]
  const parts: (string | number)[] = []
  const open: { readonly sayAs: string | null; readonly isReplaced: boolean }[] = []
  let read = ''
  const pause = (ms: number) => {
    if (read.trim() !== '') parts.push(read.trim())
    parts.push(ms)
    read = ''
  }
  for (const piece of markupPieces(obeyedSsml(text))) {
    const around = open.at(-1) ?? { sayAs: null, isReplaced: false }
    if (piece.kind === 'text') {
      const words = around.sayAs === null ? piece.text : sayAsWords(language, around.sayAs, piece.text.trim())
      read += around.isReplaced ? '' : words
    } else if (piece.kind === 'close') {
      open.pop()
      if (piece.name === 'p' || piece.name === 's') pause(pauses.medium ?? 0)
    } else {
      const { name, attributes, isEmpty } = piece
      if (name === 'break') pause(pauseOf(attributes))
      if (name === 'sub' && !around.isReplaced) read += attributes.alias ?? ''
      const sayAs = name === 'say-as' ? (attributes['interpret-as'] ?? null) : around.sayAs
      if (!isEmpty) open.push({ sayAs, isReplaced: around.isReplaced || name === 'sub' })
    }
  }
  return read.trim() === '' ? parts : [...parts, read.trim()]
}

/** Length of a break; one that is too long was shortened before. */
function pauseOf({ time = '', strength = 'medium' }: Readonly<Record<string, string>>): number {
  const ms = Number.parseFloat(time) * (time.endsWith('ms') ? 1 : 1_000)
  return Number.isNaN(ms) ? (pauses[strength] ?? pauses.medium ?? 0) : ms
}

/** Text of a say-as, in words and numbers that a language reads as they stand; unknown kinds leave it as it is. */
function sayAsWords(language: string, sayAs: string, text: string): string {
  switch (sayAs) {
    case 'digits':
    case 'telephone':
      return text.replace(/\d+/g, (digits) => [...digits].join(' ')).replace(/\+/g, ' ')
    case 'date':
      return dateWords(language, text)
    case 'currency':
      return moneyWords(language, text)
    case 'ordinal':
      return ordinalWords(language, text)
    default:
      return text
  }
}

/** Languages that the engine reads ordinals of, and how they are written there. */
const ordinalEndings: Readonly<Record<string, (n: number) => string>> = {
  en: (n) => ({ one: 'st', two: 'nd', few: 'rd', other: 'th', zero: 'th', many: 'th' })[englishOrdinals.select(n)],
  fr: (n) => (n === 1 ? 'er' : 'e'),
  pt: () => 'º',
}
const englishOrdinals = new Intl.PluralRules('en', { type: 'ordinal' })

function ordinalWords(language: string, text: string): string {
  const ending = ordinalEndings[language.slice(0, 2)]
  return ending && /^\d{1,9}$/.test(text) ? `${text}${ending(Number(text))}` : text
}

function dateWords(language: string, text: string): string {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  if (Number.isNaN(date.getTime()) || date.getUTCDate() !== Number(day)) return text
  const parts = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const
  return new Intl.DateTimeFormat(language, { ...parts, calendar: 'gregory', numberingSystem: 'latn' }).format(date)
}

function moneyWords(language: string, text: string): string {
  const [, before, amount = '', after] = /^([A-Z]{3})?\s*(\d{1,12}(?:\.\d{1,2})?)\s*([A-Z]{3})?$/.exec(text) ?? []
  const currency = before ?? after
  if (currency === undefined) return text
  return new Intl.NumberFormat(language, {
    style: 'currency',
    currency,
    currencyDisplay: 'name',
    useGrouping: false,
    numberingSystem: 'latn',
    minimumFractionDigits: amount.includes('.') ? 2 : 0,
  }).format(Number(amount))
}
