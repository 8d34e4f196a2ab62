// SPDX-License-Identifier: Apache-2.0
// Price list in memory, as compact as it came: pages of text in the order of their bytes, in which the prices of a thing are looked
// up. What is asked for is kept unpacked. A start makes nothing of it: as objects 100,000 prices took a second of each start and
// 50 MB, and with a hash table of their places 50 ms.
import { isCurrency, type Money } from '../kernel/money.ts'
import type { PriceQuery } from '../platform/app.ts'

/** Things that are kept unpacked; the oldest goes first. */
const maxUnpacked = 10_000

/** Price from a moment on. */
export interface Entry {
  readonly fromMs: number
  readonly money: Money
}

/** Thing that has a price. */
export interface Priced {
  readonly area: string
  readonly unit: string
  readonly currency: string
  /** Empty for everybody. */
  readonly account: string
  /** Empty for everywhere. */
  readonly country: string
  /** Empty for all networks. */
  readonly network: string
}

/** Prices of one thing, newest first. */
type Entries = readonly Entry[]

/** Page of the list: for each price a line that says for what, and one with its moment in seconds, a tab and its micros. */
export interface Page {
  readonly rows: number
  readonly lines: string
}

export class PriceList {
  readonly #pages: readonly Page[]
  /** Where the prices of a page begin, of pages in which something was looked up. */
  readonly #starts = new Map<Page, readonly number[]>()
  /** Prices of things of which one has changed since the pages were read. */
  readonly #changed = new Map<string, Entries>()
  /** For what was asked for, the prices of all that it falls under, the most exact first. */
  readonly #unpacked = new Map<string, readonly Entries[]>()

  constructor(pages: readonly Page[]) {
    this.#pages = pages
  }

  /** The most specific price in force: the account's own, then network before country before everywhere, then the latest. */
  inForce({ area, unit, currency, account, country = '', network = '', atMs }: PriceQuery): Entry | null {
    // Almost always the first or second: the ones before it are announced for later.
    for (const entries of this.#fallingUnder({ area, unit, currency, account, country, network }))
      for (const entry of entries) if (entry.fromMs <= atMs) return entry
    return null
  }

  /** Takes over a change: a new price or amount, or null where the price was removed. */
  change(priced: Priced, fromMs: number, micros: bigint | null): void {
    const key = keyOf(priced)
    const others = this.#entries(key).filter((entry) => entry.fromMs !== fromMs)
    const added = micros === null ? [] : [{ fromMs, money: moneyOf(micros, priced.currency) }]
    this.#changed.set(key, newestFirst([...others, ...added]))
    this.#unpacked.clear()
  }

  #fallingUnder(priced: Priced): readonly Entries[] {
    const key = keyOf(priced)
    const known = this.#unpacked.get(key)
    if (known) return known
    const { country, network } = priced
    const places = country === '' ? [] : network === '' ? [{ country }] : [{ country, network }, { country }]
    const found = [priced.account, '']
      .flatMap((account) =>
        [...places, {}].map((place) => ({ ...priced, account, country: '', network: '', ...place })),
      )
      .map((thing) => this.#entries(keyOf(thing)))
      .filter((entries) => entries.length > 0)
    const [oldest] = this.#unpacked.size >= maxUnpacked ? this.#unpacked.keys() : []
    if (oldest !== undefined) this.#unpacked.delete(oldest)
    this.#unpacked.set(key, found)
    return found
  }

  #entries(key: string): Entries {
    return this.#changed.get(key) ?? this.#packed(key)
  }

  /** Looks where a thing may stand: at the end of the last page that begins before it, and in those that begin with it. */
  #packed(key: string): Entries {
    const found: Entry[] = []
    const currency = key.split('\t')[2] ?? ''
    const line = `${key}\n`
    const from = firstOf(this.#pages, ({ lines }) => compareAt(line, lines, 0) <= 0)
    for (const page of this.#pages.slice(Math.max(0, from - 1))) {
      const { lines } = page
      const starts = this.#startsOf(page)
      const here = starts.slice(firstOf(starts, (start) => compareAt(line, lines, start) <= 0))
      for (const start of here) {
        if (!lines.startsWith(line, start)) return newestFirst(found)
        const [seconds, micros] = lines.slice(start + line.length, endOf(lines, start + line.length)).split('\t')
        found.push({ fromMs: Math.round(Number(seconds) * 1_000), money: moneyOf(BigInt(micros ?? ''), currency) })
      }
    }
    return newestFirst(found)
  }

  #startsOf(page: Page): readonly number[] {
    const known = this.#starts.get(page)
    if (known) return known
    const starts: number[] = []
    for (let start = 0; start < page.lines.length; start = endOf(page.lines, endOf(page.lines, start) + 1) + 1)
      starts.push(start)
    this.#starts.set(page, starts)
    return starts
  }
}

/** Number of the first for which something holds, of items for which it holds from one on. */
function firstOf<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
  let [from, to] = [0, items.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const item = items[middle]
    if (item !== undefined && holds(item)) to = middle
    else from = middle + 1
  }
  return from
}

/** Less than, 0 or more than 0 where a line comes before, is, or comes after the one at a place, in the order of their UTF-8. */
function compareAt(line: string, lines: string, start: number): number {
  for (let i = 0; i < line.length; i++) {
    const wanted = line.charCodeAt(i)
    const there = lines.charCodeAt(start + i)
    if (wanted !== there) return orderOf(wanted) - orderOf(there)
  }
  return 0
}

/** Order of half a character, of which those beyond the BMP have two, is after all others. */
function orderOf(code: number): number {
  return code >= 0xd800 && code <= 0xdfff ? code + 0x1_0000 : code
}

function endOf(lines: string, from: number): number {
  const end = lines.indexOf('\n', from)
  return end < 0 ? lines.length : end
}

function keyOf({ area, unit, currency, account, country, network }: Priced): string {
  return `${area}\t${unit}\t${currency}\t${account}\t${country}\t${network}`
}

function newestFirst(entries: Entry[]): Entries {
  return entries.sort((a, b) => b.fromMs - a.fromMs)
}

function moneyOf(micros: bigint, currency: string): Money {
  if (!isCurrency(currency)) throw new Error(`the price list holds an unknown currency: ${currency}`)
  return { micros, currency }
}
