// SPDX-License-Identifier: Apache-2.0
// Spellings of the languages that the engine has no voice for: which letters stand for which sounds, in the engine's own phoneme
// mnemonics, and which of its voices has the nearest sounds. Their orthographies write nearly every sound, so that a table reads
// them; what the voice lacks (clicks, tones, implosives, nasal vowels, length in Hausa) becomes its nearest sound.

/** Letters as a regular expression, and the sounds that they stand for. */
type Line = readonly [letters: string, sounds: string]

export interface Rule {
  readonly letters: RegExp
  readonly sounds: string
}

export interface Spelling {
  /** Voice of espeak-ng that has the sounds. */
  readonly voice: string
  /** The syllable that is stressed where the spelling does not say. */
  readonly stress: 'first' | 'penultimate'
  /** Whether accents above a letter are tones, which are left out, and not other letters. */
  readonly hasTones: boolean
  /** The first that fits at a place is taken. */
  readonly rules: readonly Rule[]
}

function rules(...lines: readonly Line[]): readonly Rule[] {
  return lines.map(([letters, sounds]) => ({ letters: new RegExp(letters, 'uy'), sounds }))
}

/** Letters that sound alike in all of them, and those of foreign words and names. */
const common: readonly Line[] = [
  ['sh', 'S'],
  ['a', 'a'],
  ['b', 'b'],
  ['c', 'k'],
  ['d', 'd'],
  ['e', 'e'],
  ['f', 'f'],
  ['g', 'g'],
  ['h', 'h'],
  ['i', 'i'],
  ['j', 'dZ'],
  ['k', 'k'],
  ['l', 'l'],
  ['m', 'm'],
  ['n', 'n'],
  ['o', 'o'],
  ['p', 'p'],
  ['q', 'k'],
  ['r', 'R'],
  ['s', 's'],
  ['t', 't'],
  ['u', 'u'],
  ['v', 'v'],
  ['w', 'w'],
  ['x', 'ks'],
  ['y', 'j'],
  ['z', 'z'],
]

const hausa: Spelling = {
  voice: 'om',
  stress: 'penultimate',
  hasTones: true,
  rules: rules(
    ["ts['’ʼ]?", 'ts'],
    ["['’ʼ]y|ƴ", '?j'],
    ['ƙ', 'k`'],
    ['ɓ', 'b'],
    ['ɗ', 'd'],
    ['ny', 'n^'],
    ['ai', 'aj'],
    ['au', 'aw'],
    ['n(?=[kgƙ])', 'N'],
    ['c', 'tS'],
    ["['’ʼ]", '?'],
    ...common,
  ),
}

const yoruba: Spelling = {
  voice: 'tn',
  stress: 'penultimate',
  hasTones: true,
  rules: rules(
    ['gb', 'gb'],
    ['p', 'kp'],
    ['ṣ', 'S'],
    // A vowel before an n that no vowel follows is nasal.
    ['an(?![aeẹioọu])', 'aN'],
    ['ẹn(?![aeẹioọu])', 'EN'],
    ['in(?![aeẹioọu])', 'iN'],
    ['ọn(?![aeẹioọu])', 'ON'],
    ['un(?![aeẹioọu])', 'uN'],
    ['ẹ', 'E'],
    ['ọ', 'O'],
    ['n(?=[kg])', 'N'],
    ...common,
  ),
}

const igbo: Spelling = {
  voice: 'tn',
  stress: 'penultimate',
  hasTones: true,
  rules: rules(
    ['ch', 'tS'],
    ['gb', 'gb'],
    ['gh', 'Q'],
    ['kp', 'kp'],
    ['nw', 'Nw'],
    ['ny', 'n^'],
    ['ṅ', 'N'],
    ['n(?=[kg])', 'N'],
    ['ị', 'I'],
    ['ọ', 'O'],
    ['ụ', 'U'],
    ...common,
  ),
}

/** Zulu and Xhosa: clicks become the stop or affricate that is made at the same place. */
const nguni: readonly Line[] = [
  ['tsh', 'tS'],
  ['ts', 'ts'],
  ['hl', 'l#'],
  ['dl', 'dl'],
  ['ph', 'ph'],
  ['th', 't#'],
  ['kh', 'kh'],
  ['bh', 'b'],
  ['ny', 'n^'],
  ['n(?=[kgqx])', 'N'],
  ['ch', 'tsh'],
  ['c', 'ts'],
  ['qh', 'kh'],
  ['q', 'k'],
  ['xh', 'kl#'],
  ['x', 'kl#'],
  ['e', 'E'],
  ['o', 'O'],
]

const zulu: Spelling = {
  voice: 'tn',
  stress: 'penultimate',
  hasTones: true,
  rules: rules(['hh', 'h'], ['kl', 'kl#'], ...nguni, ...common),
}

const xhosa: Spelling = {
  voice: 'tn',
  stress: 'penultimate',
  hasTones: true,
  rules: rules(['tyh', 'ch'], ['ty', 'c'], ['dy', 'J'], ['rh', 'x'], ['kr', 'kx'], ['gr', 'Q'], ...nguni, ...common),
}

const somali: Spelling = {
  voice: 'om',
  stress: 'penultimate',
  hasTones: true,
  rules: rules(
    ['aa', 'a:'],
    ['ee', 'e:'],
    ['ii', 'i:'],
    ['oo', 'o:'],
    ['uu', 'u:'],
    ['dh', 'd'],
    ['kh', 'x'],
    ['n(?=[kg])', 'N'],
    // The two sounds of the throat, which the voice has not.
    ['x', 'h'],
    ['c', '?'],
    ['q', 'q'],
    ["['’ʼ]", '?'],
    ...common,
  ),
}

const wolof: Spelling = {
  voice: 'tn',
  stress: 'first',
  hasTones: false,
  rules: rules(
    ['ée|éé', 'e:'],
    ['óo|óó', 'o:'],
    ['ee', 'E:'],
    ['oo', 'O:'],
    ['aa|à', 'a:'],
    ['ii', 'i:'],
    ['uu', 'u:'],
    ['ëe|ëë|ë', '@'],
    ['é', 'e'],
    ['ó', 'o'],
    ['e', 'E'],
    ['o', 'O'],
    ['c', 'tS'],
    ['ñ', 'n^'],
    ['ŋ', 'N'],
    ['n(?=[jc])', 'n^'],
    ['n(?=[kgqx])', 'N'],
    ['x', 'x'],
    ['q', 'q'],
    ["['’ʼ]", '?'],
    ...common,
  ),
}

/** Spellings by the language of a locale. */
export const spellings = {
  ha: hausa,
  yo: yoruba,
  ig: igbo,
  zu: zulu,
  xh: xhosa,
  so: somali,
  wo: wolof,
} as const satisfies Record<string, Spelling>

export type SpelledLanguage = keyof typeof spellings

/** Names of letters, for words that are spelled: those of vowels are their sounds. */
export const letterNames: Readonly<Record<string, string>> = {
  a: "'a",
  b: "b'i",
  c: "s'i",
  d: "d'i",
  e: "'e",
  f: "'ef",
  g: "dZ'i",
  h: "'etS",
  i: "'i",
  j: "dZ'e",
  k: "k'e",
  l: "'el",
  m: "'em",
  n: "'en",
  o: "'o",
  p: "p'i",
  q: "kj'u",
  r: "'aR",
  s: "'es",
  t: "t'i",
  u: "'u",
  v: "v'i",
  w: "dabalj'u",
  x: "'eks",
  y: "w'aj",
  z: "z'ed",
}
