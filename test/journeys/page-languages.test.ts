// SPDX-License-Identifier: Apache-2.0
// Payers read their pages in their own language, from the invoice through their bank to the receipt.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invoiceTexts } from '../../src/areas/billing/invoices/page-texts.ts'
import { checkoutTexts, problemTexts } from '../../src/areas/payments/checkout/texts.ts'
import { languages, wordsIn } from '../../src/platform/web/language.ts'
import { Tab } from '../browser.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { eventually } from '../world.ts'

const { world, receiver } = await startMarket(0.05)

async function invoiceOf(client: Client, more: object = {}): Promise<string> {
  const { body, status, text } = await client.post('/v1/billing/invoices', {
    customer: { name: 'Asha' },
    currency: 'KES',
    items: [{ description: 'Setup', unit_amount: 1500 }],
    due_date: '2040-03-01',
    send: true,
    ...more,
  })
  assert.equal(status, 201, text)
  return body.hosted_url
}

/** Spaces that do not break are spaces to whoever reads. */
function plain(text: string): string {
  return text.replaceAll(/[\u00a0\u202f]/g, ' ').replaceAll(/[\u200e\u200f\u2066\u2069]/g, '')
}

test('an invoice asks in the language of its reader, with amounts and dates as that language writes them', async () => {
  const { client } = await world.account()
  const { pathname } = new URL(await invoiceOf(client))
  for (const [lang, direction, amount, due, button] of [
    ['en', 'ltr', 'KES 1,500.00', 'Due 1 Mar 2040', 'Pay KES 1,500.00'],
    ['fr', 'ltr', '1 500,00 KES', 'À payer au plus tard le 1 mars 2040', 'Payer 1 500,00 KES'],
    ['pt', 'ltr', '1500,00 KES', 'A pagar até 1 de março de 2040', 'Pagar 1500,00 KES'],
    ['sw', 'ltr', 'KES 1,500.00', 'Lipa kufikia 1 Mac 2040', 'Lipa KES 1,500.00'],
    ['ar', 'rtl', '1,500.00 KES', 'تُستحق في 1 مارس 2040', 'ادفع 1,500.00 KES'],
  ] as const) {
    const asked = await world.stranger.get(`${pathname}?lang=${lang}`)
    const browser = await world.stranger.get(pathname, { headers: { 'accept-language': `${lang},en;q=0.1` } })
    for (const { text, status } of [asked, browser]) {
      assert.equal(status, 200)
      assert.ok(text.includes(`<html lang="${lang}" dir="${direction}">`), lang)
      for (const part of [amount, due, `<button>${button}</button>`]) assert.ok(plain(text).includes(part), part)
    }
    assert.match(asked.text, /<input name="phone"[^>]* placeholder="0712 123456"/, 'a number as it is written in Kenya')
    assert.ok(Buffer.byteLength(asked.text) < 30 * 1_024)
  }
  const both = await world.stranger.get(`${pathname}?lang=sw`, { headers: { 'accept-language': 'fr' } })
  assert.match(both.text, /<html lang="sw"/, 'the address is asked first')
})

test('whoever chose a language keeps it: a form that is not taken, a phone, what became of it, and back', async () => {
  const { client } = await world.account()
  const tab = await Tab.open(world.stranger, await invoiceOf(client))
  await tab.press('Français')
  tab.fill('Numéro de téléphone', '1')
  await tab.press('Payer 1 500,00 KES')
  assert.equal(tab.status, 422)
  assert.ok(tab.text.includes(problemTexts.INVALID_PHONE.fr), tab.text)
  tab.fill('Numéro de téléphone', '0700 000 002')
  await tab.press('Payer 1 500,00 KES')
  await tab.says(/Il n’y a pas assez d’argent sur le compte/, { reloading: true })
  await tab.press('Réessayer')
  tab.fill('Numéro de téléphone', '0700 000 001')
  await tab.press('Payer 1 500,00 KES')
  await tab.says(/Payé, merci.*1 500,00 KES bien reçus\. Reçu \w+/, { reloading: true })
  await tab.press('Retour à la facture')
  assert.match(tab.text, /Il ne reste rien à payer/)
  assert.equal(tab.url.search, '?lang=fr')
  await tab.close()
})

test('the bank’s question is asked in the payer’s language, and leads back in it', async () => {
  const { client } = await world.account()
  const tab = await Tab.open(world.stranger, `${await invoiceOf(client)}?lang=sw`)
  const pay = async () => {
    tab.fill('Nambari ya kadi', '4000000000003220')
    tab.fill('Mwezi na mwaka', '12/40')
    tab.fill('Nambari ya siri', '123')
    await tab.press('Lipa KES 1,500.00 kwa kadi')
  }
  await pay()
  assert.match(tab.text, /Je, ni wewe unayelipa kwa kadi inayoishia na 3220\?/)
  await tab.press('Shindwa')
  await tab.says(/Haikulipwa.*Benki haikuweza kuthibitisha aliyelipa/, { reloading: true })
  await tab.press('Jaribu tena')
  await pay()
  await tab.press('Idhinisha')
  await tab.says(/Imelipwa, asante/, { reloading: true })
  await tab.close()
})

test('a receipt, and a page that is not there, speak the reader’s language', async () => {
  const { client } = await world.account()
  const asked = await client.post('/v1/payments', { amount: 12_345, currency: 'KES', phone: '+254733000001' })
  const paid = await eventually(async () => {
    const { body } = await client.get(`/v1/payments/${asked.body.payment_id}?wait=30`)
    return body.status === 'completed' && body
  }, 'the payment')
  const { pathname } = new URL(paid.receipt_url)
  for (const [lang, parts] of [
    ['fr', ['Payé avec', '12 345,00 KES', 'se termine par 001', 'Ceci est un test']],
    ['pt', ['Pago com', '12 345,00 KES', 'termina em 001']],
    ['sw', ['Njia ya malipo', 'KES 12,345.00', 'inayoishia na 001']],
    ['ar', ['dir="rtl"', '12,345.00 KES', 'إيصال المزوّد']],
  ] as const) {
    const { text } = await world.stranger.get(`${pathname}?lang=${lang}`)
    for (const part of parts) assert.ok(plain(text).includes(part), `${lang}: ${part}`)
  }
  for (const path of ['/pay/x', '/r/x', '/go/x']) {
    const { text, status } = await world.stranger.get(`${path}?lang=pt`)
    assert.equal(status, 404)
    assert.match(text, /<h1>Página não encontrada<\/h1>/, path)
  }
})

test('the portal is used in another language, and what the API says stays as it is', async () => {
  const { client } = await world.account()
  const { body } = await client.post('/v1/webhooks/portal-session', {})
  const url = new URL(body.url)
  url.searchParams.set('lang', 'pt')
  const tab = await Tab.open(world.stranger, url.href)
  await tab.says(/Ainda não há endereços/)
  await tab.press('Adicionar endereço')
  tab.fill('URL', receiver.url('/portal'))
  await tab.press('Guardar')
  await tab.says(/events is empty/)
  tab.fill('payment.*', true)
  await tab.press('Guardar')
  await tab.says(/mostrado só desta vez: whsec_\S+/)
  await tab.press('Enviar um teste')
  await tab.says(/payment\.\w+: entregue, respondeu 200/)
  await tab.press('Entregas')
  await tab.says(/Quando.*Evento.*entregue/)
  await tab.press('Voltar')
  await tab.press('Eliminar')
  await tab.press('Eliminar')
  await tab.says(/Eliminado\..*Ainda não há endereços/)
  assert.deepEqual((await client.get('/v1/webhooks')).body.data, [])
  await tab.close()
})

test('nothing of another language is left on a page', async () => {
  const { client } = await world.account()
  const open = new URL(await invoiceOf(client, { discount: { amount: 5 } })).pathname
  for (const language of languages.filter((one) => one !== 'en')) {
    const { text } = await world.stranger.get(`${open}?lang=${language}`)
    const say = wordsIn({ ...checkoutTexts, ...invoiceTexts }, 'en')
    const names = ['discount', 'mobileMoney', 'phone', 'cardNumber', 'securityCode', 'bankTransfer', 'pdf'] as const
    for (const name of names) assert.ok(!text.includes(say(name)), `${language}: ${say(name)}`)
  }
})
