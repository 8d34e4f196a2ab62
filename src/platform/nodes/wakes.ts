// SPDX-License-Identifier: Apache-2.0
// Wakes between nodes: tell another node at once that what it waits for has happened. They are batched and sent outside
// commits, so that no write waits for them. Like all signals they are hints: receivers also poll.
import type { App } from '../app.ts'
import { onePerApp } from '../program/one-per-app.ts'

const topic = 'wakes'
const gatherMs = 2
/** Queue limit of wakes; further ones are dropped. */
const maxGathered = 10_000
/** NOTIFY payloads must be below 8,000 bytes. */
const maxBytes = 7_800

type Surroundings = Pick<App, 'db' | 'signals'> & { readonly log: Pick<App['log'], 'warn'> }

export const wakesOf = onePerApp((app) => new Wakes(app))

export class Wakes {
  readonly #app: Surroundings
  readonly #listeners = new Map<string, (text: string) => void>()
  #gathered: string[] = []
  /** A send is planned or in progress; what is rung meanwhile goes with the next. */
  #isSending = false

  constructor(app: Surroundings) {
    this.#app = app
    app.signals.on(topic, (lines) => {
      for (const line of lines.split('\n')) this.#heard(line)
    })
  }

  /** Listens to wakes for `whom` from any node, this one included. */
  on(whom: string, heard: (text: string) => void): void {
    if (this.#listeners.has(whom)) throw new Error(`somebody hears wakes for ${whom} already`)
    this.#listeners.set(whom, heard)
  }

  /** Wakes `whom` on every node; returns at once. The text has no line breaks. */
  ring(whom: string, text: string): void {
    if (this.#gathered.length >= maxGathered) return
    this.#gathered.push(`${whom} ${text}`)
    this.#plan()
  }

  #plan(): void {
    if (this.#isSending || this.#gathered.length === 0) return
    this.#isSending = true
    setTimeout(async () => {
      await this.#send()
      this.#isSending = false
      this.#plan()
    }, gatherMs)
  }

  async #send(): Promise<void> {
    const { db, log, signals } = this.#app
    const lines = this.#gathered
    this.#gathered = []
    try {
      for (const message of messagesOf(lines)) await signals.send(db, topic, message)
    } catch (error) {
      log.warn(
        { error, wakes: lines.length },
        'other nodes not woken: they poll instead; check the database if this repeats',
      )
    }
  }

  #heard(line: string): void {
    const space = line.indexOf(' ')
    this.#listeners.get(line.slice(0, space))?.(line.slice(space + 1))
  }
}

/** Packs ASCII lines into as few messages as possible. */
function messagesOf(lines: readonly string[]): string[] {
  const messages: string[] = []
  for (const line of lines) {
    const last = messages.at(-1)
    if (last !== undefined && last.length + line.length < maxBytes) messages[messages.length - 1] = `${last}\n${line}`
    else messages.push(line)
  }
  return messages
}
