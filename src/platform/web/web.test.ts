// SPDX-License-Identifier: Apache-2.0
// Rules for every page: readable colours, a matching style hash, escaped text, and exact amounts in any language.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { html } from './html.ts'
import { askedBy, chosen, languages } from './language.ts'
import { readerOf } from './reader.ts'
import { newToken, secretName, secretNamed } from './secret-name.ts'
import { notice, type Page, page as pageAnswer, webAsset } from './shell.ts'

const pairs = [
  ['text', 'ground', 4.5],
  ['text', 'panel', 4.5],
  ['text', 'code', 4.5],
  ['text', 'mark', 4.5],
  ['soft', 'ground', 4.5],
  ['soft', 'panel', 4.5],
  ['soft', 'code', 4.5],
  ['accent', 'ground', 4.5],
  ['accent', 'mark', 4.5],
  ['on-accent', 'accent', 4.5],
  ['note', 'ground', 4.5],
  ['good', 'ground', 4.5],
  ['warn', 'ground', 4.5],
  ['warn', 'warn-ground', 4.5],
  ['bad', 'ground', 4.5],
  ['bad', 'bad-ground', 4.5],
  ['edge', 'ground', 3],
] as const

test('every colour that is written in can be read where it stands, light and dark', () => {
  const [light = '', dark = ''] = webAsset('colours.css').split('@media (prefers-color-scheme: dark)')
  for (const [scheme, css] of Object.entries({ light, dark })) {
    const colour = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(css)?.[1] ?? ''
    for (const [front, back, least] of pairs) {
      const found = contrast(colour(front), colour(back))
      assert.ok(found >= least, `${scheme}: ${front} on ${back} is ${found.toFixed(2)}, not ${least}`)
    }
  }
})

/** As WCAG 2 defines it. */
function contrast(one: string, other: string): number {
  const [less = 0, more = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (more + 0.05) / (less + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

async function given(page: Page, forms: 'none' | 'here' | 'anywhere' = 'none') {
  const { headers, body } = pageAnswer(200, page, forms)
  return { policy: String(headers['content-security-policy']), body: String(body) }
}

test('the style of a page is the one that its policy names, and nothing else is allowed', async () => {
  const { policy, body } = await given({ title: 'x', content: html`` })
  const [, style = ''] = /<style>(.*)<\/style>/s.exec(body) ?? []
  assert.ok(style.length > 1_000)
  const hash = createHash('sha256').update(style).digest('base64')
  assert.ok(policy.includes(`style-src 'sha256-${hash}'`), policy)
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"])
    assert.ok(policy.includes(part), part)
  assert.doesNotMatch(body, /<script|<img|<link|https?:/)
  assert.match((await given({ title: 'x', content: html`` }, 'here')).policy, /form-action 'self'/)
  assert.doesNotMatch((await given({ title: 'x', content: html`` }, 'anywhere')).policy, /form-action/)
})

test('whatever people call themselves is text', async () => {
  const evil = `<script>'"&`
  const content = notice('good', evil, html`<p>${evil}</p>`)
  const { body } = await given({ title: evil, from: evil, isTest: true, next: { seconds: 3, path: evil }, content })
  assert.doesNotMatch(body, /<script/)
  assert.equal(body.split('&lt;script&gt;&#39;&quot;&amp;').length - 1, 5)
  assert.match(body, /This is a test/)
  assert.match(body, /http-equiv="refresh" content="3; url=/)
})

test('amounts are exact in every language, in digits that everybody reads', () => {
  for (const [language, micros, currency, expected] of [
    [undefined, 12_345_500_000n, 'KES', 'KES 12,345.50'],
    ['en-US', -400_000_000n, 'KES', '-KES 400.00'],
    ['fr-SN', 12_345_000_000n, 'XOF', '12 345 XOF'],
    ['de', 1_234_567_890_123_456_000n, 'EUR', 'EUR 1,234,567,890,123.456'],
    ['pt', 12_345_500_000n, 'MZN', '12 345,50 MZN'],
    ['pt-BR', 12_345_500_000n, 'MZN', 'MZN 12.345,50'],
    ['fr', 1_234_000n, 'TND', '1,234 TND'],
    ['sw', 9_007_199_254_740_993_000_000n, 'KES', 'KES 9,007,199,254,740,993.00'],
    ['pt-MZ', 500_000n, 'MZN', '0,50 MZN'],
    ['ar-EG', 5_000_000n, 'EGP', /5\.00/],
    ['ar', -5_000_000n, 'KES', '\u200f\u2066-5.00\u2069 KES'],
    ['fa', 5_000_000n, 'KES', /5\.00/],
    ['tlh-XX, nonsense, x', 1_000_000n, 'KES', 'KES 1.00'],
  ] as const) {
    const shown = readerOf({ acceptLanguage: language }, 'UTC')
      .money({ micros, currency })
      .replaceAll(/[\u00a0\u202f]/g, ' ')
    if (typeof expected === 'string') assert.equal(shown, expected, language)
    else assert.match(shown, expected, language)
  }
})

test('a day stays that day, and a moment is told by the clock of whoever wrote the page', () => {
  const reader = readerOf({ lang: 'en' }, 'Africa/Nairobi')
  assert.equal(reader.day('2026-03-01'), '1 Mar 2026')
  assert.match(reader.moment(new Date('2026-03-01T22:30:00Z')), /^2 Mar 2026, 01:30 (GMT\+3|EAT)$/)
  assert.match(readerOf({ lang: 'fr' }, 'UTC').day('2026-03-01'), /^1 mars 2026$/)
})

test('a page is in the language that the address asks for, else in the dearest that the browser names', () => {
  for (const [lang, acceptLanguage, language] of [
    [undefined, undefined, 'en'],
    [undefined, 'fr-CI,fr;q=0.9,en;q=0.8', 'fr'],
    [undefined, 'en;q=0.3, sw;q=0.9', 'sw'],
    [undefined, 'fr;q=0, pt-AO;q=0.5', 'pt'],
    [undefined, 'de, AR-EG', 'ar'],
    [undefined, 'am, so, *', 'en'],
    [undefined, 'fr;q=x, sw', 'sw'],
    ['sw', 'fr', 'sw'],
    ['pt-AO', 'fr', 'pt'],
    ['FR', 'en', 'fr'],
    ['tlh', 'ar', 'ar'],
    ['', 'fr', 'fr'],
    ['"><script>', 'xx', 'en'],
  ] as const)
    assert.equal(chosen({ lang, acceptLanguage }).language, language, `${lang} ${acceptLanguage}`)
  assert.equal(askedBy({ query: { lang: ['fr', 'sw'] }, headers: {} }).lang, undefined, 'one asks for one')
})

test('days are written as each language writes them, with digits that a phone shows', () => {
  const days = languages.map((lang) => readerOf({ lang }, 'UTC').day('2026-03-01'))
  assert.deepEqual(days, ['1 Mar 2026', '1 mars 2026', '1 de março de 2026', '1 Mac 2026', '1 مارس 2026'])
})

test('a page in Arabic runs from right to left, names its language, and links to the others', () => {
  const page = { title: 'x', isTest: true, content: html`` }
  const body = String(pageAnswer(200, { ...page, language: 'ar' }).body)
  assert.match(body, /<html lang="ar" dir="rtl">/)
  assert.ok(body.includes('هذا اختبار'))
  const linked = languages.filter((one) => body.includes(`href="?lang=${one}"`))
  assert.deepEqual(linked, ['en', 'fr', 'pt', 'sw'])
  const plain = String(pageAnswer(200, page).body)
  assert.match(plain, /<html lang="en" dir="ltr">/)
  assert.doesNotMatch(plain, /<nav/, 'what is in English only offers nothing else')
})

test('a secret name leads to its bucket and token, and has one spelling', () => {
  const place = { bucket: 200, token: newToken() }
  const name = secretName(place)
  assert.deepEqual(secretNamed(name), place)
  // The last of its 23 characters carries four bits of six: three others decode to the same bytes.
  const alike = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
    .map((last) => `${name.slice(0, -1)}${last}`)
    .filter((other) => Buffer.from(other, 'base64url').equals(Buffer.from(name, 'base64url')))
  assert.equal(alike.length, 4)
  assert.deepEqual(
    alike.filter((other) => secretNamed(other) !== null),
    [name],
  )
  for (const other of ['', name.slice(1), `${name}A`, `${name}=`, ` ${name}`]) assert.equal(secretNamed(other), null)
})
