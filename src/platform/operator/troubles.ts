// SPDX-License-Identifier: Apache-2.0
// Troubles of a node that its operator is told of, by webhook and by mail: one notice when a trouble has lasted, one when
// it is over. A trouble that comes and goes is one trouble. What could not be told is tried again at the next round, so
// that a lost database is still told of by webhook at once, and by mail when it is back.
import { hostname } from 'node:os'
import { Type } from 'typebox'
import type { App } from '../app.ts'
import { onePerApp } from '../program/one-per-app.ts'

/** How long a trouble lasts before it is told of, and how long all must be well before it is over. */
const toldAfterMs = 30_000
const overAfterMs = 2 * 60_000
/** How long after its end a trouble is still told of. */
const forgottenAfterMs = 60 * 60_000
const timeoutMs = 10_000
const webhookConnections = 2

export interface Trouble {
  /** Check of /readyz, or `ledger`, `jobs`. */
  readonly name: string
  readonly problem: string
  readonly since: Date
  /** End; null while it lasts. */
  readonly until: Date | null
}

/** Way to tell an operator; false when it has to be tried again. */
export interface Channel {
  readonly name: string
  tell(trouble: Trouble): Promise<boolean>
}

/** Job that mails a notice; the accounts area registers its handler. */
export const operatorNotice = {
  lane: 'platform.tell_operator',
  payload: Type.Object({
    subject: Type.String(),
    /** Paragraphs. */
    text: Type.Array(Type.String()),
  }),
}

interface Known {
  name: string
  problem: string
  sinceMs: number
  /** Since when all is well again. */
  wellSinceMs: number | null
  toldAfterMs: number
  /** Channels that know of its begin. */
  readonly told: Set<string>
  /** Channels that know of its end. */
  readonly closed: Set<string>
}

export class Troubles {
  readonly #channels: readonly Channel[]
  readonly #nowMs: () => number
  readonly #known = new Map<string, Known>()
  #settling: Promise<void> | null = null

  constructor(channels: readonly Channel[], nowMs: () => number) {
    this.#channels = channels
    this.#nowMs = nowMs
  }

  /** Notes what was found of a check: a problem, or null when all is well. `settle` tells of it. */
  note(name: string, problem: string | null, isToldAtOnce = false): void {
    const known = this.#known.get(name)
    if (problem === null) {
      if (known) known.wellSinceMs ??= this.#nowMs()
    } else if (known) {
      known.problem = problem
      known.wellSinceMs = null
    } else
      this.#known.set(name, {
        ...{ name, problem, sinceMs: this.#nowMs(), wellSinceMs: null },
        toldAfterMs: isToldAtOnce ? 0 : toldAfterMs,
        ...{ told: new Set(), closed: new Set() },
      })
  }

  /** Tells of what has lasted and of what is over; one round at a time. */
  settle(): Promise<void> {
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = null
    })
    return this.#settling
  }

  async #settle(): Promise<void> {
    for (const known of [...this.#known.values()]) {
      const nowMs = this.#nowMs()
      const wellMs = known.wellSinceMs === null ? -1 : nowMs - known.wellSinceMs
      const isOver = wellMs >= overAfterMs
      const lastedMs = (known.wellSinceMs ?? nowMs) - known.sinceMs
      if (lastedMs >= known.toldAfterMs) await this.#tell(known, isOver)
      const isDone = lastedMs < known.toldAfterMs || known.closed.size === this.#channels.length
      if (isOver && (isDone || wellMs > forgottenAfterMs)) this.#known.delete(known.name)
    }
  }

  async #tell({ name, problem, sinceMs, wellSinceMs, told, closed }: Known, isOver: boolean): Promise<void> {
    const done = isOver ? closed : told
    const until = isOver && wellSinceMs !== null ? new Date(wellSinceMs) : null
    for (const channel of this.#channels.filter((each) => !done.has(each.name)))
      if (await channel.tell({ name, problem, since: new Date(sinceMs), until }).catch(() => false))
        done.add(channel.name)
  }
}

export const troublesOf = onePerApp((app) => new Troubles(channelsOf(app), () => app.clock.nowMs()))

function channelsOf(app: App): Channel[] {
  const { PAMOJA_NOTICE_WEBHOOK: url, PAMOJA_NOTICE_EMAILS: emails } = app.config
  return [...(url === null ? [] : [webhook(app, url)]), ...(emails.length === 0 ? [] : [mail(app)])]
}

/** The field `text` is what chat programs show of an incoming webhook. */
function webhook(app: App, url: string): Channel {
  const tell = async (trouble: Trouble): Promise<boolean> => {
    const { name, problem, since, until } = trouble
    const notice = { type: until ? 'trouble.ended' : 'trouble.began', name, problem, node: hostname(), since, until }
    const outcome = await app.carrierOutbound.send({
      ...{ pool: 'operator notices', url, method: 'POST', use: 'callback', environment: 'live', timeoutMs },
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: `${titleOf(trouble)}\n${problem}`, ...notice }),
      connections: webhookConnections,
    })
    const isTold = outcome.kind === 'answered' && outcome.status < 300
    if (!isTold)
      app.log.warn(
        { trouble: name, outcome: outcome.kind === 'answered' ? outcome.status : outcome.kind },
        'operator alert not delivered by webhook: tried again; check PAMOJA_NOTICE_WEBHOOK if this repeats',
      )
    return isTold
  }
  return { name: 'webhook', tell }
}

function mail(app: App): Channel {
  const tell = async (trouble: Trouble): Promise<boolean> => {
    const { problem, since, until } = trouble
    const time = `Since ${since.toISOString()}${until ? `, over since ${until.toISOString()}` : ''}.`
    const job = app.work.prepare(operatorNotice, null, { subject: titleOf(trouble), text: [problem, time] })
    await app.db.acrossTx(async (tx) => {
      await app.work.add(tx, job)
      tx.afterCommit(() => app.work.begin(job))
    })
    return true
  }
  return { name: 'mail', tell }
}

function titleOf({ name, until }: Trouble): string {
  return until ? `Pamoja: ${name} is in order again on ${hostname()}` : `Pamoja: trouble with ${name} on ${hostname()}`
}
