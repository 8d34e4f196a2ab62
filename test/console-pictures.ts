// SPDX-License-Identifier: Apache-2.0
// Pictures of every page of the console, for whoever changes them: starts an installation, makes one of everything by the examples
// of the API, opens each page of the navigation, the first record of each list and the forms, in a window 1280 wide and on a phone
// 390 wide, light and dark, and puts them together on sheets. `node dist/test/console-pictures.js <folder>`; with
// `--beside=<folder of pictures>` the design that a page was made after stands beside it.
import { existsSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { stderr, stdout } from 'node:process'
import type { Browser, Page } from 'playwright-core'
import { areas } from '../src/areas.ts'
import { trafficChore } from '../src/platform/operator/tallies.ts'
import { buildConsole, entriesOf, openBrowser } from './chromium.ts'
import type { Client } from './client.ts'
import { asked, pathWith, Things } from './laws/things.ts'
import { doChores, eventually, startWorld, type World } from './world.ts'

const wide = { width: 1280, height: 800 }
const narrow = { width: 390, height: 844 }
const patienceMs = 60_000
const perSheet = 9
/** What takes longer is not waited for. */
const lateMs = 8_000
const [folder = 'pictures', ...options] = process.argv.slice(2).filter((word) => word !== '')
const beside = options.find((word) => word.startsWith('--beside='))?.slice('--beside='.length)

/** Which picture of the design a page was made after, by its address. */
const designs: Readonly<Record<string, string>> = {
  overview: '01-overview',
  operator: '02-operator',
  payments: '03-table',
  inbox: '04-inbox',
  'identity-one': '05-identity',
  wallboard: '07-wallboard',
  desk: '08-desk',
  'voice-menus-one': '09-ivr',
  'call-report': '10-call-report',
  'menus-one': '11-ussd',
  'email-templates-one': '12-mail-template',
  'chat-templates-one': '13-chat-template',
  'payouts-one': '14-payouts',
  'invoices-one': '15-invoice',
  wallet: '16-wallet',
  'links-one': '17-link',
  'operator-providers-new': '18-connect',
  customers: '19-contacts',
  'campaigns-one': '20-campaign',
}

/** What is no record, or takes something away. */
const notMade =
  /^(sandbox\.|auth\.|apiKeys\.|team\.|account\.|webhooks\.trigger|operator\.(import|createApiKey))|\.(optOut|block)$/

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
  const clock = { nowMs: () => app.clock.nowMs() + 61_000 }
  await doChores({ ...app, clock }, [trafficChore])
}

interface Pictured {
  readonly name: string
  readonly title: string
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

async function picture(page: Page, address: string, name: string): Promise<Pictured> {
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
  return { name, title: ((await page.getByRole('heading', { level: 1 }).first().textContent()) ?? name).trim() }
}

/** Every page of the navigation, and the first record of its list. */
async function walk(page: Page, start: string, pictured: Pictured[]): Promise<void> {
  const origin = new URL(start).origin
  await page.goto(start)
  await entriesOf(page).first().waitFor({ state: 'attached' })
  const addresses = await entriesOf(page).evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
  for (const address of addresses) {
    const name = nameOf(address)
    pictured.push(await picture(page, `${origin}${address}`, name))
    const first = page.locator('main a.open').first()
    if ((await first.count()) === 0) continue
    const record = await first.getAttribute('href')
    if (record) pictured.push(await picture(page, `${origin}${record}`, `${name}-one`))
  }
}

const asData = (path: string): string => `data:image/jpeg;base64,${readFileSync(path).toString('base64')}`

/** Puts pages together: each wide, narrow, and beside its design where that is at hand. */
async function sheet(browser: Browser, pages: readonly Pictured[], theme: string, name: string): Promise<void> {
  const figures = pages.map(({ name: one, title }) => {
    const design = designs[one]
    const path = beside && design ? join(beside, `${design}.jpg`) : ''
    const pictures = [wide, narrow].map(
      ({ width }) => `<img class="w${width}" src="${asData(join(folder, `${one}-${width}-${theme}.jpg`))}">`,
    )
    if (path && existsSync(path)) pictures.push(`<img class="w1280" src="${asData(path)}">`)
    return `<figure><figcaption>${title.replace(/[<&]/g, '')} <small>/${one.replace(/^overview$/, '')}</small></figcaption>${pictures.join('')}</figure>`
  })
  const style = `body { margin: 8px; font: 13px sans-serif; display: flex; flex-wrap: wrap; gap: 10px; background: #e5e4df }
    figure { margin: 0; background: #fff; padding: 5px; display: grid; grid-template-columns: repeat(3, auto); gap: 5px; align-items: start }
    figcaption { grid-column: 1 / -1; font-weight: 600 } small { color: #666; font-weight: 400 }
    .w1280 { width: 384px } .w390 { width: 117px }`
  const page = await browser.newPage({ viewport: { width: 1630, height: 800 } })
  await page.setContent(`<style>${style}</style>${figures.join('')}`)
  await page.screenshot({ path: join(folder, `${name}.jpg`), type: 'jpeg', quality: 55, fullPage: true })
  await page.close()
}

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
  page.setDefaultTimeout(patienceMs)
  const pictured: Pictured[] = []
  await page.goto(given.url)
  await page.getByLabel('E-mail address').waitFor()
  pictured.push(await picture(page, given.url, 'sign-in'))
  await page.getByLabel('E-mail address').fill(given.email)
  await page.getByLabel('Password').fill(given.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await walk(page, given.url, pictured)
  await walk(page, `${given.url}/operator`, pictured)
  const forms = ['invoices/new', 'operator/providers/new', 'operator/carriers/new', 'operator/trunks/new']
  for (const form of [...forms, 'operator/prices/import', 'operator/statements/new'])
    pictured.push(await picture(page, `${given.url}/${form}`, nameOf(form)))
  for (let from = 0; from < pictured.length; from += perSheet) {
    const pages = pictured.slice(from, from + perSheet)
    const number = String(from / perSheet + 1).padStart(2, '0')
    await sheet(browser, pages, 'light', `sheet-${number}`)
    await sheet(browser, pages, 'dark', `sheet-dark-${number}`)
  }
  stdout.write(`${pictured.length} pages in ${folder}: ${pictured.map(({ name }) => basename(name)).join(' ')}\n`)
} finally {
  await browser.close()
  await world.stop()
}
