// SPDX-License-Identifier: Apache-2.0
// Every text that a payer reads is there in every language, says the same things, and is not simply the English one again.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { invoiceTexts, problemTexts } from '../../src/areas/billing/invoices/page-texts.ts'
import { challengeTexts } from '../../src/areas/payments/cards/challenge-texts.ts'
import { failureTexts } from '../../src/areas/payments/failure-texts.ts'
import { failureMessages } from '../../src/areas/payments/providers/provider.ts'
import { receiptTexts } from '../../src/areas/payments/receipts/texts.ts'
import { portalTexts } from '../../src/areas/webhooks/portal-texts.ts'
import { languages, type Texts } from '../../src/platform/web/language.ts'
import { pageTexts } from '../../src/platform/web/texts.ts'

const tables: Readonly<Record<string, Texts<string>>> = {
  pages: pageTexts,
  invoice: invoiceTexts,
  problems: problemTexts,
  failures: failureTexts,
  receipt: receiptTexts,
  challenge: challengeTexts,
  portal: portalTexts,
}

/** Words that a language shares with English. */
const shared = new Set(['fr Total', 'pt Total', 'fr Webhooks', 'pt Webhooks', 'sw Webhooks'])

test('every language has every text, with what is filled into it', () => {
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
