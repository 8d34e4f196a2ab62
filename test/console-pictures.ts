// SPDX-License-Identifier: Apache-2.0
// Pictures of every page of the console, for whoever changes them: starts an installation, makes one of everything by the examples
// of the API, opens each page of the navigation, the first record of each list and the forms, in a window 1280 wide and on a phone
// 390 wide, light and dark, and puts them together on sheets, one for each group of the navigation.
// `node dist/test/console-pictures.js <folder>`; with `--beside=<folder of pictures>` the design that a page was made after stands
// beside it, as `<name>-<width>-<light or dark>.jpg`. docs has the light sheets, as console-pages-*.jpg. With `--groups=Home,Money`
// only those groups are drawn, as the sheets name them.
import { existsSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { stderr, stdout } from 'node:process'
import type { Browser, Page } from 'playwright-core'
import { areas } from '../src/areas.ts'
import { trafficChore } from '../src/platform/operator/tallies.ts'
import { buildConsole, entriesOf, openBrowser } from './chromium.ts'
import type { Client } from './client.ts'
import { patienceMs } from './eventually.ts'
import { asked, pathWith, Things } from './laws/things.ts'
import { doChores, eventually, startWorld, type World } from './world.ts'

const wide = { width: 1280, height: 800 }
const narrow = { width: 390, height: 844 }
const perSheet = 12
/** What takes longer is not waited for. */
const lateMs = 8_000
const [folder = 'pictures', ...options] = process.argv.slice(2).filter((word) => word !== '')
const option = (name: string): string | undefined =>
  options.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
const beside = option('beside')
const wanted = option('groups')?.split(',')

/** Whether the pages of a group are drawn; those of no group are `Home`. */
const isWanted = (group: string): boolean => wanted === undefined || wanted.includes(group || 'Home')

/** Which picture of the design a page was made after, by its address. Every list was made after the table. */
const table = '03-table'
const designs: Readonly<Record<string, string>> = {
  'sign-in': '1-login',
  overview: '01-overview',
  operator: '02-operator',
  payments: table,
  phones: '5-phone',
  'messages-one': '4-message',
  'payments-one': '4-payment',
  inbox: '04-inbox',
  'inbox-one': '04-inbox',
  'identity-one': '05-identity',
  wallboard: '07-wallboard',
  desk: '08-desk',
  'voice-menus-one': '09-ivr',
  'call-report': '10-call-report',
  'menus-one': '11-ussd',
  'email-templates-one': '12-mail-template',
  'chat-templates-one': '13-chat-template',
  'payout-batches-one': '14-payouts',
  'invoices-one': '15-invoice',
  wallet: '16-wallet',
  'links-one': '17-link',
  'operator-providers-new': '18-connect',
  customers: '19-contacts',
  'campaigns-one': '20-campaign',
}

/** What is no record, or takes something away. */
const notMade =
  /^(sandbox\.|auth\.|apiKeys\.|team\.|account\.|webhooks\.trigger|operator\.(import|createApiKey)|billing\.createSubscription)|\.(optOut|block)$/

async function makeOneOfEach({ demo, operator }: World): Promise<void> {
  const routes = areas.flatMap((area) => area.routes ?? [])
  const things = new Things(routes, Date.now)
  for (const route of routes) {
    const { method, path, operation, scope, examples } = route
    if (method !== 'POST' || notMade.test(operation) || !examples?.[0]) continue
    const client: Client = scope === 'operator' ? operator : demo
    if (path.includes('/:')) continue
    try {
      const make = async (): Promise<string> => {
        const request = examples[0]?.body === undefined ? {} : { body: examples[0].body }
        const { status, text } = await asked(
          client,
          method,
          pathWith(route, await things.idFor(route, client)),
          request,
        )
        return status < 300 ? '' : text.slice(0, 200)
      }
      const late = new Promise<string>((done) => setTimeout(() => done('has not answered in time'), lateMs))
      const problem = await Promise.race([make(), late])
      if (problem) stderr.write(`${operation}: ${problem}\n`)
    } catch (error) {
      stderr.write(`${operation}: ${String(error).slice(0, 200)}\n`)
    }
  }
}

/** Some of what many make. */
async function makeMany({ demo, app }: World): Promise<void> {
  const names = ['Amina Otieno', 'Juma Wekesa', 'Wanjiru Kamau', 'Chausiku Mwangi', 'Baraka Kiptoo', 'Zawadi Achieng']
  for (const [i, name] of names.entries()) {
    const phone = `+25471100010${i}`
    await demo.post('/v1/customers', { name, phones: [phone] })
    await demo.post('/v1/sms/send', { to: phone, from: 'PAMOJA', message: `Habari ${name}, oda yako iko tayari.` })
    await demo.post('/v1/payments/mobile/initiate', {
      ...{ amount: 450 + i * 275, currency: 'KES', phone, provider: 'mpesa', reference: `order-${4100 + i}` },
    })
    await demo.post('/v1/sandbox/sms/inbound', { from: phone, to: 'PAMOJA', message: 'Asante, nitakuja saa kumi.' })
  }
  const messages = names.flatMap((name, i) =>
    Array.from({ length: 20 }, (_, n) => ({ to: `+2547110${i}${1000 + n}`, message: `Mkutano ni kesho, ${name}.` })),
  )
  await demo.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
  await demo.post('/v1/sandbox/messenger/inbound', {
    ...{ from: '+254711000100', type: 'text', text: { body: 'Habari, nimeona picha ya taa.' } },
  })
  const { body: plan } = await demo.post('/v1/billing/plans', {
    name: 'Duka',
    amount: 1_200,
    currency: 'KES',
    interval: 'month',
  })
  await demo.post('/v1/billing/subscriptions', {
    ...{ plan_id: plan.plan_id, customer: { name: 'Zawadi Achieng', phone: '+254711000105' } },
    payment_method: { type: 'invoice' },
  })
  const card = { exp_month: 12, exp_year: 2040, cvv: '123' }
  const ofCard = { amount: 900, currency: 'KES', save_card: true }
  const { body: paid } = await demo.post('/v1/payments', { ...ofCard, card: { ...card, number: '4242424242424242' } })
  await demo.post(`/v1/payments/${paid.payment_id}/refund`, { amount: 300 })
  await demo.post('/v1/payments', { ...ofCard, card: { ...card, number: '4000000000000259' } })
  const isDisputed = async (): Promise<boolean> => (await demo.get('/v1/payments/disputes')).body.data.length > 0
  await eventually(isDisputed, 'the dispute')
  const { body: caught } = await demo.post('/v1/sandbox/hooks', {})
  await demo.post('/v1/webhooks', { url: caught.url, events: ['payment.*'] })
  await demo.post('/v1/payments/fraud/rules', {
    ...{ name: 'Large payouts', action: 'review', applies_to: ['payout'] },
    conditions: [{ field: 'amount', operator: 'gte', value: 500 }],
  })
  const items = names.map((name, i) => ({ amount: 350 + i * 90, phone: `+25471100010${i}`, recipient: { name } }))
  await demo.post('/v1/payments/payout/bulk', { currency: 'KES', description: 'Riders, week 47', items })
  const clock = { nowMs: () => app.clock.nowMs() + 61_000 }
  await doChores({ ...app, clock }, [trafficChore])
}

interface Pictured {
  readonly name: string
  readonly title: string
  /** Group of the navigation that it belongs to. */
  readonly group: string
}

const nameOf = (address: string): string =>
  address
    .replace(/^\/console\/?/, '')
    .replace(/\?.*/, '')
    .replaceAll('/', '-') || 'overview'

async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  const isStill = async (): Promise<boolean> => (await page.locator('.skeleton, [aria-busy=true]').count()) === 0
  await eventually(isStill, 'the page to be there').catch(() => stderr.write(`${page.url()} still waits\n`))
}

async function picture(page: Page, address: string, name: string, group: string): Promise<Pictured> {
  await page.setViewportSize(wide)
  await page.goto(address)
  await settled(page)
  for (const size of [wide, narrow]) {
    await page.setViewportSize(size)
    for (const theme of ['light', 'dark']) {
      await page.evaluate(`document.documentElement.dataset.theme = '${theme}'; window.scrollTo(0, 0)`)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      await page.screenshot({ path: join(folder, `${name}-${size.width}-${theme}.jpg`), type: 'jpeg', quality: 70 })
    }
  }
  await page.setViewportSize(wide)
  return { name, group, title: ((await page.getByRole('heading', { level: 1 }).first().textContent()) ?? name).trim() }
}

/** Every page of the navigation, and the first record of its list. */
async function walk(page: Page, start: string, first: string, pictured: Pictured[]): Promise<void> {
  const origin = new URL(start).origin
  await page.goto(start)
  await entriesOf(page).first().waitFor({ state: 'attached' })
  const entries = await entriesOf(page).evaluateAll((links) =>
    links.map((link) => ({
      address: link.getAttribute('href') ?? '',
      group: link.closest('details')?.querySelector('summary')?.firstElementChild?.nextSibling?.textContent ?? '',
    })),
  )
  for (const { address, group } of entries) {
    const name = nameOf(address)
    const place = [first, group].filter(Boolean).join(', ')
    if (!isWanted(place)) continue
    pictured.push(await picture(page, `${origin}${address}`, name, place))
    const own = page.locator(`main a.open[href^="${address}/"], main .conversations a`)
    const row = ((await own.count()) > 0 ? own : page.locator('main a.open')).first()
    if ((await row.count()) === 0) continue
    const record = await row.getAttribute('href')
    if (record) pictured.push(await picture(page, `${origin}${record}`, `${name}-one`, place))
  }
}

const asData = (path: string): string => `data:image/jpeg;base64,${readFileSync(path).toString('base64')}`

/** Puts pages together: each wide and narrow, and beside its design, where there is one. */
async function sheet(browser: Browser, pages: readonly Pictured[], theme: string, name: string): Promise<void> {
  const both = (path: (width: number) => string): string[] =>
    [wide, narrow].flatMap(({ width }) =>
      existsSync(path(width)) ? [`<img class="w${width}" src="${asData(path(width))}">`] : [],
    )
  const figures = pages.map(({ name: one, title }) => {
    const design = designs[one]
    const own = both((width) => join(folder, `${one}-${width}-${theme}.jpg`))
    const drawn = beside && design ? both((width) => join(beside, `${design}-${width}-${theme}.jpg`)) : []
    const caption = `<b>${title.replace(/[<&]/g, '')}</b> /${one.replace(/^overview$/, '')}`
    return `<figure><div><figcaption>${caption}</figcaption>${own.join('')}</div>${
      drawn.length > 0 ? `<div class="drawn"><figcaption>Design</figcaption>${drawn.join('')}</div>` : ''
    }</figure>`
  })
  const style = `body { margin: 8px; font: 12px sans-serif; display: flex; flex-wrap: wrap; gap: 8px; background: #e5e4df }
    figure { margin: 0; display: flex; gap: 8px } figcaption { grid-column: 1 / -1; color: #555 } b { color: #000 }
    figure > div { background: #fff; padding: 5px; display: grid; grid-template-columns: auto auto; gap: 5px; align-items: start }
    .drawn { background: #f6f3e6 !important } .w1280 { width: 440px } .w390 { width: 134px }`
  const page = await browser.newPage({ viewport: { width: 1210, height: 600 } })
  await page.setContent(`<style>${style}</style>${figures.join('')}`)
  await page.screenshot({ path: join(folder, `${name}.jpg`), type: 'jpeg', quality: 62, fullPage: true })
  await page.close()
}

/** Pages of each group, in the order in which they were met. */
function groupsOf(pictured: readonly Pictured[]): Map<string, Pictured[]> {
  const groups = new Map<string, Pictured[]>()
  for (const one of pictured) groups.set(one.group || 'Home', [...(groups.get(one.group || 'Home') ?? []), one])
  return groups
}

/** `Operator, Carry` -> `operator-carry`. */
const fileOf = (group: string): string => group.toLowerCase().replace(/[^a-z]+/g, '-')

await mkdir(folder, { recursive: true })
buildConsole()
const world = await startWorld()
const browser = await openBrowser()
try {
  await makeOneOfEach(world)
  await makeMany(world)
  const { console: given } = world.credentials
  if (!given) throw new Error('this installation has no console')
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: wide })
  const page = await context.newPage()
  page.setDefaultTimeout(patienceMs(60_000))
  const pictured: Pictured[] = []
  await page.goto(given.url)
  await page.getByLabel('Email address').waitFor()
  if (isWanted('Home')) pictured.push(await picture(page, given.url, 'sign-in', 'Home'))
  await page.getByLabel('Email address').fill(given.email)
  await page.getByLabel('Password').fill(given.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await walk(page, given.url, '', pictured)
  const { body: batches } = await world.demo.get('/v1/payouts?limit=20')
  const batch = batches.data.find(({ batch_id }: { batch_id: string | null }) => batch_id !== null)?.batch_id
  const more = [
    ['invoices/new', 'Money'],
    ...(batch ? [[`payout-batches/${batch}`, 'Money', 'payout-batches-one'] as const] : []),
  ] as const
  for (const [form, group, name] of more)
    if (isWanted(group)) pictured.push(await picture(page, `${given.url}/${form}`, name ?? nameOf(form), group))
  await walk(page, `${given.url}/operator`, 'Operator', pictured)
  const forms = ['providers/new', 'carriers/new', 'trunks/new', 'prices/import', 'statements/new']
  for (const form of isWanted('Operator, forms') ? forms : [])
    pictured.push(await picture(page, `${given.url}/operator/${form}`, `operator-${nameOf(form)}`, 'Operator, forms'))
  for (const [group, pages] of groupsOf(pictured))
    for (let from = 0; from < pages.length; from += perSheet) {
      const part = from === 0 ? '' : `-${from / perSheet + 1}`
      for (const theme of ['light', 'dark'])
        await sheet(browser, pages.slice(from, from + perSheet), theme, `${theme}-${fileOf(group)}${part}`)
    }
  stdout.write(`${pictured.length} pages in ${folder}: ${pictured.map(({ name }) => basename(name)).join(' ')}\n`)
} finally {
  await browser.close()
  await world.stop()
}
