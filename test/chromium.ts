// SPDX-License-Identifier: Apache-2.0
// A real browser for the tests of the console: Debian's chromium, where it is installed. Builds the console if nobody has.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { root } from '../src/platform/program/root.ts'

const program = '/usr/bin/chromium'

/** Reason for no browser; false when there is one. PAMOJA_TEST_CHROMIUM=required makes its absence a failure. */
export function withoutChromium(): string | false {
  if (existsSync(program)) return false
  if (process.env.PAMOJA_TEST_CHROMIUM === 'required') throw new Error(`${program} is not installed`)
  return `${program} is not installed (Debian's package chromium)`
}

export function buildConsole(): void {
  if (!existsSync(new URL('dist/console/index.html', root)))
    execFileSync(process.execPath, [fileURLToPath(new URL('tools/console.mjs', root))])
}

export function openBrowser(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage', ...more] })
}

/** What passes is not described, which takes longer than looking. */
const onlyViolations = { resultTypes: ['violations'] }

/** Problems that axe finds in a page, one line for each element; `rules` names some of its rules, all unless given. */
export async function accessibilityProblems(page: Page, rules?: readonly string[]): Promise<string[]> {
  // The policy of the page lets no script in; the tools of the browser are not bound by it. The session ends with the page:
  // Chromium takes a page's virtual authenticators away as soon as any session of it is detached.
  const session = await page.context().newCDPSession(page)
  // Half a megabyte, which a page that is still there has read already.
  const known = await session.send('Runtime.evaluate', { expression: '"axe" in window', returnByValue: true })
  if (known.result.value !== true) await session.send('Runtime.evaluate', { expression: axe.source })
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(${JSON.stringify({ ...onlyViolations, ...(rules ? { runOnly: rules } : {}) })}).then(({ violations }) => JSON.stringify(
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ' ' + failureSummary))))`,
    awaitPromise: true,
    returnByValue: true,
  })
  return JSON.parse(String(result.value))
}

/** Entries of the navigation, also those of groups that are folded. */
export function entriesOf(page: Page, name?: string): Locator {
  const named = name === undefined ? {} : { name, exact: true }
  return page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { includeHidden: true, ...named })
}

/** Goes to a page by the navigation, and unfolds its group where it is folded. */
export async function openEntry(page: Page, name: string): Promise<void> {
  const entry = entriesOf(page, name)
  await entry.waitFor({ state: 'attached' })
  const folded = page.locator('#pages details:not([open])').filter({ has: page.locator(`a[title="${name}"]`) })
  if ((await folded.count()) > 0) await folded.locator('summary').click()
  await entry.click()
}
