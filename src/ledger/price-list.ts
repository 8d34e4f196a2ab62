// SPDX-License-Identifier: Apache-2.0
// Price list in memory, as compact as it came: pages of text in which a hash table finds the prices of a thing. What is asked for
// is kept unpacked. As objects 100,000 prices took a second of each start to make, and 50 MB.
import { setImmediate as nextTurn } from 'node:timers/promises'
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

/** Page of the list: for each price a line that says for what and one with its moment in seconds, a tab and its micros. */
export interface Page {
  readonly rows: number
  readonly lines: string
}

const lineEnd = 10

export class PriceList {
  readonly #pages: readonly Page[]
  /** For each hash the number of a price and one, or 0; for each price the next one with that hash; and where its lines begin. */
  readonly #first: Int32Array
  readonly #next: Int32Array
  readonly #starts: Int32Array
  /** Prices of things of which one has changed since the pages were read. */
  readonly #changed = new Map<string, Entries>()
  /** For what was asked for, the prices of all that it falls under, the most exact first. */
  readonly #unpacked = new Map<string, readonly Entries[]>()

  private constructor(pages: readonly Page[]) {
    const rows = pages.reduce((sum, page) => sum + page.rows, 0)
    this.#pages = pages
    this.#first = new Int32Array(2 ** Math.ceil(Math.log2(2 * rows + 1)))
    this.#next = new Int32Array(rows)
    this.#starts = new Int32Array(rows)
  }

  /** List of pages of which all but the last have the same number of rows; leaves the event loop to others after each. */
  static async of(pages: readonly Page[]): Promise<PriceList> {
    const list = new PriceList(pages)
    for (const [n, page] of pages.entries()) {
      if (n > 0) await nextTurn()
      list.#index(n * list.#pageRows, page)
    }
    return list
  }

  get #pageRows(): number {
    return this.#pages[0]?.rows ?? 1
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

  #packed(key: string): Entries {
    const found: Entry[] = []
    const currency = key.split('\t')[2] ?? ''
    const line = `${key}\n`
    for (let n = this.#first[this.#slotOf(line, 0)] ?? 0; n > 0; n = this.#next[n - 1] ?? 0) {
      const { lines } = this.#pages[Math.floor((n - 1) / this.#pageRows)] ?? { lines: '' }
      const start = this.#starts[n - 1] ?? 0
      if (!lines.startsWith(line, start)) continue
      const [seconds, micros] = lines.slice(start + line.length, endOf(lines, start + line.length)).split('\t')
      found.push({ fromMs: Math.round(Number(seconds) * 1_000), money: moneyOf(BigInt(micros ?? ''), currency) })
    }
    return newestFirst(found)
  }

  #index(before: number, { rows, lines }: Page): void {
    for (let n = before, start = 0; n < before + rows; n++) {
      const slot = this.#slotOf(lines, start)
      this.#starts[n] = start
      this.#next[n] = this.#first[slot] ?? 0
      this.#first[slot] = n + 1
      start = endOf(lines, endOf(lines, start) + 1) + 1
    }
  }

  /** Place of a line in the hash table (FNV-1a). */
  #slotOf(lines: string, start: number): number {
    let hash = 0x811c9dc5
    for (let i = start; ; i++) {
      const code = lines.charCodeAt(i)
      if (code === lineEnd) return (hash ^ (hash >>> 15)) & (this.#first.length - 1)
      hash = Math.imul(hash ^ code, 0x01000193)
    }
  }
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
