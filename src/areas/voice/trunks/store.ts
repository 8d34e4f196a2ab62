// SPDX-License-Identifier: Apache-2.0
// SQL of trunks and rates by prefix. A trunk is a SIP connection to a telephone carrier.
import type { App } from '../../../platform/app.ts'
import { stored } from '../../../platform/db/stored.ts'
import { statement } from '../../../platform/db.ts'
import type { Codec } from '../../../protocols/audio/codec.ts'
import type { SrtpPolicy } from '../../../protocols/sdp/session-description.ts'
import type { TransportName } from '../../../protocols/sip/transport.ts'
import type { NumberFormat } from './number-form.ts'

/** What the network asks for a minute to a prefix, in the currency that the operator compares trunks in. */
interface TrunkCost {
  prefix: string
  minute: number
}

export interface TrunkRow {
  name: string
  host: string
  port: number
  transport: TransportName
  domain: string | null
  username: string | null
  secret: Buffer | null
  sealed_bucket: number | null
  sealed_account: string | null
  registers: boolean
  prefixes: string[]
  priority: number
  max_calls: number
  sources: string[]
  number_format: NumberFormat
  country: string | null
  srtp: SrtpPolicy
  codecs: Codec[]
  weight: number
  costs: TrunkCost[]
  caller_ids: string[]
  caller_id: string | null
  follows_redirects: boolean
  follows_transfers: boolean
  transfers_to: string[]
  enabled: boolean
  created_at: Date
  updated_at: Date
}

const written =
  stored(`host, port, transport, domain, username, secret, sealed_bucket, sealed_account, registers, prefixes::text[],
  priority, max_calls, sources::text[], number_format, country, srtp, codecs::text[], weight, costs::jsonb, caller_ids::text[], caller_id,
  follows_redirects, follows_transfers, transfers_to::text[], enabled`)

const columns = `name, ${written.names}, created_at, updated_at`

export type TrunkParameters = Omit<TrunkRow, 'created_at' | 'updated_at' | 'costs'> & {
  /** As JSON. */
  costs: string
  at: Date
}

export const selectTrunks = statement.home<Record<never, never>, TrunkRow>(
  'voice.list_trunks',
  `select ${columns} from voice.trunks order by name`,
)

export const lockTrunk = statement.home<{ name: string }, TrunkRow>(
  'voice.lock_trunk',
  `select ${columns} from voice.trunks where name = $name for update`,
)

export const insertTrunk = statement.home<TrunkParameters, TrunkRow>(
  'voice.insert_trunk',
  `insert into voice.trunks (${columns}) values ($name, ${written.values}, $at, $at) on conflict do nothing returning ${columns}`,
)

export const updateTrunk = statement.home<TrunkParameters, TrunkRow>(
  'voice.update_trunk',
  `update voice.trunks set ${written.set}, updated_at = $at where name = $name returning ${columns}`,
)

export const deleteTrunk = statement.home<{ name: string }, { name: string }>(
  'voice.delete_trunk',
  'delete from voice.trunks where name = $name returning name',
)

export interface RateRow {
  prefix: string
  currency: string
  minute_micros: bigint
  updated_at: Date
}

export const selectRates = statement.home<Record<never, never>, RateRow>(
  'voice.list_rates',
  'select prefix, currency, minute_micros, updated_at from voice.rates order by prefix, currency',
)

export const setRate = statement.home<{ prefix: string; currency: string; minute: bigint; at: Date }, RateRow>(
  'voice.set_rate',
  `insert into voice.rates (prefix, currency, minute_micros, updated_at) values ($prefix, $currency, $minute, $at)
   on conflict (prefix, currency) do update set minute_micros = excluded.minute_micros, updated_at = excluded.updated_at
   returning prefix, currency, minute_micros, updated_at`,
)

export const deleteRate = statement.home<{ prefix: string; currency: string }, { prefix: string }>(
  'voice.delete_rate',
  'delete from voice.rates where prefix = $prefix and currency = $currency returning prefix',
)

/** Signal topic for changed trunks and rates. */
export const trunkTopic = 'voice-trunks'

const secretPlace = (name: string) => `voice.trunks.secret:${name}`

export function sealPassword(
  app: App,
  owner: { bucket: number; account: string },
  name: string,
  password: string,
): Promise<Buffer> {
  return app.secrets.seal(owner, secretPlace(name), password)
}

/** Password of a trunk; null when it needs none. */
export async function passwordOf(app: App, row: TrunkRow): Promise<string | null> {
  if (row.secret === null || row.sealed_bucket === null || row.sealed_account === null) return null
  const owner = { bucket: row.sealed_bucket, account: row.sealed_account }
  return (await app.secrets.open(owner, secretPlace(row.name), row.secret)).toString()
}
