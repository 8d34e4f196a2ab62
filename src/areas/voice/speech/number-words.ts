// SPDX-License-Identifier: Apache-2.0
// Numbers in the words of the languages that the engine has no voice for, up to 999 999 999: tables of words, and how each
// language puts them together.
import type { SpelledLanguage } from './spellings.ts'

export type CountedLanguage = SpelledLanguage

/** Words of a language that names millions, thousands, hundreds and the rest one after the other. */
interface Counting {
  /** 0 to 9. */
  readonly digits: readonly string[]
  /** Between the parts. */
  readonly and: string
  belowHundred(n: number): string
  hundreds(count: number, words: string): string
  thousands(count: number, words: string): string
  millions(count: number, words: string): string
}

const maxCardinal = 999_999_999

/** A whole number in words. */
export function cardinal(language: CountedLanguage, n: number): string {
  if (!Number.isInteger(n) || n < 0 || n > maxCardinal) throw new RangeError(`${n} cannot be said in words`)
  return language === 'zu' || language === 'xh' ? nguniWords(ngunis[language], n) : partWords(countings[language], n)
}

export function digitWord(language: CountedLanguage, digit: number): string {
  const { digits } = language === 'zu' || language === 'xh' ? ngunis[language] : countings[language]
  return digits[digit] ?? ''
}

function partWords(counting: Counting, n: number): string {
  if (n === 0) return counting.digits[0] ?? ''
  const [millions, thousands, hundreds, rest] = partsOf(n)
  const words = (count: number) => partWords(counting, count)
  const parts = [
    millions > 0 ? counting.millions(millions, words(millions)) : '',
    thousands > 0 ? counting.thousands(thousands, words(thousands)) : '',
    hundreds > 0 ? counting.hundreds(hundreds, words(hundreds)) : '',
    rest > 0 ? counting.belowHundred(rest) : '',
  ]
  return parts.filter((part) => part !== '').join(` ${counting.and} `)
}

function partsOf(n: number): readonly [number, number, number, number] {
  const below = n % 1_000
  return [Math.floor(n / 1_000_000), Math.floor(n / 1_000) % 1_000, Math.floor(below / 100), below % 100]
}

function at(words: readonly string[], index: number): string {
  return words[index] ?? ''
}

const hausaDigits = ['sifili', 'ɗaya', 'biyu', 'uku', 'huɗu', 'biyar', 'shida', 'bakwai', 'takwas', 'tara']
const hausaTens = ['', 'goma', 'ashirin', 'talatin', "arba'in", 'hamsin', 'sittin', "saba'in", 'tamanin', "tasa'in"]
/** `ɗari biyu`: the count comes after what is counted, and one is not said. */
const hausaCount = (noun: string) => (count: number, words: string) => (count === 1 ? noun : `${noun} ${words}`)

const igboDigits = ['efu', 'otu', 'abụọ', 'atọ', 'anọ', 'ise', 'isii', 'asaa', 'asatọ', 'itoolu']
const igboCount = (noun: string) => (count: number, words: string) => (count === 1 ? `otu ${noun}` : `${noun} ${words}`)

const somaliDigits = ['eber', 'kow', 'laba', 'saddex', 'afar', 'shan', 'lix', 'toddoba', 'siddeed', 'sagaal']
const somaliTens = [
  '',
  'toban',
  'labaatan',
  'soddon',
  'afartan',
  'konton',
  'lixdan',
  'toddobaatan',
  'siddeetan',
  'sagaashan',
]
const somaliCount = (noun: string) => (count: number, words: string) => (count === 1 ? noun : `${words} ${noun}`)

const wolofFive = ['', 'benn', 'ñaar', 'ñett', 'ñeent', 'juróom']
const wolofDigit = (n: number) => (n <= 5 ? at(wolofFive, n) : `juróom ${at(wolofFive, n - 5)}`)
const wolofTens = (n: number) => (n === 1 ? 'fukk' : n === 3 ? 'fanweer' : `${wolofDigit(n)} fukk`)
/** `ñaari téeméer`: what is counted is linked to its count by i. */
const wolofCount = (noun: string) => (count: number, words: string) => (count === 1 ? noun : `${words}i ${noun}`)

const yorubaDigits = ['òdo', 'ọ̀kan', 'méjì', 'mẹ́ta', 'mẹ́rin', 'márùn-ún', 'mẹ́fà', 'méje', 'mẹ́jọ', 'mẹ́sàn-án']
/** One to five as they are joined with tens: added up to four, taken from the next ten from five on. */
const yorubaJoined = ['', 'mọ́kàn', 'méjì', 'mẹ́tà', 'mẹ́rìn', 'márùn']
const yorubaTens = ['', 'mẹ́wàá', 'ogún', 'ọgbọ̀n', 'ogójì', 'àádọ́ta', 'ọgọ́ta', 'àádọ́rin', 'ọgọ́rin', 'àádọ́rùn-ún']
const yorubaOnTens = [
  '',
  '',
  'lógún',
  'lọ́gbọ̀n',
  'lógójì',
  'láàádọ́ta',
  'lọ́gọ́ta',
  'láàádọ́rin',
  'lọ́gọ́rin',
  'láàádọ́rùn-ún',
  'lọ́gọ́rùn-ún',
]
const yorubaHundreds = [
  '',
  'ọgọ́rùn-ún',
  'igba',
  'ọ̀ọ́dúnrún',
  'irinwó',
  'ẹ̀ẹ́dẹ́gbẹ̀ta',
  'ẹgbẹ̀ta',
  'ẹ̀ẹ́dẹ́gbẹ̀rin',
  'ẹgbẹ̀rin',
  'ẹ̀ẹ́dẹ́gbẹ̀rún',
]

function yorubaBelowHundred(n: number): string {
  const [tens, unit] = [Math.floor(n / 10), n % 10]
  if (tens === 0) return at(yorubaDigits, unit)
  if (unit === 0) return at(yorubaTens, tens)
  if (unit >= 5) return `${at(yorubaJoined, 10 - unit)}dín${at(yorubaOnTens, tens + 1)}`
  return tens === 1 ? `${at(yorubaJoined, unit)}lá` : `${at(yorubaJoined, unit)}lé${at(yorubaOnTens, tens)}`
}

const yorubaCount = (noun: string) => (count: number, words: string) => `${noun} ${count === 1 ? 'kan' : words}`

const countings = {
  ha: {
    digits: hausaDigits,
    and: 'da',
    belowHundred: (n) => {
      const [tens, unit] = [Math.floor(n / 10), n % 10]
      if (tens === 0) return at(hausaDigits, unit)
      if (unit === 0) return at(hausaTens, tens)
      return `${at(hausaTens, tens)} ${tens === 1 ? 'sha' : 'da'} ${at(hausaDigits, unit)}`
    },
    hundreds: hausaCount('ɗari'),
    thousands: hausaCount('dubu'),
    millions: hausaCount('miliyan'),
  },
  ig: {
    digits: igboDigits,
    and: 'na',
    belowHundred: (n) => {
      const [tens, unit] = [Math.floor(n / 10), n % 10]
      const ten = tens === 1 ? 'iri' : `iri ${at(igboDigits, tens)}`
      return tens === 0 ? at(igboDigits, unit) : unit === 0 ? ten : `${ten} na ${at(igboDigits, unit)}`
    },
    hundreds: igboCount('narị'),
    thousands: igboCount('puku'),
    millions: igboCount('nde'),
  },
  so: {
    digits: somaliDigits,
    and: 'iyo',
    belowHundred: (n) => {
      const [tens, unit] = [Math.floor(n / 10), n % 10]
      const parts = [unit === 0 ? '' : at(somaliDigits, unit), at(somaliTens, tens)]
      return parts.filter((part) => part !== '').join(' iyo ')
    },
    hundreds: somaliCount('boqol'),
    thousands: somaliCount('kun'),
    millions: somaliCount('milyan'),
  },
  wo: {
    digits: ['tus', ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(wolofDigit)],
    and: 'ak',
    belowHundred: (n) => {
      const [tens, unit] = [Math.floor(n / 10), n % 10]
      const parts = [tens === 0 ? '' : wolofTens(tens), unit === 0 ? '' : wolofDigit(unit)]
      return parts.filter((part) => part !== '').join(' ak ')
    },
    hundreds: wolofCount('téeméer'),
    thousands: wolofCount('junni'),
    millions: (count, words) => (count === 1 ? 'benn milyoŋ' : `${words}i milyoŋ`),
  },
  yo: {
    digits: yorubaDigits,
    and: 'ó lé',
    belowHundred: yorubaBelowHundred,
    hundreds: (count) => at(yorubaHundreds, count),
    thousands: yorubaCount('ẹgbẹ̀rún'),
    millions: yorubaCount('mílíọ̀nù'),
  },
} as const satisfies Record<Exclude<CountedLanguage, 'zu' | 'xh'>, Counting>

/** Words of Zulu and Xhosa, where each part is a noun that the next agrees with. */
interface Nguni {
  readonly digits: readonly string[]
  /** Units after a noun: "and one", "and two". */
  readonly withUnits: readonly string[]
  /** One and many of ten, hundred, thousand and million; how their counts from 2 to 9 agree, and what longer counts begin with. */
  readonly nouns: Readonly<Record<'ten' | 'hundred' | 'thousand' | 'million', NguniNoun>>
}

interface NguniNoun {
  readonly one: string
  readonly many: string
  readonly counts: readonly string[]
  /** Before a count that begins with i (ishumi, ikhulu) or with a (amashumi, amakhulu), in place of that letter. */
  readonly longer: readonly [i: string, a: string]
  /** Before what follows it, after one of them and after many. */
  readonly joins: readonly [one: string, many: string]
}

const zuluAma = [
  '',
  '',
  'amabili',
  'amathathu',
  'amane',
  'amahlanu',
  'ayisithupha',
  'ayisikhombisa',
  'ayisishiyagalombili',
  'ayisishiyagalolunye',
]
const zuluEzi = [
  '',
  '',
  'ezimbili',
  'ezintathu',
  'ezine',
  'ezinhlanu',
  'eziyisithupha',
  'eziyisikhombisa',
  'eziyisishiyagalombili',
  'eziyisishiyagalolunye',
]
const xhosaAma = [
  '',
  '',
  'amabini',
  'amathathu',
  'amane',
  'amahlanu',
  'amathandathu',
  'asixhenxe',
  'asibhozo',
  'alithoba',
]
const xhosaEzi = [
  '',
  '',
  'ezibini',
  'ezithathu',
  'ezine',
  'ezihlanu',
  'ezithandathu',
  'ezisixhenxe',
  'ezisibhozo',
  'ezilithoba',
]

function noun(
  [one, many]: readonly [string, string],
  counts: readonly string[],
  longer: readonly [string, string],
  joins: readonly [string, string],
): NguniNoun {
  return { one, many, counts, longer, joins }
}

const ngunis = {
  zu: {
    digits: [
      'iqanda',
      'kunye',
      'kubili',
      'kuthathu',
      'kune',
      'kuhlanu',
      'isithupha',
      'isikhombisa',
      'isishiyagalombili',
      'isishiyagalolunye',
    ],
    withUnits: [
      '',
      'nanye',
      'nambili',
      'nantathu',
      'nane',
      'nanhlanu',
      'nesithupha',
      'nesikhombisa',
      'nesishiyagalombili',
      'nesishiyagalolunye',
    ],
    nouns: {
      ten: noun(['ishumi', 'amashumi'], zuluAma, ['', ''], ['', '']),
      hundred: noun(['ikhulu', 'amakhulu'], zuluAma, ['', ''], ['', '']),
      thousand: noun(['inkulungwane', 'izinkulungwane'], zuluEzi, ['eziyi', 'ezinga'], ['', '']),
      million: noun(['isigidi', 'izigidi'], zuluEzi, ['eziyi', 'ezinga'], ['', '']),
    },
  },
  xh: {
    digits: [
      'iqanda',
      'inye',
      'zimbini',
      'zintathu',
      'zine',
      'zintlanu',
      'zintandathu',
      'sixhenxe',
      'sibhozo',
      'lithoba',
    ],
    withUnits: [
      '',
      'nanye',
      'nesibini',
      'nesithathu',
      'nesine',
      'nesihlanu',
      'nesithandathu',
      'nesixhenxe',
      'nesibhozo',
      'nethoba',
    ],
    nouns: {
      ten: noun(['ishumi', 'amashumi'], xhosaAma, ['', ''], ['eli', 'a']),
      hundred: noun(['ikhulu', 'amakhulu'], xhosaAma, ['', ''], ['eli', 'a']),
      thousand: noun(['iwaka', 'amawaka'], xhosaAma, ['ali', 'anga'], ['eli', 'a']),
      million: noun(['isigidi', 'izigidi'], xhosaEzi, ['ezili', 'ezinga'], ['esi', 'ezi']),
    },
  },
} as const satisfies Record<'zu' | 'xh', Nguni>

function nguniWords(nguni: Nguni, n: number): string {
  if (n < 10) return at(nguni.digits, n)
  const [millions, thousands, hundreds, rest] = partsOf(n)
  const { million, thousand, hundred, ten } = nguni.nouns
  const nouns: readonly (readonly [NguniNoun, number])[] = [
    [million, millions],
    [thousand, thousands],
    [hundred, hundreds],
    [ten, Math.floor(rest / 10)],
  ]
  let said = ''
  let join = ''
  for (const [each, count] of nouns) {
    if (count === 0) continue
    const words = count === 1 ? each.one : `${each.many} ${agreeing(nguni, each, count)}`
    said = said === '' ? words : `${said} ${join}${withAnd(words)}`
    join = each.joins[count === 1 ? 0 : 1]
  }
  const unit = rest % 10
  return unit === 0 ? said : `${said} ${join}${at(nguni.withUnits, unit)}`
}

/** Count in agreement with the counted noun. */
function agreeing(nguni: Nguni, { counts, longer }: NguniNoun, count: number): string {
  if (count < 10) return at(counts, count)
  const words = nguniWords(nguni, count)
  return `${longer[words.startsWith('i') ? 0 : 1]}${words.slice(1)}`
}

/** The word `na`, and, grown together with the vowel that follows it. */
function withAnd(words: string): string {
  return words.startsWith('i') ? `ne${words.slice(1)}` : `n${words}`
}
