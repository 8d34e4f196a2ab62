// SPDX-License-Identifier: Apache-2.0
// Texts under way while the node that sends them is killed, round after round, with receipts that come early, doubled, in
// disorder and for the parts of long texts; and what must hold in the end. The message centre lives on.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { SmscSimulator } from '../../src/simulators/smsc.ts'
import { eventually } from '../eventually.ts'
import { type Account, type Installation, startInstallation } from './harness.ts'

const messagesPerRound = 100
const atOnce = 20
const window = 10
const credit = 100_000
const pricePerPart = 0.8
/** Receipts take up to so long, each as it happens. */
const maxDelayMs = 80

export interface TextFindings {
  accepted: number
  /** Problems: everything that must not be; empty when all is well. */
  problems: string[]
  /** Copies that handsets got beyond the first. */
  arrivedAgain: number
  /** Number of texts that may have: those under way when a node died. */
  mayArriveAgain: number
}

export class Texts {
  readonly installation: Installation
  readonly #smsc: SmscSimulator
  readonly #account: Account
  readonly #random: () => number
  /** Text -> how often the handsets got it. */
  readonly #arrivals: ReadonlyMap<string, number>
  /** Accepted text -> its parts. */
  readonly #accepted = new Map<string, number>()
  #rounds = 0

  private constructor(
    installation: Installation,
    smsc: SmscSimulator,
    account: Account,
    arrivals: ReadonlyMap<string, number>,
    random: () => number,
  ) {
    this.installation = installation
    this.#smsc = smsc
    this.#account = account
    this.#arrivals = arrivals
    this.#random = random
  }

  static async start(random: () => number): Promise<Texts> {
    const arrivals = new Map<string, number>()
    const smsc = await SmscSimulator.start({
      accounts: { pamoja: 'secret' },
      onMessage: ({ text }) => arrivals.set(text, (arrivals.get(text) ?? 0) + 1),
    })
    const installation = await startInstallation({
      nodes: 1,
      database: 'shared',
      environment: { PAMOJA_RATE_LIMITS: 'off' },
    })
    const operator = installation.operator()
    const bind = { name: 'centre', host: '127.0.0.1', port: smsc.port, system_id: 'pamoja', password: 'secret', window }
    await operator.post('/v1/operator/sms/binds', bind)
    await operator.post('/v1/operator/sms/routes', { environment: 'test', tiers: [[{ bind: 'centre' }]] })
    await eventually(
      async () => (await operator.get('/v1/operator/sms/routes')).body.data[0]?.in_force,
      'the route to be in force',
    )
    return new Texts(installation, smsc, await installation.account({ credit }), arrivals, random)
  }

  /** Sends a round of texts and kills the node among them; each is sent again under its key until it is accepted. */
  async round(): Promise<void> {
    const sent = this.#sendAll(this.#rounds++)
    await pause(50 + this.#random() * 700)
    await this.installation.killNode(0)
    await this.installation.startNode(0)
    await sent
  }

  /**
   * A second centre stands by, and the first goes away without a word while texts are sent. Gives the longest time from the
   * acceptance of a text to its arrival. The first centre does not come back.
   */
  async failover(): Promise<number> {
    const arrivedMs = new Map<string, number>()
    const spare = await SmscSimulator.start({
      accounts: { spare: 'secret' },
      delayMs: 0,
      onMessage: ({ text }) => arrivedMs.set(text, performance.now()),
    })
    try {
      const operator = this.installation.operator()
      const bind = { name: 'spare', host: '127.0.0.1', port: spare.port, system_id: 'spare', password: 'secret' }
      await operator.post('/v1/operator/sms/binds', bind)
      const { body: routes } = await operator.get('/v1/operator/sms/routes')
      const tiers = [[{ bind: 'centre' }], [{ bind: 'spare' }]]
      await operator.patch(`/v1/operator/sms/routes/${routes.data[0].id}`, { tiers })
      await eventually(async () => spare.sessions.size > 0, 'the second centre to be bound')
      this.#smsc.dropSessions()
      const stopped = this.#smsc.stop()
      const acceptedMs = new Map<string, number>()
      for (let i = 0; i < messagesPerRound; i++) {
        const message = `past the centre that is gone ${i}`
        const { status, text } = await this.installation
          .client(0, this.#account.key)
          .post('/v1/sms/send', { to: `+25472230${1_000 + i}`, from: 'PAMOJA', message })
        if (status !== 200) throw new Error(`a text was answered ${status} ${text}`)
        acceptedMs.set(message, performance.now())
      }
      await stopped
      await eventually(async () => arrivedMs.size >= messagesPerRound, 'every text to arrive at the second centre')
      return Math.max(...[...acceptedMs].map(([message, atMs]) => (arrivedMs.get(message) ?? 0) - atMs))
    } finally {
      await spare.stop()
    }
  }

  /** Waits until every text came to its end, and says what is not as it must be. */
  async examine(): Promise<TextFindings> {
    const { installation } = this
    await eventually(
      async () => {
        const [left] = await installation.sql<{ left: number }>(
          `select count(*)::int as left from sms.messages where status in ('queued', 'sent')`,
        )
        return left?.left === 0
      },
      'every text to come to its end',
      90_000,
    )
    const accepted = this.#accepted.size
    const spent = [...this.#accepted.values()].reduce((sum, parts) => sum + parts, 0) * pricePerPart
    const expected = Math.round((credit - spent) * 100) / 100
    const balance = await installation.balance(this.#account)
    const arrivedAgain = [...this.#arrivals.values()].reduce((sum, times) => sum + times - 1, 0)
    // What was not answered, and what was answered and not yet stored, goes out again; everything else must not.
    const mayArriveAgain = this.#rounds * window * 4
    const states = await installation.sql<{ status: string; count: number }>(
      'select status, count(*)::int from sms.messages group by status',
    )
    const misjudged = await installation.sql<{ resource_id: string; told: string }>(
      `select resource_id, string_agg(body::jsonb ->> 'status', ' ' order by id) as told from events.events
        where type = 'sms.status' group by resource_id
       having array_agg(body::jsonb ->> 'status' order by id) <> array['sent', 'delivered']`,
    )
    const jobs = await installation.sql<{ lane: string }>(`select lane from work.jobs where lane like 'sms.%'`)
    const costs = await installation.sql<{ id: string }>(
      `select m.id from sms.messages m
        where m.cost <> (select coalesce(sum(case when t.debit = 'wallet' then t.amount else -t.amount end), 0)
                           from ledger.transfers t
                          where t.bucket = m.bucket and t.account_id = m.account_id and t.environment = m.environment
                            and t.source_id = m.id)`,
    )
    const { problems: ledgerProblems } = await verifyLedger(installation.db)
    return {
      accepted,
      arrivedAgain,
      mayArriveAgain,
      problems: [
        ...installation.crashes,
        ...states
          .filter(({ status, count }) => status !== 'delivered' || count !== accepted)
          .map(({ status, count }) => `${count} of ${accepted} texts are ${status}`),
        ...[...this.#accepted.keys()]
          .filter((text) => !this.#arrivals.has(text))
          .map((text) => `never arrived: ${text}`),
        ...misjudged.map(({ resource_id, told }) => `${resource_id} was told of as ${told}`),
        ...costs.map(({ id }) => `${id} was not charged what it costs`),
        ...(balance === expected ? [] : [`the wallet holds ${balance}, not ${expected}`]),
        ...(arrivedAgain <= mayArriveAgain ? [] : [`${arrivedAgain} texts arrived again`]),
        ...jobs.map(({ lane }) => `a job of ${lane} is left over`),
        ...ledgerProblems,
      ],
    }
  }

  async stop(): Promise<void> {
    await this.installation.stop()
    await this.#smsc.stop()
  }

  async #sendAll(round: number): Promise<void> {
    const left = Array.from({ length: messagesPerRound }, (_, i) => i)
    const sender = async (): Promise<void> => {
      for (let i = left.shift(); i !== undefined; i = left.shift()) await this.#send(round, i)
    }
    await Promise.all(Array.from({ length: atOnce }, sender))
  }

  async #send(round: number, i: number): Promise<void> {
    // Some are of two parts, and some have their receipts early and twice; the delay of each is another.
    const parts = i % 5 === 0 ? 2 : 1
    const message = `round ${round}, text ${i}`.padEnd(parts === 1 ? 0 : 200, '.')
    const to = i % 3 === 0 ? '+254711000009' : `+25472230${1_000 + i}`
    const key = randomUUID()
    await eventually(
      async () => {
        this.#smsc.delayMs = this.#random() * maxDelayMs
        const { status } = await this.installation
          .client(0, this.#account.key)
          .post('/v1/sms/send', { to, from: 'PAMOJA', message }, { headers: { 'idempotency-key': key } })
          .catch(() => ({ status: 0 }))
        return status === 200
      },
      `${message} to be accepted`,
      60_000,
    )
    this.#accepted.set(message, parts)
  }
}
