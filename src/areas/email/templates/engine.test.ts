// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { workedMs } from '../../../../test/eventually.ts'
import { AppError } from '../../../kernel/errors.ts'
import { compile, render } from './engine.ts'

function html(source: string, values: Record<string, unknown>): string {
  return render(compile(source, 'html'), [values]).text
}

const script = 'javascript:alert(1)'

for (const source of [
  '<a href="{{u}}">',
  `<a title=">" href='{{u}}'>`,
  `<a class="${'x '.repeat(500)}" href = "{{u}}">`,
  `<a href="${' '.repeat(500)}{{u}}">`,
  '<a href="{{#u}}{{u}}{{/u}}">',
  '<a href="{{empty}}{{u}}">',
  '<img src={{{u}}}>',
])
  test(`${source.slice(0, 40)} takes no address that runs something`, () => {
    assert.ok(!html(source, { u: script, empty: '' }).includes('javascript'))
    assert.ok(html(source, { u: 'https://a.example/', empty: '' }).includes('https://a.example/'))
  })

test('text that only looks like an attribute is left alone elsewhere', () => {
  assert.equal(html('<p>{{u}}</p><p title="{{u}}">', { u: script }), `<p>${script}</p><p title="${script}">`)
})

for (const [what, source, values] of [
  ['repeats without saying anything', `{{#a}}${'{{b}}'.repeat(2000)}{{/a}}`, { a: Array(5000).fill(1), b: '' }],
  ['takes long over little', `{{#a}}${'{{b}}'.repeat(6)}{{/a}}`, { a: Array(9000).fill(1), b: '' }],
  ['writes large values where no address may be', '<a href="{{o}}">'.repeat(20_000), { o: { x: 'x'.repeat(60_000) } }],
  ['grows', `{{#a}}${'x'.repeat(10_000)}{{/a}}`, { a: Array(5000).fill(1) }],
] as const)
  test(`a template that ${what} is stopped`, () => {
    const startedMs = workedMs()
    assert.throws(() => html(source, values), AppError)
    assert.ok(workedMs() - startedMs < 3_000)
  })

test('a long list is rendered', () => {
  assert.equal(html('{{#a}}{{b}}{{c}}{{/a}}', { a: Array(9000).fill(1), b: 'x', c: '' }).length, 9000)
})
