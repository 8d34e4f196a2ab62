// SPDX-License-Identifier: Apache-2.0
// SQL of operators' gateways, and their protocol profiles.
import { createSecureContext } from 'node:tls'
import { type Static, Type } from 'typebox'
import Value from 'typebox/value'
import type { App } from '../../../platform/app.ts'
import { statement } from '../../../platform/db.ts'
import { standardProfile, type UssdProfile } from '../../../protocols/smpp/ussd.ts'
import type { LineSettings } from './line.ts'

const Octet = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 255, rule: 'must be 0 to 255', description }))
const Tag = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, rule: 'must be 1 to 65535', description }))

/** Protocol profile: differences from SMPP 3.4. */
export const Profile = Type.Object(
  {
    service_type: Type.Optional(
      Type.String({
        pattern: '^[!-~]{0,5}$',
        rule: 'must have at most 5 letters, digits or signs of ASCII',
        description: 'SMPP service_type of every screen; default `USSD`',
      }),
    ),
    op_tag: Tag('Tag of the parameter with the operation; 1281 (0x0501) is ussd_service_op'),
    session_tag: Tag('Tag of the parameter that names the dialog; 4995 (0x1383) is its_session_info'),
    dialog_bytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 6,
        rule: 'must be 1 to 6',
        description: 'Length of the dialog number in octets',
      }),
    ),
    ops: Type.Optional(
      Type.Object(
        {
          dialled: Octet('Subscriber dialled a code; default 1'),
          asks: Octet('Screen that can be answered; default 2'),
          tells: Octet('Screen that cannot be answered; default 3'),
          ends: Octet('Last screen of a session; default 17'),
          answered: Octet('Subscriber answered a screen; default 18'),
          aborted: Octet('Subscriber aborted the session; default 129'),
          released: Octet('Network aborted the session; default 130'),
        },
        { description: 'Octet of each operation' },
      ),
    ),
  },
  { title: 'UssdGatewayProfile', description: 'Differences of the gateway from SMPP 3.4; default none' },
)

export function profileOf(given: unknown): UssdProfile {
  const own: Static<typeof Profile> = Value.Check(Profile, given) ? given : {}
  const { ops } = standardProfile
  return {
    serviceType: own.service_type ?? standardProfile.serviceType,
    opTag: own.op_tag ?? standardProfile.opTag,
    sessionTag: own.session_tag ?? standardProfile.sessionTag,
    dialogBytes: own.dialog_bytes ?? standardProfile.dialogBytes,
    ops: {
      dialled: own.ops?.dialled ?? ops.dialled,
      asks: own.ops?.asks ?? ops.asks,
      tells: own.ops?.tells ?? ops.tells,
      ends: own.ops?.ends ?? ops.ends,
      answered: own.ops?.answered ?? ops.answered,
      aborted: own.ops?.aborted ?? ops.aborted,
      released: own.ops?.released ?? ops.released,
    },
  }
}

export interface GatewayRow {
  name: string
  host: string
  port: number
  tls: boolean
  system_id: string
  system_type: string
  sealed: Buffer
  bind_mode: 'transceiver' | 'pair'
  window_size: number
  response_timeout_seconds: number
  enquire_link_seconds: number
  prefixes: string[]
  profile: unknown
  enabled: boolean
  is_up: boolean
  last_error: string | null
  created_at: Date
  updated_at: Date
}

export const gatewayColumns = `name, host, port, tls, system_id, system_type, sealed, bind_mode, window_size,
  response_timeout_seconds, enquire_link_seconds, prefixes, profile, enabled, is_up, last_error, created_at, updated_at`

export const listGateways = statement.home<Record<never, never>, GatewayRow>(
  'ussd.list_smpp_gateways',
  `select ${gatewayColumns} from ussd.smpp_gateways order by name`,
)

/** Gateways for a push to a number: connected, as their node last said, those with the longest matching prefix first. */
export const gatewaysTowards = statement.home<{ phone: string }, { name: string; profile: unknown }>(
  'ussd.gateways_towards',
  `select g.name, g.profile
     from ussd.smpp_gateways g
     left join lateral (select max(length(p)) as length from unnest(g.prefixes) p where starts_with($phone, p)) best on true
    where g.enabled and g.is_up and (g.prefixes = '{}' or best.length is not null)
    order by best.length desc nulls last, g.name`,
)

export const noteGateway = statement.home<{ name: string; isUp: boolean; problem: string | null }, object>(
  'ussd.note_smpp_gateway',
  'update ussd.smpp_gateways set is_up = $isUp, last_error = coalesce($problem::text, last_error) where name = $name',
)

/** Sessions of a gateway that waited for their application, or to be shown, when its node was lost. Index: dialogs_newest. */
export const leftBehind = statement.everywhere<
  { gateway: string; since: string },
  { bucket: number; account_id: string; environment: 'test' | 'live'; id: string }
>(
  'ussd.left_behind',
  `select s.bucket, s.account_id, s.environment, s.id
     from ussd.dialogs d
     join ussd.sessions s
       on s.bucket = d.bucket and s.account_id = d.account_id and s.environment = d.environment and s.id = d.session
    where d.gateway = $gateway and d.session >= $since::uuid and (s.awaiting = 'app'
          or s.awaiting = 'user' and s.direction = 'push' and s.status = 'initiated' and s.shown_at is null)
    order by s.id limit 10000`,
)

/** Gateway name stored in sessions. */
export function gatewayName(name: string): string {
  return `smpp:${name}`
}

/** Operator's gateway of a session; null when it is another kind. */
export function nameOfGateway(gateway: string): string | null {
  return gateway.startsWith('smpp:') ? gateway.slice('smpp:'.length) : null
}

export function sealPlace(name: string): string {
  return `ussd.smpp_gateways.sealed:${name}`
}

export function lineSettings({ secrets }: Pick<App, 'secrets'>, row: GatewayRow): LineSettings {
  return {
    name: gatewayName(row.name),
    host: row.host,
    port: row.port,
    tls: row.tls ? createSecureContext({ minVersion: 'TLSv1.2' }) : null,
    systemId: row.system_id,
    password: secrets.openForInstallation(sealPlace(row.name), row.sealed).toString('utf8'),
    systemType: row.system_type,
    isPaired: row.bind_mode === 'pair',
    window: row.window_size,
    responseTimeoutMs: row.response_timeout_seconds * 1_000,
    enquireLinkMs: row.enquire_link_seconds * 1_000,
    profile: profileOf(row.profile),
  }
}
