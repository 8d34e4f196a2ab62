// SPDX-License-Identifier: Apache-2.0
// Customers who do not give up: each writes notes one after the other under idempotency keys, remembers what was
// acknowledged, and repeats what was not with the same key, at whichever node a load balancer happens to choose.
// Beside them another renames its API key again and again, which takes a plain transaction and no key.
import { setTimeout as pause } from 'node:timers/promises'
import type { Client, Reply } from '../client.ts'
import type { Account, Installation } from './harness.ts'

/** Price of a note in KES. */
export const notePrice = 0.8

/** Enough to share commits; more would keep every processor busy and show no more. */
const customers = 8
const pauseMs = 25
const retryMs = 50
const answerWithinMs = 15_000
const finishWithinMs = 60_000

export interface Write {
  readonly key: string
  readonly account: Account
  readonly text: string
  /** Id of the note; null until the write was acknowledged. */
  noteId: string | null
}

export interface Rename {
  readonly account: Account
  tries: number
  /** The number of the last try that was acknowledged. */
  acknowledged: number
}

export interface LoadOptions {
  installation: Installation
  /** The last of them renames its key, the others write notes. */
  accounts: readonly Account[]
  random(): number
  /** The length of a note's text. */
  textLength?: number
}

export class Load {
  readonly #options: LoadOptions
  /** Loads after each other may share accounts, and must not share keys. */
  readonly #name: string
  readonly #customers: Promise<void>[] = []
  #finishing = false
  #givenUp = false
  #lastAckMs = 0
  readonly writes: Write[] = []
  readonly renames: Rename[] = []
  /** Answers that a customer should never see, whatever was killed. */
  readonly unexpected: string[] = []
  /** Answers with how often each came: a status with its code, or the code of a connection error. */
  readonly answers = new Map<string, number>()
  acknowledged = 0
  /** Acknowledgements that repeat one which was lost on the way. */
  replayed = 0
  /** The longest time in which nobody's write was acknowledged. */
  longestOutageMs = 0

  constructor(options: LoadOptions) {
    this.#options = options
    this.#name = Math.floor(options.random() * 2 ** 32).toString(36)
  }

  start(): void {
    this.#lastAckMs = performance.now()
    const [renamer, ...writers] = this.#options.accounts.toReversed()
    if (!renamer || writers.length === 0) throw new Error('a load needs two accounts')
    for (let i = 0; i < customers; i++) this.#customers.push(this.#write(writers))
    this.#customers.push(this.#rename(renamer))
  }

  /** Begins no more writes, and waits until every one begun is acknowledged, as long as there is hope. */
  async finish(): Promise<void> {
    this.#finishing = true
    const hope = setTimeout(() => {
      this.#givenUp = true
    }, finishWithinMs)
    await Promise.all(this.#customers)
    clearTimeout(hope)
  }

  /** Number of answers whose name begins so. */
  count(answer: string): number {
    return [...this.answers].filter(([name]) => name.startsWith(answer)).reduce((sum, [, times]) => sum + times, 0)
  }

  async #write(accounts: readonly Account[]): Promise<void> {
    const { random, textLength = 40 } = this.#options
    while (!this.#finishing) {
      const account = accounts[Math.floor(random() * accounts.length)]
      if (!account) return
      const number = this.writes.length
      const write: Write = {
        key: `${this.#name}-${number}`,
        account,
        text: `Note ${number} `.padEnd(textLength, '.'),
        noteId: null,
      }
      this.writes.push(write)
      while (!this.#givenUp && write.noteId === null) {
        const reply = await this.#send(account, (client) =>
          client.post('/v1/notes', { text: write.text }, { headers: { 'idempotency-key': write.key } }),
        )
        if (reply) this.#acknowledge(write, reply)
        else await pause(retryMs)
      }
      await pause(pauseMs)
    }
  }

  async #rename(account: Account): Promise<void> {
    const rename: Rename = { account, tries: 0, acknowledged: 0 }
    this.renames.push(rename)
    while (!this.#givenUp && !(this.#finishing && rename.acknowledged === rename.tries)) {
      const name = `Name ${++rename.tries}`
      const reply = await this.#send(account, (client) => client.patch(`/v1/api-keys/${account.keyId}`, { name }))
      if (reply) rename.acknowledged = rename.tries
      await pause(reply ? pauseMs : retryMs)
    }
  }

  #acknowledge(write: Write, { body, headers }: Reply): void {
    write.noteId = body.note_id
    this.acknowledged++
    if (headers['idempotent-replayed']) this.replayed++
    const nowMs = performance.now()
    this.longestOutageMs = Math.max(this.longestOutageMs, nowMs - this.#lastAckMs)
    this.#lastAckMs = nowMs
  }

  /** Tries once at some node; the reply when it was acknowledged. */
  async #send(account: Account, request: (client: Client) => Promise<Reply>): Promise<Reply | null> {
    const { installation, random } = this.#options
    const client = installation.client(Math.floor(random() * installation.nodeCount), account.key)
    try {
      const reply = await inTime(request(client))
      return this.#judge(reply) ? reply : null
    } catch (error) {
      this.#note(error instanceof Error && 'code' in error ? String(error.code) : String(error))
      return null
    }
  }

  #judge({ status, body, headers, text }: Reply): boolean {
    this.#note(status === 200 ? '200' : `${status} ${body?.error?.code}`)
    if (status === 200) return true
    const comeBack = status === 503 && body?.error?.code === 'SERVICE_UNAVAILABLE' && Number(headers['retry-after']) > 0
    const running = status === 409 && body?.error?.code === 'REQUEST_IN_PROGRESS'
    if (!comeBack && !running) this.unexpected.push(`${status} ${text}`)
    return false
  }

  #note(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1)
  }
}

/** A customer does not wait for ever. What was sent may still be done; the key tells. */
async function inTime(reply: Promise<Reply>): Promise<Reply> {
  const abort = new AbortController()
  const late = pause(answerWithinMs, null, { signal: abort.signal }).then(
    () => Promise.reject(Object.assign(new Error('no answer came in time'), { code: 'LATE' })),
    () => reply,
  )
  try {
    return await Promise.race([reply, late])
  } finally {
    abort.abort()
  }
}
