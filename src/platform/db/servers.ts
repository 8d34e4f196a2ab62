// SPDX-License-Identifier: Apache-2.0
// Servers of a database: one address, or several (`postgres://user@first,second/db`) of which one takes writes. When
// that one is lost, the others are asked which of them does so now.
import pg from 'pg'
import { serversIn } from '../../config/setting.ts'

const probeMs = 3_000
const searchPauseMs = 250

export class Servers {
  readonly #urls: readonly string[]
  readonly #applicationName: string
  #current: string
  #search: Promise<void> | null = null

  constructor(url: string, applicationName: string) {
    this.#urls = serversIn(url)
    this.#current = this.#urls[0] ?? url
    this.#applicationName = applicationName
  }

  /** Connection string of the server that takes writes, as far as is known. */
  get url(): string {
    return this.#current
  }

  /** Finds the server that takes writes; throws what the first said when none does. One server is not searched. */
  async find(): Promise<void> {
    if (this.#urls.length < 2) return
    try {
      this.#current = await Promise.any(this.#urls.map((url) => this.#writable(url)))
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error
    }
  }

  /** Starts a search after a connection failed or was refused a write; one at a time. */
  lost(): void {
    if (this.#urls.length < 2 || this.#search) return
    this.#search = this.find()
      .catch(() => undefined)
      // While no server takes writes, each failed request asks for a search: the pause bounds them.
      .then(() => new Promise<void>((resolve) => setTimeout(resolve, searchPauseMs).unref()))
      .finally(() => {
        this.#search = null
      })
  }

  async #writable(url: string): Promise<string> {
    const client = new pg.Client({
      connectionString: url,
      application_name: this.#applicationName,
      connectionTimeoutMillis: probeMs,
      query_timeout: probeMs,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
      if (rows[0]?.standby !== false) throw new Error('every server of DATABASE_URL that answers is a standby')
      return url
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}
