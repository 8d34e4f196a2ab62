// SPDX-License-Identifier: Apache-2.0
// A node that sends over one bind to a message centre, each a process of its own, for benchmarks of the way of a message.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../src/platform/postgres.ts'
import { Client } from '../test/client.ts'
import { eventually } from '../test/eventually.ts'
import { kannelAccounts } from '../test/interop/kannel.ts'
import { end, type NodeProcess, start, startNodeProcess } from './children.ts'
import { newHome } from './home.ts'

export interface SmsInstallation {
  home: string
  node: NodeProcess
  operator: Client
  centrePort: number
  /** Bytes of write-ahead log written up to now. */
  walBytes(): Promise<number>
  /** What of the write-ahead log since so many bytes is of which table or index, of all its partitions; bytes and records. */
  walBy(since: number): Promise<readonly { of: string; bytes: number; records: number }[]>
  /** A new account with money; gives its key. */
  account(): Promise<string>
  /** Has messages go over a new bind with these settings from now on. */
  bind(settings: { window: number; rate?: number }): Promise<void>
  /** The watched texts that reached handsets since it was asked last, and when. */
  arrivals(): Promise<readonly (readonly [string, number])[]>
  stop(): Promise<void>
}

/** A record that changes several blocks counts for each in equal parts; one that changes none is told by what wrote it. */
const logByTable = `
  with log as (select '0/0'::pg_lsn + $1::numeric as since, pg_current_wal_flush_lsn() as upto),
  blocks as (
    select b.start_lsn, b.record_length::float8 / count(*) over (partition by b.start_lsn) as bytes,
           1.0::float8 / count(*) over (partition by b.start_lsn) as records,
           regexp_replace(coalesce(pg_filenode_relation(b.reltablespace, b.relfilenode)::regclass::text, 'gone'),
                          '_(default|\\d{8})', '') || ' ' || b.resource_manager || ' ' ||
           replace(b.record_type, '+INIT', '') || case when b.block_fpi_length > 0 then ' full page' else '' end as of
      from log, pg_get_wal_block_info(log.since, log.upto) b),
  bare as (
    select r.start_lsn, r.record_length::float8, 1.0::float8, r.resource_manager || ' ' || r.record_type
      from log, pg_get_wal_records_info(log.since, log.upto) r where r.block_ref is null or r.block_ref = '')
  select of, sum(bytes)::float8 as bytes, sum(records)::float8 as records
    from (select * from blocks union all select * from bare) parts group by of order by bytes desc`

interface Options {
  environment: 'test' | 'live'
  /** Beginning of the texts that are reported by the centre. */
  watched?: string
}

export async function startSmsInstallation({ environment, watched = '' }: Options): Promise<SmsInstallation> {
  const home = await newHome()
  const accounts = JSON.stringify({ pamoja: 'secret', ...kannelAccounts })
  const centre = await start<{ port: number }>('./sms-centre.js', [accounts, watched], {})
  const postgres = await startPostgres({ dir: join(home, 'postgres') })
  const node = await startNodeProcess({
    PAMOJA_HOME: home,
    PAMOJA_RATE_LIMITS: 'off',
    DATABASE_URL: postgres.url,
    // The customer is here, and called in the clear as by others.
    PAMOJA_WEBHOOKS_ALLOW_HTTP: 'true',
    PAMOJA_WEBHOOKS_ALLOW_CIDRS: '127.0.0.0/8',
  })
  const database = new pg.Client({ connectionString: postgres.url })
  await database.connect()
  const operator = new Client(node.url, readFileSync(node.caFile, 'utf8'), node.credentials.operator_key)
  const address = { host: '127.0.0.1', port: centre.said.port, system_id: 'pamoja', password: 'secret' }
  let binds = 0
  return {
    home,
    node,
    operator,
    centrePort: centre.said.port,
    async walBytes() {
      const { rows } = await database.query<{ bytes: string }>("select pg_current_wal_insert_lsn() - '0/0' as bytes")
      return Number(rows[0]?.bytes ?? 0)
    },
    async walBy(since) {
      await database.query('create extension if not exists pg_walinspect')
      const { rows } = await database.query<{ of: string; bytes: number; records: number }>(logByTable, [since])
      return rows
    },
    async account() {
      const opened = { name: 'Bench', country: 'KE', currency: 'KES', plan: 'enterprise' }
      const { body } = await operator.post('/v1/operator/accounts', opened)
      const credit = { amount: 1_000_000_000, currency: 'KES', environment, reference: 'bench' }
      await done(operator.post(`/v1/operator/accounts/${body.id}/credit`, credit))
      if (environment === 'test') return body.test_api_key
      const live = await operator.as(body.test_api_key).post('/v1/api-keys', { name: 'Live', environment })
      const price = { area: 'sms', unit: 'segment', country: 'LS', amount: 0.8, currency: 'KES' }
      await done(operator.post('/v1/operator/prices', price))
      return live.body.key
    },
    async bind(settings) {
      const bind = `centre-${++binds}`
      await done(operator.post('/v1/operator/sms/binds', { name: bind, ...address, ...settings }))
      const tiers = [[{ bind }]]
      const { body: routes } = await operator.get('/v1/operator/sms/routes')
      await done(
        routes.data.length === 0
          ? operator.post('/v1/operator/sms/routes', { environment, tiers })
          : operator.patch(`/v1/operator/sms/routes/${routes.data[0].id}`, { tiers }),
      )
      await eventually(async () => {
        const { body: made } = await operator.get('/v1/operator/sms/binds')
        const { body: now } = await operator.get('/v1/operator/sms/routes')
        const isBound = made.data.some((one: { name: string; bound: number }) => one.name === bind && one.bound > 0)
        return isBound && now.data[0].in_force
      }, 'the bind to be in use')
    },
    async arrivals() {
      centre.child.send('arrivals')
      const [{ arrivals }] = await once(centre.child, 'message')
      return arrivals
    },
    async stop() {
      operator.close()
      await database.end()
      await end(node.child)
      await postgres.stop()
      await end(centre.child)
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function done(reply: ReturnType<Client['post']>): Promise<void> {
  const { status, text } = await reply
  if (status >= 300) throw new Error(`the operator was answered ${status} ${text}`)
}
