// SPDX-License-Identifier: Apache-2.0
// Stores a USSD menu in two languages, gives it a code, and walks through it with a phone of the sandbox.
//   node loan-menu.mjs '*384*77#'
import { Pamoja, ussd } from '@pamoja/sdk'
import { Sandbox } from '@pamoja/sdk/testing'

const pamoja = new Pamoja()
const shortcode = process.argv[2] ?? '*384*77#'

const menu = ussd
  .stored('Loans', ['en', 'sw'])
  .choose('home', { en: 'Welcome', sw: 'Karibu' }, [
    [{ en: 'Loan', sw: 'Mkopo' }, 'amount'],
    [{ en: 'Nothing', sw: 'Hapana' }, 'bye'],
  ])
  .ask('amount', { en: 'How much?', sw: 'Kiasi?' }, 'amount', 'done', { pattern: '^\\d+$' })
  .end('done', { en: 'You asked for {{data.amount}}', sw: 'Umeomba {{data.amount}}' })
  .end('bye', { en: 'Goodbye', sw: 'Kwaheri' })
const { id } = await pamoja.ussd.createMenu(menu)
await pamoja.ussd.createShortcode({ shortcode, mode: 'menu', menu_id: id })

let screen = await new Sandbox(pamoja).phone('+254711000071').dial(shortcode)
console.log(screen.message.split('\n')[0])
screen = await screen.answer('1')
console.log(screen.message)
screen = await screen.answer('500')
console.log(screen.message)
