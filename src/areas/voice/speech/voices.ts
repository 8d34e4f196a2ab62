// SPDX-License-Identifier: Apache-2.0
// The locales that can be spoken, each with the voices the specification names and what speaks it offline. A locale without an
// engine of its own is read by the phonology nearest to it, and says so: `approximate`.

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
}

function locale(
  engineVoice: string,
  genders: readonly Voice['gender'][],
  quality: Locale['quality'] = 'native',
): Locale {
  return { engineVoice, quality, voices: genders.map((gender) => ({ name: gender, gender })) }
}

export const locales: Readonly<Record<string, Locale>> = {
  'en-NG': locale('en-gb', ['female', 'male']),
  'en-KE': locale('en-gb', ['female']),
  'en-ZA': locale('en-gb', ['female']),
  'en-US': locale('en-us', ['female', 'neutral']),
  'fr-SN': locale('fr-fr', ['female']),
  'fr-FR': locale('fr-fr', ['female']),
  'ar-EG': locale('ar', ['female']),
  'ar-001': locale('ar', ['male']),
  'sw-KE': locale('sw', ['female', 'male']),
  'am-ET': locale('am', ['female', 'male']),
  // Without an engine of their own: read by a language whose letters sound most alike.
  'ha-NG': locale('sw', ['female'], 'approximate'),
  'yo-NG': locale('sw', ['female'], 'approximate'),
  'ig-NG': locale('sw', ['female'], 'approximate'),
  'zu-ZA': locale('tn', ['female'], 'approximate'),
  'xh-ZA': locale('tn', ['female'], 'approximate'),
  'af-ZA': locale('af', ['male']),
  'so-SO': locale('om', ['female'], 'approximate'),
  'wo-SN': locale('sw', ['female'], 'approximate'),
  'pt-AO': locale('pt', ['female']),
}

/** The variant of the engine that sounds like a voice; women are not given the engine's default, which is a man. */
export function engineVoiceOf(language: string, style: number, name?: string): string {
  const found = locales[language] ?? locales['en-US']
  const voices = found?.voices ?? []
  const voice = voices.find((each) => each.name === name) ?? voices[style] ?? voices[0]
  return `${found?.engineVoice ?? 'en-us'}${voice?.gender === 'female' ? '+f2' : voice?.gender === 'male' ? '+m3' : ''}`
}
