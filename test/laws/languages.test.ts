// SPDX-License-Identifier: Apache-2.0
// Every text that a payer reads is there in every language, says the same things, and is not simply the English one again.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { failureTexts } from '../../src/areas/payments/providers/failure-texts.ts'
import { failureMessages } from '../../src/areas/payments/providers/provider.ts'
import { portalTexts } from '../../src/areas/webhooks/portal-texts.ts'
import { languages, type Texts } from '../../src/platform/web/language.ts'
import { sourceFiles } from './sources.ts'

/** Every table of texts there is: whatever a file called *texts.ts exports in all languages. */
const tables: Record<string, Texts<string>> = {}
for (const file of sourceFiles(['src']).filter((name) => name.endsWith('texts.ts'))) {
  const exported: Record<string, unknown> = await import(
    new URL(`../../${file.replace(/\.ts$/, '.js')}`, import.meta.url).href
  )
  for (const [name, value] of Object.entries(exported)) if (isTexts(value)) tables[name] = value
}

/** A table of texts has nothing but texts, of which each is there in English at least. */
function isTexts(value: unknown): value is Texts<string> {
  const entries = Object.values(Object(value))
  return entries.length > 0 && entries.every((one) => typeof Object(one).en === 'string')
}

/** Words that a language shares with English. */
const shared = new Set(['fr Total', 'pt Total', 'fr Webhooks', 'pt Webhooks', 'sw Webhooks'])

test('every language has every text, with what is filled into it', () => {
  assert.ok(Object.keys(tables).length >= 7)
  for (const [page, texts] of Object.entries(tables))
    for (const [name, said] of Object.entries(texts)) {
      assert.deepEqual(Object.keys(said).sort(), [...languages].sort(), `${page}.${name}`)
      for (const language of languages) {
        const where = `${page}.${name} in ${language}`
        const text = said[language]
        assert.ok(text.trim() !== '' && text === text.trim() && !/[<>]/.test(text), where)
        assert.deepEqual(holes(text), holes(said.en), where)
        if (language !== 'en') assert.ok(text !== said.en || shared.has(`${language} ${text}`), `${where}: ${text}`)
        if (language === 'ar') assert.match(text, /\p{Script=Arabic}/u, where)
        else assert.doesNotMatch(text, /\p{Script=Arabic}/u, where)
      }
    }
})

test('what the API says of a failure is what the page says in English', () => {
  const english = Object.fromEntries(Object.entries(failureTexts).map(([reason, { en }]) => [reason, en]))
  assert.deepEqual(english, failureMessages)
})

function holes(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).sort()
}

test('the portal says nothing that its table does not have, and has nothing that it never says', () => {
  const folder = new URL('../../../src/areas/webhooks/portal/', import.meta.url)
  const [script, page] = ['portal.js', 'portal.html'].map((name) => readFileSync(new URL(name, folder), 'utf8'))
  const quoted = [...(script ?? '').matchAll(/'(\w+)'/g), ...(page ?? '').matchAll(/data-text="(\w+)"/g)].map(
    ([, name]) => name,
  )
  const said = [...(script ?? '').matchAll(/say\('(\w+)'/g), ...(page ?? '').matchAll(/data-text="(\w+)"/g)]
  for (const [, name = ''] of said) assert.ok(Object.hasOwn(portalTexts, name), name)
  // Words of the API that are shown: they are met, not written there.
  const met = ['test', 'live', 'healthy', 'degraded', 'failing', 'disabled']
  for (const name of Object.keys(portalTexts)) assert.ok(quoted.includes(name) || met.includes(name), name)
})

/** States, kinds and roles that are chosen among, as a list in the source. */
const choices = /(?:\bamong: |const (?:statuses|directions|types|roles)[^=]*= )\[([^\]]+)\]/g

/** Choices as a page writes them: `requires_action` is Requires action. */
function choicesIn(source: string): string[] {
  const listed = [...source.matchAll(choices)].flatMap(([, names = '']) => [...names.matchAll(/'([a-z_]+)'/g)])
  return listed.map(([, name = '']) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' '))
}

/** Words of a description, which are translated where they are shown: a title, a label, the words of a badge. */
const described =
  /\b(?:name|title|label|hint|note|words|action|advice|keep|reason): '((?:[^'\\]|\\.)*[A-Z{ ](?:[^'\\]|\\.)*)'/g

const isBook = (file: string): boolean => /\/areas\/\w+\/words\.ts$|\/kit\/translations\.ts$/.test(file)

/** Languages beside English, as the columns that kit/translations.ts declares, which every area's words.ts has too. */
const [, columns = ''] = /readonly \[([^\]]+)\]/.exec(readFileSync('console/src/kit/translations.ts', 'utf8')) ?? []
const beside = [...columns.matchAll(/(\w+): string/g)].map(([, language = '']) => language)

test('the languages of the console are those of the pages that payers read', () => {
  const [, names = ''] = /languages = \{([^}]+)\}/.exec(readFileSync('console/src/words.ts', 'utf8')) ?? []
  const named = [...names.matchAll(/(\w+):/g)].map(([, language = '']) => language)
  assert.deepEqual(named.sort(), ['en', ...beside].sort(), 'a name in words.ts, a column in kit/translations.ts')
  assert.deepEqual(named, [...languages].sort(), 'languages of src/platform/web/language.ts')
})

test('every phrase of the console has one translation in each language', () => {
  const all = [...sourceFiles(['console/src'], '.tsx'), ...sourceFiles(['console/src'])]
  const sources = all
    .filter((file) => !isBook(file) && !/\.d\.ts$|\/icons\.tsx$/.test(file))
    .map((file) => readFileSync(file, 'utf8'))
  const phrases = sources.flatMap((source) => [
    ...[...source.matchAll(/\bt\(\s*'((?:[^'\\]|\\.)+)'/g)].map(([, words]) => words),
    ...[...source.matchAll(described)].map(([, words]) => words),
    ...choicesIn(source),
  ])
  assert.ok(phrases.length > 100)
  const rows = all.filter(isBook).flatMap(rowsOf)
  for (const [phrase, translations] of rows)
    assert.equal(translations.filter((one) => one !== '').length, beside.length, `${phrase} in ${beside.join(', ')}`)
  const known = rows.map(([phrase]) => phrase)
  const has = new Set<string | undefined>(known)
  assert.deepEqual([...new Set(phrases)].filter((one) => !has.has(one)).sort(), [])
  const again = known.filter((phrase, at) => known.indexOf(phrase) !== at)
  assert.deepEqual(again, [], 'a phrase of several areas stands once, in kit/translations.ts')
})

/** Function of the client for an operation: `smsSend` for `sms.send`. */
const functionOf = (operation: string): string =>
  operation.replace(/\.(\w)/, (_, letter: string) => letter.toUpperCase())

/** Pages of which the errors have words, and the operations of forms that open beside a call. */
const pagesWithWords = /\/areas\/(?:callcenter\/\w[\w-]*|customers\/(?:inbox|line|talk|who))\.tsx?$/
const besideCalls = ['smsSend', 'paymentsInitiateMobile']

test('every error of the desk and the call centre has words in each language, by its code', () => {
  const all = [...sourceFiles(['console/src'], '.tsx'), ...sourceFiles(['console/src'])]
  const called = all
    .filter((file) => pagesWithWords.test(file))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/import \{([^}]+)\} from '#sdk\/operations\.ts'/g)])
    .flatMap(([, names = '']) => names.match(/\w+/g) ?? [])
  const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8'))
  const codesOf = new Map<string, string[]>()
  for (const operation of Object.values(paths).flatMap((path) => Object.values(Object(path))))
    codesOf.set(functionOf(Object(operation).operationId), Object(operation)['x-error-codes'])
  assert.ok(called.length > 50)
  const known = new Set(
    all
      .filter(isBook)
      .flatMap(rowsOf)
      .map(([phrase]) => phrase),
  )
  // Both are the client's own, where no answer came.
  const codes = new Set(['UNREACHABLE', 'TIMEOUT'])
  for (const operation of [...called, ...besideCalls])
    for (const code of codesOf.get(operation) ?? assert.fail(`there is no operation ${operation}`)) codes.add(code)
  assert.deepEqual([...codes].filter((code) => !known.has(code)).sort(), [])
})

/** Records whose pages tell their events as a story, by what the names of these begin with. */
const inStories = /^(?:payment|refund|invoice|subscription|identity)\.[a-z_]+$/
/** Events of a code alone, which has no page. */
const ofCodes = /^identity\.otp_/

test('every event that a story tells has words in each language', () => {
  const { webhooks } = JSON.parse(readFileSync('openapi.json', 'utf8'))
  const told = Object.keys(webhooks).filter((name) => inStories.test(name) && !ofCodes.test(name))
  const source = readFileSync('console/src/kit/story.tsx', 'utf8')
  const happened = new Map(
    [...source.matchAll(/^ {2}'([a-z_.]+)': '([A-Z][^']+)'/gm)].map(([, name, words]) => [name, words]),
  )
  assert.deepEqual(told.filter((name) => !happened.has(name)).sort(), [])
  assert.deepEqual(
    [...happened.keys()].filter((name = '') => !Object.hasOwn(webhooks, name)),
    [],
  )
  const phrases = new Set(
    sourceFiles(['console/src'])
      .filter(isBook)
      .flatMap(rowsOf)
      .map(([phrase]) => phrase),
  )
  assert.deepEqual(
    [...happened.values()].filter((words = '') => !phrases.has(words)),
    [],
  )
})

/** Phrases of an area and their translations. */
function rowsOf(file: string): [phrase: string, translations: string[]][] {
  const lines = readFileSync(file, 'utf8').matchAll(/^ {2}(?:'((?:[^'\\]|\\.)+)'|(\w+)): \[([^\]]*)\]/gm)
  return [...lines].map(([, quoted, word, row = '']) => [
    quoted ?? word ?? '',
    [...row.matchAll(/'((?:[^'\\]|\\.)*)'|"([^"]*)"/g)].map(([, single, double]) => single ?? double ?? ''),
  ])
}

/** Values that are names, and the same in every language. */
const sameEverywhere =
  /^([A-Z0-9_]+|api|basic|bearer|smtp|sip|webrtc|mrz|dsn|mailto|https?|smpp|cc|bcc|dkim|spf|mx|udp|tcp|tls|gsm|wave|telebirr|ecocash|orange_money|vodacom_mpesa|mpesa|mtn_momo|airtel|airtel_money|visa|mastercard)$/

test('every value of the API that a page tells in words has words in each language', () => {
  const source = [...sourceFiles(['console/src'], '.tsx'), ...sourceFiles(['console/src'])]
    .filter((file) => !isBook(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const fields = new Set(
    [
      ...source.matchAll(/field: '(?:\w+\.)*(\w+)'[^}\n]*? as: '(?:words|state)'/g),
      ...source.matchAll(/(?:words|state=)[({](?:\w+\.)+(\w+)[)}]/g),
    ].map(([, field]) => field),
  )
  const values = new Set<string>()
  const look = (one: unknown, name?: string): void => {
    for (const [key, part] of Object.entries(Object(one))) {
      if (key === 'properties') {
        for (const [field, shape] of Object.entries(Object(part))) look(shape, field)
      } else if (key === 'enum' && fields.has(name) && Array.isArray(part))
        for (const value of part) values.add(String(value))
      else if (typeof part === 'object')
        look(part, Array.isArray(one) || ['items', 'anyOf', 'oneOf'].includes(key) ? name : undefined)
    }
  }
  look(JSON.parse(readFileSync('openapi.json', 'utf8')))
  const [table = ''] = /^const known[\s\S]*?^}/m.exec(readFileSync('console/src/kit/words.ts', 'utf8')) ?? []
  const known = new Map([...table.matchAll(/(\w+): '([^']*)'/g)].map(([, value = '', words]) => [value, words]))
  const wordsOf = (value: string): string =>
    known.get(value) ?? value.charAt(0).toUpperCase() + value.slice(1).replaceAll('_', ' ')
  assert.ok(values.size > 200, `${values.size} values`)
  const books = sourceFiles(['console/src']).filter(isBook)
  const phrases = new Set(
    books.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^ {2}(?:'((?:[^'\\]|\\.)+)'|(\w+)):/gm)].map(
        ([, quoted, word]) => quoted ?? word,
      ),
    ),
  )
  const without = [...values].filter(
    (value) => !sameEverywhere.test(value) && !value.includes('.') && !phrases.has(wordsOf(value)),
  )
  assert.deepEqual(without.sort(), [])
})
