// SPDX-License-Identifier: Apache-2.0
// The International Phonetic Alphabet in the engine's phoneme mnemonics, for the element `phoneme` of SSML. Every voice has the
// consonants and six vowels; a finer vowel that a voice lacks becomes the nearest of the six.

/** Sounds that every voice has. */
const everywhere: Readonly<Record<string, string>> = {
  p: 'p',
  b: 'b',
  ɓ: 'b',
  t: 't',
  ʈ: 't',
  d: 'd',
  ɖ: 'd',
  ɗ: 'd',
  k: 'k',
  g: 'g',
  ɡ: 'g',
  ɠ: 'g',
  c: 'c',
  ɟ: 'J',
  q: 'q',
  ʔ: '?',
  ʕ: '?',
  m: 'm',
  n: 'n',
  ɲ: 'n^',
  ŋ: 'N',
  f: 'f',
  ɸ: 'f',
  v: 'v',
  β: 'B',
  θ: 'T',
  ð: 'D',
  s: 's',
  z: 'z',
  ʃ: 'S',
  ʒ: 'Z',
  ç: 'C',
  x: 'x',
  χ: 'X',
  ɣ: 'Q',
  ʁ: 'Q',
  h: 'h',
  ɦ: 'h',
  ħ: 'h',
  ʰ: 'h',
  l: 'l',
  ɫ: 'l',
  ɬ: 'l#',
  ɮ: 'dl',
  ʎ: 'l^',
  r: 'R',
  ɾ: '*',
  ɹ: 'r',
  j: 'j',
  w: 'w',
  ʷ: 'w',
  ʲ: 'j',
  ǀ: 'ts',
  ǃ: 'k',
  ǁ: 'kl#',
  a: 'a',
  ɑ: 'a',
  ɐ: 'a',
  æ: 'a',
  e: 'e',
  i: 'i',
  ɨ: 'i',
  o: 'o',
  u: 'u',
  ə: '@',
  ɜ: '@',
  ː: ':',
  ˈ: "'",
  ˌ: ',',
  /** A nasal vowel is closed by a nasal. */
  '\u0303': 'N',
}

/** Vowels that only some voices have, and what the others say. */
const finer: Readonly<Record<string, { best: string; voices: readonly string[]; other: string }>> = {
  ɛ: { best: 'E', voices: ['en-gb', 'en-us', 'fr-fr', 'tn', 'af', 'pt'], other: 'e' },
  ɔ: { best: 'O', voices: ['en-gb', 'en-us', 'fr-fr', 'tn', 'af', 'pt'], other: 'o' },
  ɪ: { best: 'I', voices: ['en-gb', 'en-us', 'tn', 'om', 'pt'], other: 'i' },
  ʊ: { best: 'U', voices: ['en-gb', 'en-us', 'tn', 'om', 'pt'], other: 'u' },
  ʌ: { best: 'V', voices: ['en-gb', 'en-us'], other: 'a' },
  ɒ: { best: 'O', voices: ['en-gb', 'en-us', 'fr-fr', 'tn', 'af', 'pt'], other: 'o' },
  y: { best: 'y', voices: ['fr-fr', 'af'], other: 'i' },
  ø: { best: 'Y', voices: ['fr-fr'], other: 'e' },
  œ: { best: 'W', voices: ['fr-fr', 'af'], other: 'e' },
}

/** Signs that say nothing here: borders of syllables and ties. */
const unread = new Set(['.', '\u0361', '\u035c', '\u0329'])

/** Phonemes for a voice; null where a sign is none of the alphabet, or none that is known here. */
export function phonemesOfIpa(voice: string, ipa: string): string | null {
  let sounds = ''
  for (const sign of ipa.normalize('NFD').replace(/c\u0327/g, 'ç')) {
    const sound = unread.has(sign) ? '' : sign === ' ' ? ' ' : (everywhere[sign] ?? finerSound(voice, sign))
    if (sound === undefined) return null
    sounds += isTwoVowels(sounds, sound) ? `|${sound}` : sound
  }
  return sounds.trim() === '' ? null : sounds.trim()
}

function finerSound(voice: string, sign: string): string | undefined {
  const found = finer[sign]
  return found?.voices.includes(voice) ? found.best : found?.other
}

/** Two vowels that could be read as the name of one. */
function isTwoVowels(before: string, sound: string): boolean {
  return /[aeiouEOIUVyYW@:]$/.test(before) && /^[aeiouEOIUVyYW@]/.test(sound)
}
