// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { phonemesOfIpa } from './ipa.ts'
import { soundsOf } from './letter-to-sound.ts'
import { cardinal } from './number-words.ts'
import { readingOf } from './reading.ts'
import type { SpelledLanguage } from './spellings.ts'
import { regionalLocales as locales } from './voices.ts'

/** Words, and their sounds as the engine names them. */
const words: Record<SpelledLanguage, readonly (readonly [word: string, sounds: string])[]> = {
  ha: [
    ['sannu', "s'anu"],
    ['ƙarfe', "k`'aRfe"],
    ['ɗaki', "d'aki"],
    ['tsafi', "ts'afi"],
    ["'ya'ya", "?j'a?ja"],
    ['ciki', "tS'iki"],
    ['naira', "n'ajRa"],
    ['da', 'da'],
  ],
  yo: [
    ['pẹ̀lú', "kp'Elu"],
    ['ṣé', 'Se'],
    ['gbogbo', "gb'ogbo"],
    ['ọmọ', "'OmO"],
    // A line below is a dot below.
    ['o\u0329mo\u0329', "'OmO"],
    ['Ìbàdàn', "ib'adaN"],
    ['ẹ̀kọ́', "'EkO"],
  ],
  ig: [
    ['ụlọ', "'UlO"],
    ['chineke', "tSin'eke"],
    ['gbaghara', "gbaQ'aRa"],
    ['nwanyị', "Nw'an^I"],
    ['ṅụọ', "N'U|O"],
    ['kpọọ', "kp'O|O"],
  ],
  zu: [
    ['sawubona', "sawub'Ona"],
    ['ngiyabonga', "Ngijab'ONga"],
    ['hlala', "l#'ala"],
    ['thanda', "t#'anda"],
    ['iqanda', "ik'anda"],
    ['icici', "its'itsi"],
    ['ixoxo', "ikl#'Okl#O"],
  ],
  xh: [
    ['enkosi', "ENk'Osi"],
    ['isiXhosa', "isikl#'Osa"],
    ['utyelelo', "ucEl'ElO"],
    ['rhoxisa', "xOkl#'isa"],
  ],
  so: [
    ['soo', "s'o:"],
    ['dhawoow', "d'awo:w"],
    ['caano', "?'a:no"],
    ['xabbad', "h'abad"],
    ['khamiis', "x'ami:s"],
    ['sheeko', "S'e:ko"],
  ],
  wo: [
    ['jërëjëf', "dZ'@R@dZ@f"],
    ['ñaar', "n^'a:R"],
    ['ŋaam', "N'a:m"],
    ['téere', "t'e:RE"],
    ['xaalis', "x'a:lis"],
    ['njaay', "n^dZ'a:j"],
  ],
}

test('letters become the sounds that they stand for', () => {
  for (const language of languages())
    for (const [word, sounds] of words[language])
      assert.deepEqual([language, word, soundsOf(language, word)], [language, word, sounds])
})

test('every locale without a voice of the engine has rules, and says that it is approximate', () => {
  const approximate = Object.entries(locales).filter(([, { quality }]) => quality === 'approximate')
  assert.deepEqual(
    approximate.map(([name, { spelling }]) => [name, spelling]),
    ['ha-NG', 'yo-NG', 'ig-NG', 'zu-ZA', 'xh-ZA', 'so-SO', 'wo-SN'].map((name) => [name, name.slice(0, 2)]),
  )
  assert.ok(
    Object.values(locales).every(({ quality, spelling }) => (quality === 'native') === (spelling === undefined)),
  )
})

/** Numbers in words. */
const numbers: Record<SpelledLanguage, Readonly<Record<number, string>>> = {
  ha: {
    0: 'sifili',
    11: 'goma sha ɗaya',
    45: "arba'in da biyar",
    205: 'ɗari biyu da biyar',
    1121: 'dubu da ɗari da ashirin da ɗaya',
    3000007: 'miliyan uku da bakwai',
  },
  yo: {
    11: 'mọ́kànlá',
    15: 'márùndínlógún',
    21: 'mọ́kànlélógún',
    47: 'mẹ́tàdínláàádọ́ta',
    200: 'igba',
    2018: 'ẹgbẹ̀rún méjì ó lé méjìdínlógún',
  },
  ig: {
    8: 'asatọ',
    20: 'iri abụọ',
    135: 'otu narị na iri atọ na ise',
    2000: 'puku abụọ',
  },
  zu: {
    15: 'ishumi nanhlanu',
    121: 'ikhulu namashumi amabili nanye',
    1110: 'inkulungwane nekhulu neshumi',
    2000: 'izinkulungwane ezimbili',
    21000: 'izinkulungwane ezingamashumi amabili nanye',
    125000: 'izinkulungwane eziyikhulu namashumi amabili nanhlanu',
  },
  xh: {
    19: 'ishumi elinethoba',
    121: 'ikhulu elinamashumi amabini ananye',
    1121: 'iwaka elinekhulu elinamashumi amabini ananye',
    10000: 'amawaka alishumi',
  },
  so: {
    12: 'laba iyo toban',
    121: 'boqol iyo kow iyo labaatan',
    2018: 'laba kun iyo siddeed iyo toban',
  },
  wo: {
    7: 'juróom ñaar',
    30: 'fanweer',
    205: 'ñaari téeméer ak juróom',
    1250: 'junni ak ñaari téeméer ak juróom fukk',
  },
}

test('numbers are said in the words of the language', () => {
  for (const language of languages())
    for (const [n, said] of Object.entries(numbers[language]))
      assert.deepEqual([language, n, cardinal(language, Number(n))], [language, n, said])
})

test('every number up to a thousand has words, and no two have the same', () => {
  for (const language of languages()) {
    const said = Array.from({ length: 1_001 }, (_, n) => cardinal(language, n))
    assert.equal(new Set(said).size, said.length, language)
    assert.ok(
      said.every((words) => /^\S+(?: \S+)*$/.test(words) && !words.includes('undefined')),
      language,
    )
  }
})

/** Whole texts, and what the engine is given. */
const readings: readonly (readonly [language: string, text: string, read: string])[] = [
  // What the engine speaks itself is left alone.
  ['sw-KE', 'Habari, una 125.', 'Habari, una 125.'],
  ['zu-ZA', 'Sawubona, unjani?', "[[sawub'Ona]], [[undZ'ani]]?"],
  ['ha-NG', 'naira 1,250', "[[n'ajRa]] [[d'ubu]] [[da]] [[d'aRi]] [[b'iju]] [[da]] [[h'amsin]]"],
  // A telephone number is no amount.
  ['so-SO', '+252 0712', "[[l'aba]] [[S'an]] [[l'aba]] [['ebeR]] [[tod'oba]] [[k'ow]] [[l'aba]]"],
  [
    'wo-SN',
    '1.250,50',
    "[[dZ'uni]] [[ak]] [[n^'a:Ri]] [[t'e:me:R]] [[ak]] [[dZ'uRo:m]] [[f'uk]], [[dZ'uRo:m]] [[f'uk]]",
  ],
  ['ig-NG', 'SMS', "[['es]] [['em]] [['es]]"],
  // Another script is the engine's affair, and brackets are not the customer's.
  ['ha-NG', 'سلام [[x]]', 'سلام   [[ks]]  '],
  // Markup: what the engine does not know is put into words.
  ['sw-KE', '<speak><say-as interpret-as="digits">123</say-as></speak>', '<speak>  1 2 3  </speak>'],
  ['en-KE', '<speak><say-as interpret-as="ordinal">22</say-as></speak>', '<speak>  22nd  </speak>'],
  ['sw-KE', '<speak><say-as interpret-as="date">2026-11-17</say-as></speak>', '<speak>  17 Novemba 2026  </speak>'],
  ['en-KE', '<speak><say-as interpret-as="date">2026-02-30</say-as></speak>', '<speak>  2026-02-30  </speak>'],
  ['en-KE', '<speak><say-as interpret-as="currency">KES 5</say-as></speak>', '<speak>  5 Kenyan shillings  </speak>'],
  ['en-KE', '<speak>A &amp; B<break time="1s"/></speak>', '<speak>A &amp; B <break time="1s"/> </speak>'],
  [
    'sw-KE',
    '<speak><lang xml:lang="fr-CI">oui</lang></speak>',
    '<speak> <voice xml:lang="fr-fr">oui </voice> </speak>',
  ],
  [
    'sw-KE',
    '<speak><lang xml:lang="zu">yebo</lang></speak>',
    `<speak> <voice xml:lang="tn">[[j'EbO]] </voice> </speak>`,
  ],
  ['sw-KE', '<speak><lang xml:lang="xx">oui</lang></speak>', '<speak> <lang xml:lang="xx">oui </lang> </speak>'],
  ['sw-KE', '<speak><phoneme alphabet="ipa" ph="ˈɲama">x</phoneme></speak>', "<speak> [['n^ama]]  </speak>"],
  ['sw-KE', '<speak><phoneme alphabet="ipa" ph="§">nyama</phoneme></speak>', '<speak> nyama  </speak>'],
  ['zu-ZA', '<speak><sub alias="yebo">x <s>y</s></sub></speak>', "<speak> [[j'EbO]]  </speak>"],
  ['zu-ZA', '<speak><say-as interpret-as="characters">A1</say-as></speak>', "<speak> [['a]] [[k'un^E]]  </speak>"],
  // Only documented markup reaches the engine, in every language, and entities do not become markup.
  ['zu-ZA', '<speak><audio src="/etc/passwd">yebo</audio></speak>', "<speak>[[j'EbO]]</speak>"],
  ['en-KE', '<speak>&lt;audio src="x"/&gt;</speak>', '<speak>&lt;audio src="x"/&gt;</speak>'],
  ['sw-KE', '<speak><sub alias="&lt;b>">x</sub></speak>', '<speak><sub alias="&lt;b>">x</sub></speak>'],
]

test('a text is read by its language', () => {
  const tidy = (text: string) => text.replace(/\s+/g, ' ').replace(/ ?(<[^>]+>) ?/g, '$1')
  for (const [language, text, read] of readings)
    assert.deepEqual([language, text, tidy(readingOf(language, text).text)], [language, text, tidy(read)])
})

test('signs of the phonetic alphabet become what the voice has', () => {
  assert.equal(phonemesOfIpa('tn', 'ɲaˈrɔːbi'), "n^a'RO:bi")
  assert.equal(phonemesOfIpa('sw', 'ɲaˈrɔːbi'), "n^a'Ro:bi")
  assert.equal(phonemesOfIpa('sw', 'tʃa.i'), 'tSa|i')
  assert.equal(phonemesOfIpa('sw', 'a5'), null)
  assert.equal(phonemesOfIpa('sw', ''), null)
})

function languages(): readonly SpelledLanguage[] {
  return ['ha', 'yo', 'ig', 'zu', 'xh', 'so', 'wo']
}
