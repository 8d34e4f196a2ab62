// SPDX-License-Identifier: Apache-2.0
// The locales that can be spoken, each with the voices the specification names and what speaks it offline. A locale without an
// engine of its own is read by letter-to-sound rules with the voice whose sounds are nearest, and says so: `approximate`.
import { type SpelledLanguage, spellings } from './spellings.ts'

interface Voice {
  /** Name that requests give as `voice`. */
  readonly name: string
  readonly gender: 'female' | 'male' | 'neutral'
}

export interface Locale {
  readonly voices: readonly Voice[]
  /** Voice of espeak-ng that reads it. */
  readonly engineVoice: string
  readonly quality: 'native' | 'approximate'
  /** The language whose rules turn its letters into sounds; none where the engine reads it itself. */
  readonly spelling?: SpelledLanguage
}

function native(engineVoice: string, ...genders: readonly Voice['gender'][]): Locale {
  return { engineVoice, quality: 'native', voices: voicesOf(genders) }
}

function approximate(spelling: SpelledLanguage, ...genders: readonly Voice['gender'][]): Locale {
  return { engineVoice: spellings[spelling].voice, quality: 'approximate', spelling, voices: voicesOf(genders) }
}

function voicesOf(genders: readonly Voice['gender'][]): readonly Voice[] {
  return genders.map((gender) => ({ name: gender, gender }))
}

/** Languages with their regions, as they are listed. */
export const regionalLocales: Readonly<Record<string, Locale>> = {
  'en-NG': native('en-gb', 'female', 'male'),
  'en-KE': native('en-gb', 'female'),
  'en-ZA': native('en-gb', 'female'),
  'en-US': native('en-us', 'female', 'neutral'),
  'fr-SN': native('fr-fr', 'female'),
  'fr-FR': native('fr-fr', 'female'),
  'ar-EG': native('ar', 'female'),
  'ar-001': native('ar', 'male'),
  'sw-KE': native('sw', 'female', 'male'),
  'am-ET': native('am', 'female', 'male'),
  'ha-NG': approximate('ha', 'female'),
  'yo-NG': approximate('yo', 'female'),
  'ig-NG': approximate('ig', 'female'),
  'zu-ZA': approximate('zu', 'female'),
  'xh-ZA': approximate('xh', 'female'),
  'af-ZA': native('af', 'male'),
  'so-SO': approximate('so', 'female'),
  'wo-SN': approximate('wo', 'female'),
  'pt-AO': native('pt', 'female'),
}

/** What may be spoken: each language of a region, and a language alone, which means the first region that is listed for it. */
export const locales: Readonly<Record<string, Locale>> = {
  ...Object.fromEntries(
    Object.entries(regionalLocales)
      .map(([name, locale]) => [name.split('-')[0] ?? name, locale] as const)
      .reverse(),
  ),
  ...regionalLocales,
}

/** The locale that a tag such as `fr`, `fr-FR` or `FR-CI` means: itself, or the first of its language; null for none. */
export function localeFor(tag: string): string | null {
  const wanted = tag.toLowerCase()
  const names = Object.keys(regionalLocales)
  const exact = names.find((name) => name.toLowerCase() === wanted)
  return exact ?? names.find((name) => name.startsWith(`${wanted.split('-')[0]}-`)) ?? null
}

/** The variant of the engine that sounds like a voice; women are not given the engine's default, which is a man. */
export function engineVoiceOf(language: string, style: number, name?: string): string {
  const found = locales[language] ?? locales['en-US']
  const voices = found?.voices ?? []
  const voice = voices.find((each) => each.name === name) ?? voices[style] ?? voices[0]
  return `${found?.engineVoice ?? 'en-us'}${voice?.gender === 'female' ? '+f2' : voice?.gender === 'male' ? '+m3' : ''}`
}
