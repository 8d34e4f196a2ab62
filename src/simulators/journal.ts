// SPDX-License-Identifier: Apache-2.0
// Journal of a simulated provider: its state and its pending actions, as books whose every change is a line in a file,
// read again at the start. A line is written before the request is answered, so that a kill leaves at worst an
// unfinished last line. It survives the program, not a loss of power: nothing is fsynced.
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { dayMs } from '../kernel/time.ts'

/** Raised whenever the shape of something in a book changes: a file of another format is begun anew. */
const heading = 'pamoja simulator journal 1\n'
/** Age at which untouched entries are dropped at the next start. */
const maxAgeMs = 90 * dayMs
/** Lines that are no longer true may be so many times those that are, and some more, before the file is written anew. */
const staleShare = 2
const staleSlack = 10_000
/** A file that grew beyond it, which takes some hundred thousand orders, is begun anew: reading it would hold up every start. */
const maxFileBytes = 256 * 1024 * 1024
const maxTimerMs = 2 ** 31 - 1

export interface JournalOptions {
  /** File of the journal; null when everything is kept in memory only. */
  file: string | null
  now(): number
  /** Factor on the delay of pending actions. */
  timeScale: number
  /** The file cannot be used, and from then on nothing is written; or what was due failed, and is not tried again. */
  onProblem?(error: unknown): void
}

export interface BookOptions<T> {
  name: string
  /** The oldest is forgotten beyond it. */
  most: number
  /**
   * Runs the pending action; returns the delay of the next one. It stores (`keep`) its change before it calls anybody,
   * and may run once more after a kill.
   */
  due?(value: T, key: string): Promise<number | undefined>
  forgotten?(value: T): void
}

export class Journal {
  readonly #options: JournalOptions
  readonly #books = new Map<string, { compacted(): Iterable<string>; size: number; begin(): void; stop(): void }>()
  /** Name of a book -> key -> what its lines come to. */
  readonly #found = new Map<string, Map<string, Found>>()
  #file: number | null = null
  #lines = 0
  #stopped = false

  constructor(options: JournalOptions) {
    this.#options = options
    if (options.file === null) return
    try {
      mkdirSync(dirname(options.file), { recursive: true, mode: 0o700 })
      this.#file = openSync(options.file, 'a+', 0o600)
      if (fstatSync(this.#file).size > maxFileBytes) ftruncateSync(this.#file)
      this.#read(this.#file)
    } catch (error) {
      this.#giveUp(error)
    }
  }

  /** A book is opened before the journal begins. */
  book<T>(options: BookOptions<T>): Book<T> {
    const { now, timeScale, onProblem } = this.#options
    const { name } = options
    const found = this.#found.get(name) ?? new Map<string, Found>()
    this.#found.delete(name)
    const write = (lineOf: () => string): void => this.#write(() => `${name}\t${lineOf()}\n`)
    const failed = (error: unknown): void => onProblem?.(error)
    const book = new Book<T>(options, { found, now, timeScale, write, failed, oldestMs: now() - maxAgeMs })
    this.#books.set(name, book)
    return book
  }

  /** Begins once all books are open: what was due when they were read comes from now on. */
  begin(): void {
    if (this.#stopped) return
    this.#found.clear()
    this.#tidy(1, 0)
    for (const book of this.#books.values()) book.begin()
  }

  stop(): void {
    this.#stopped = true
    for (const book of this.#books.values()) book.stop()
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #read(file: number): void {
    const text = readFileSync(file, 'utf8')
    const isOurs = text.startsWith(heading)
    const end = text.lastIndexOf('\n') + 1
    if (!isOurs) {
      ftruncateSync(file)
      writeSync(file, heading)
      return
    }
    // Unfinished last line of a killed program; its content was reported to nobody.
    if (end < text.length) ftruncateSync(file, Buffer.byteLength(text.slice(0, end)))
    for (const line of text.slice(heading.length, end).split('\n')) {
      const [name = '', key, changedMs, dueMs = '', value] = line.split('\t')
      if (key === undefined) continue
      this.#lines += 1
      const book = this.#found.get(name) ?? new Map<string, Found>()
      this.#found.set(name, book)
      if (changedMs === undefined) book.delete(key)
      else book.set(key, { changedMs, dueMs, value: value ?? book.get(key)?.value ?? '' })
    }
  }

  #write(lineOf: () => string): void {
    if (this.#file === null || this.#stopped) return
    const line = lineOf()
    try {
      if (writeSync(this.#file, line) < Buffer.byteLength(line)) throw new Error('the line was not written whole')
      this.#lines += 1
      this.#tidy(staleShare, staleSlack)
    } catch (error) {
      this.#giveUp(error)
    }
  }

  /** Writes the file anew when most of it is no longer true; the old one stays until the new one is whole. */
  #tidy(share: number, slack: number): void {
    const { file } = this.#options
    if (file === null || this.#file === null) return
    const held = [...this.#books.values()].reduce((sum, { size }) => sum + size, 0)
    if (this.#lines - held <= share * held + slack) return
    const draft = `${file}.new`
    try {
      const lines = [...this.#books].flatMap(([name, book]) =>
        [...book.compacted()].map((line) => `${name}\t${line}\n`),
      )
      writeFileSync(draft, heading + lines.join(''), { mode: 0o600 })
      renameSync(draft, file)
      closeSync(this.#file)
      this.#file = openSync(file, 'a', 0o600)
      this.#lines = lines.length
    } catch (error) {
      rmSync(draft, { force: true })
      this.#giveUp(error)
    }
  }

  /** A sandbox that cannot write goes on as one that only has its memory. */
  #giveUp(error: unknown): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
    this.#options.onProblem?.(error)
  }
}

/** Latest state of one key in the journal. */
interface Found {
  changedMs: string
  dueMs: string
  value: string
}

interface Kept<T> {
  value: T
  changedMs: number
  /** Time at which something is due; null for never. */
  dueMs: number | null
  timer?: NodeJS.Timeout
  isPlaying?: boolean
  /** Number of the latest pending action; earlier ones are void. */
  turn: number
}

interface Surroundings {
  found: ReadonlyMap<string, Found>
  oldestMs: number
  now(): number
  timeScale: number
  write(lineOf: () => string): void
  failed(error: unknown): void
}

/** Things by their keys, each with at most one thing due. */
export class Book<T> {
  readonly #options: BookOptions<T>
  readonly #surroundings: Surroundings
  readonly #kept = new Map<string, Kept<T>>()
  #stopped = false

  constructor(options: BookOptions<T>, surroundings: Surroundings) {
    this.#options = options
    this.#surroundings = surroundings
    for (const [written, found] of surroundings.found) {
      const one = keptOf<T>(written, found)
      if (one && one.kept.changedMs >= surroundings.oldestMs) this.#kept.set(one.key, one.kept)
    }
    this.#forgetOldest()
  }

  get size(): number {
    return this.#kept.size
  }

  has(key: string): boolean {
    return this.#kept.has(key)
  }

  get(key: string): T | undefined {
    return this.#kept.get(key)?.value
  }

  values(): T[] {
    return [...this.#kept.values()].map(({ value }) => value)
  }

  entries(): [string, T][] {
    return [...this.#kept].map(([key, { value }]) => [key, value])
  }

  /** Inserts or replaces an entry; `dueInMs` replaces its pending action. */
  put(key: string, value: T, dueInMs?: number): void {
    const before = this.#kept.get(key)
    clearTimeout(before?.timer)
    const kept: Kept<T> = { value, changedMs: 0, dueMs: null, turn: (before?.turn ?? 0) + 1 }
    this.#schedule(kept, dueInMs)
    this.#kept.set(key, kept)
    this.#surroundings.write(() => lineOf(key, kept, value))
    this.#arm(key, kept)
    this.#forgetOldest()
  }

  /** Writes down that something changed; what is due of it stays. */
  keep(key: string): void {
    const kept = this.#kept.get(key)
    if (!kept) return
    kept.changedMs = this.#surroundings.now()
    this.#surroundings.write(() => lineOf(key, kept, kept.value))
  }

  isDue(key: string): boolean {
    return this.#kept.get(key)?.dueMs != null
  }

  /** Brings an entry's pending action forward. */
  hasten(key: string, byMs: number): void {
    const kept = this.#kept.get(key)
    if (!kept || kept.dueMs === null || kept.isPlaying) return
    kept.dueMs -= byMs
    this.keep(key)
    this.#arm(key, kept)
  }

  /** Does at once what is due. */
  async play(key: string): Promise<void> {
    const kept = this.#kept.get(key)
    if (!kept || kept.dueMs === null || kept.isPlaying || this.#stopped) return
    clearTimeout(kept.timer)
    kept.isPlaying = true
    const { turn } = kept
    const againInMs = await this.#do(key, kept.value)
    kept.isPlaying = false
    if (this.#stopped || this.#kept.get(key)?.turn !== turn) return
    this.#schedule(kept, againInMs)
    this.#surroundings.write(() => lineOf(key, kept))
    this.#arm(key, kept)
  }

  /** Does what is due; one that fails would fail at every start, so it counts as done. */
  async #do(key: string, value: T): Promise<number | undefined> {
    try {
      return await this.#options.due?.(value, key)
    } catch (error) {
      this.#surroundings.failed(error)
      return undefined
    }
  }

  delete(key: string): void {
    clearTimeout(this.#kept.get(key)?.timer)
    if (this.#kept.delete(key)) this.#surroundings.write(() => encodeURIComponent(key))
  }

  begin(): void {
    for (const [key, kept] of this.#kept) this.#arm(key, kept)
  }

  stop(): void {
    this.#stopped = true
    for (const { timer } of this.#kept.values()) clearTimeout(timer)
  }

  *compacted(): Iterable<string> {
    for (const [key, kept] of this.#kept) yield lineOf(key, kept, kept.value)
  }

  #schedule(kept: Kept<T>, dueInMs: number | undefined): void {
    const { now, timeScale } = this.#surroundings
    kept.changedMs = now()
    kept.dueMs = dueInMs === undefined ? null : kept.changedMs + dueInMs * timeScale
  }

  #arm(key: string, kept: Kept<T>): void {
    clearTimeout(kept.timer)
    if (kept.dueMs === null || kept.isPlaying || this.#stopped) return
    const ms = Math.min(Math.max(kept.dueMs - this.#surroundings.now(), 0), maxTimerMs)
    kept.timer = setTimeout(() => void this.play(key), ms)
  }

  #forgetOldest(): void {
    // Looked at before the first of them is: those that were deleted before it stand in the way.
    if (this.#kept.size <= this.#options.most) return
    for (const [key, kept] of this.#kept) {
      if (this.#kept.size <= this.#options.most) return
      clearTimeout(kept.timer)
      this.#kept.delete(key)
      this.#options.forgotten?.(kept.value)
    }
  }
}

/** Line of an entry; without a value it stays as it was. */
function lineOf(key: string, { changedMs, dueMs }: Kept<unknown>, value?: unknown): string {
  const line = `${encodeURIComponent(key)}\t${changedMs}\t${dueMs ?? ''}`
  return value === undefined ? line : `${line}\t${JSON.stringify(value)}`
}

/** Entry of a line; null for a foreign one. */
function keptOf<T>(written: string, { changedMs, dueMs, value }: Found): { key: string; kept: Kept<T> } | null {
  try {
    const known: T = JSON.parse(value)
    const due = dueMs === '' ? null : Number(dueMs)
    return {
      key: decodeURIComponent(written),
      kept: { value: known, changedMs: Number(changedMs), dueMs: due, turn: 0 },
    }
  } catch {
    return null
  }
}
