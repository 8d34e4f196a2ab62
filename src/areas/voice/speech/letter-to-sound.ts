// SPDX-License-Identifier: Apache-2.0
// Letters to sounds: a text in a language that the engine has no voice for, as phonemes for the voice that is nearest. Numbers are
// said in the words of the language; what is no Latin letter and no number is left to the engine.
import { type CountedLanguage, cardinal, digitWord } from './number-words.ts'
import { letterNames, type Rule, type SpelledLanguage, spellings } from './spellings.ts'

const vowel = /^[aeiouEOIU@]/
const endsInVowel = /[aeiouEOIU@:]$/
/** An apostrophe before y is a letter of Hausa. */
const word = /(?:['’ʼ](?=y))?[\p{L}\p{M}][\p{L}\p{M}'’ʼ]*/giu
const wordOrNumber = new RegExp(`\\+?\\d+(?:[.,]\\d+)*|${word.source}`, 'giu')
const isLatin = /^[\p{Script=Latin}\p{M}'’ʼ]+$/u
/** More digits are no amount but a number of something, and said one by one. */
const maxCounted = 9

/** A text with its words as phonemes of the engine, in double square brackets; pauses stay where they are written. */
export function spoken(language: SpelledLanguage, text: string): string {
  // Brackets are the engine's sign for phonemes.
  return text.replace(/[[\]]/g, ' ').replace(wordOrNumber, (found) => {
    const words = /^\+?\d/.test(found) ? numberWords(language, found) : found
    return words.replace(word, (each) => inBrackets(language, each))
  })
}

/** Every letter and digit by its name. */
export function spelledOut(language: SpelledLanguage, text: string): string {
  const names = [...text.normalize('NFD').toLowerCase()].flatMap((letter) => {
    if (/\d/.test(letter)) return [spoken(language, digitWord(language, Number(letter)))]
    const name = letterNames[letter]
    return name === undefined ? [] : [`[[${name}]]`]
  })
  return names.join(' ')
}

function inBrackets(language: SpelledLanguage, word: string): string {
  if (!isLatin.test(word)) return word
  if (isAbbreviation(word)) return spelledOut(language, word)
  const sounds = soundsOf(language, word)
  return sounds === '' ? '' : `[[${sounds}]]`
}

/** Capitals without a vowel can only be read letter by letter. */
function isAbbreviation(word: string): boolean {
  return /^\p{Lu}{2,}$/u.test(word) && !/[AEIOUẸỌỊỤÉÓËÀ]/u.test(word.normalize('NFC'))
}

/** Phonemes of one word, with its stress. */
export function soundsOf(language: SpelledLanguage, word: string): string {
  const { rules, stress } = spellings[language]
  const letters = lettersOf(language, word)
  const sounds: string[] = []
  for (let at = 0; at < letters.length; ) {
    const { sound, length } = ruleAt(rules, letters, at)
    // A doubled consonant is said once.
    if (sound !== '' && (sound !== sounds.at(-1) || vowel.test(sound))) sounds.push(sound)
    at += length
  }
  const syllables = sounds.flatMap((sound, i) => (vowel.test(sound) ? [i] : []))
  const isParticle = syllables.length < 2 && letters.length < 3
  const stressed = isParticle ? undefined : stress === 'first' ? syllables[0] : (syllables.at(-2) ?? syllables[0])
  return sounds.reduce((said, sound, i) => {
    if (i === stressed) return `${said}'${sound}`
    // Without the bar two vowels could be the name of one.
    return vowel.test(sound) && endsInVowel.test(said) ? `${said}|${sound}` : `${said}${sound}`
  }, '')
}

/** Letters as the rules have them: small, composed, a dot below for a line below, and without tones. */
function lettersOf(language: SpelledLanguage, word: string): string {
  const apart = word
    .toLowerCase()
    .normalize('NFD')
    .replace(/\u0329/g, '\u0323')
  const plain = spellings[language].hasTones ? apart.replace(/[\u0300-\u0302\u0304\u030c]/g, '') : apart
  return plain.normalize('NFC')
}

function ruleAt(rules: readonly Rule[], letters: string, at: number): { sound: string; length: number } {
  for (const { letters: rule, sounds } of rules) {
    rule.lastIndex = at
    const found = rule.exec(letters)
    if (found) return { sound: sounds, length: found[0].length }
  }
  // A letter of another language is read without its accents, and one that has no other form is not read.
  const letter = String.fromCodePoint(letters.codePointAt(at) ?? 0)
  const bare = letter.normalize('NFD').replace(/\p{M}/gu, '')
  const sound = bare !== letter && bare !== '' ? ruleAt(rules, bare, 0).sound : ''
  return { sound, length: letter.length }
}

/** A number in words: amounts counted, telephone numbers and the like digit by digit. */
function numberWords(language: CountedLanguage, number: string): string {
  const digits = (text: string) => [...text].map((digit) => digitWord(language, Number(digit))).join(' ')
  if (number.startsWith('+')) return digits(number.slice(1).replace(/\D/g, ''))
  const grouped = /^\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*(?:[.,]\d{1,2})?$/.exec(number)
  const plain = grouped ? number.replace(/[.,](?=\d{3})/g, '') : number
  const [whole = '', ...fractions] = plain.split(/[.,]/)
  const counted = (part: string) =>
    part.length > maxCounted || /^0\d/.test(part) ? digits(part) : cardinal(language, Number(part))
  const [fraction] = fractions
  if (fraction === undefined || (fractions.length === 1 && /^0+$/.test(fraction))) return counted(whole)
  return [whole, ...fractions].map(counted).join(', ')
}
