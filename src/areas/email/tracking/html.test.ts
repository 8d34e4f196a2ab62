// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { workedMs } from '../../../../test/eventually.ts'
import { addPicture, rewriteLinks, textOfHtml } from './html.ts'

const other = (_url: string, index: number) => `https://t.example/${index}`

for (const [html, text] of [
  ['<p>Habari</p><p>Karibu</p>', 'Habari\n\nKaribu'],
  ['<!DOCTYPE html><html><head><title>x</title></head><body>a<br>b</body></html>', 'a\nb'],
  ['a<!-- b --><style>c {}</style><script>d()</script>e', 'ae'],
  ['<ul><li>one<li>two</ul>', '- one\n- two'],
  ['<a href="https://a.example/?x=1&amp;y=2">words</a>', 'words (https://a.example/?x=1&y=2)'],
  ['<a href=https://a.example>https://a.example</a>', 'https://a.example'],
  ['1 &lt; 2 < 3 &amp; &#8364;&#x20ac; &nope;', '1 < 2 < 3 & €€ &nope;'],
  ['<constructor>a</toString>&constructor;', 'a&constructor;'],
  ['a<!-- never closed', 'a'],
  ['a<b title="never closed', 'a'],
] as const)
  test(`text of ${html.slice(0, 60)}`, () => assert.equal(textOfHtml(html), text))

test('links are given other addresses where readers see links, and nowhere else', () => {
  assert.equal(
    rewriteLinks('<a class=x href="https://a.example/&amp;">a</a><!-- <a href="https://b.example"> -->', other),
    '<a class=x href="https://t.example/0">a</a><!-- <a href="https://b.example"> -->',
  )
  const untouched = '<a data-track="off" href="https://a.example">a</a><a href="mailto:a@b.example">b</a>'
  assert.equal(rewriteLinks(untouched, other), untouched)
})

test('the picture is put before the end of the body, also after letters that change length in lower case', () => {
  assert.match(addPicture('<body>İİİİ<p>x</p></BODY>', 'https://t.example/o'), /<\/p><img [^>]+><\/BODY>$/)
})

/** Html of a million characters that would make a backtracking parser quadratic. */
const hostile = [
  '<',
  '<!--',
  '<a ',
  '<a href="',
  "<a b='",
  '<script>',
  '<script></script>',
  '<style',
  '&',
  '&a',
  ' ',
  '</body',
  '<a =',
  '<!',
  'İ',
]

for (const piece of hostile)
  test(`a million characters of ${piece} are read in a moment`, () => {
    const html = piece.repeat(Math.ceil(1_000_000 / piece.length))
    const startedMs = workedMs()
    textOfHtml(html)
    rewriteLinks(html, other)
    addPicture(html, 'https://t.example/o')
    assert.ok(workedMs() - startedMs < 3_000)
  })

test('any text is read, and what is no html stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'<>a/!-"\'= &;#script'), maxLength: 200 }), (html) => {
      textOfHtml(html)
      rewriteLinks(html, other)
    }),
  )
  assert.equal(textOfHtml('plain words'), 'plain words')
})
