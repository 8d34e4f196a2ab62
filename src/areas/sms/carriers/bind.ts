// SPDX-License-Identifier: Apache-2.0
// A bind: the operator's word for a connection to a carrier. What every bind has stands here; what one kind of carrier
// needs beyond that is declared by the kind itself, checked when an operator gives it and again when it is read back.
import { randomBytes } from 'node:crypto'
import type { Static, TObject, TProperties } from 'typebox'
import type { App } from '../../../platform/app.ts'
import type { Probe } from '../../../platform/connections/probe.ts'
import { statement } from '../../../platform/db.ts'
import { bodyChecker } from '../../../platform/http/validate.ts'
import type { Outbound } from '../../../platform/outbound.ts'
import type { Owner } from '../../../platform/secrets.ts'
import type { Carrier, Intake } from '../carrier.ts'
import { masked } from './masking.ts'

const tokenBytes = 24

export interface Bind {
  readonly name: string
  readonly kind: string
  /** Messages, or parts, without an answer. */
  readonly window: number
  /** Messages, or parts, per second; null: as fast as the carrier takes them. */
  readonly ratePerSecond: number | null
  /** An answer that takes longer does not come. */
  readonly responseTimeoutSeconds: number
  /** Token that a calling carrier must bring. */
  readonly token: string
  /** Settings as the kind checks them, with the password. */
  readonly settings: object
}

/** Surroundings of a carrier. */
export interface Surroundings extends Pick<App, 'log'> {
  readonly intake: Intake
  readonly http: Outbound
  /** Whether this node still has the bind, by its own clock: nothing is sent when it has not. */
  isOurs(): boolean
  /** Our public address for carriers, without a trailing slash. Known once requests are taken. */
  publicUrl(): string
}

/** A kind of carrier. */
export interface CarrierKind {
  /** Settings of such a bind, with the sentence for each invalid field. */
  readonly fields: TProperties
  /** Whether the carrier calls us, with receipts and messages. */
  readonly isCalled: boolean
  /** Fills in what was left out, and throws VALIDATION_ERROR for what is wrong. */
  check(settings: object): object
  /** Settings as operators see them: without the password, and with stars for other possible secrets. */
  shown(settings: object): object
  /** Identity of the message centre, from the visible settings; null: no other bind leads there. */
  centre(shown: object): string | null
  open(bind: Bind, surroundings: Surroundings): Carrier
  /** Tries whether the carrier can be reached and lets us in. */
  test(bind: Bind, probe: Probe): Promise<void>
}

export function carrierKind<S extends TObject>(declared: {
  settings: S
  isCalled?: boolean
  /** Refuses what the schema cannot. */
  check?(settings: Static<S>): void
  centre?(shown: object): string | null
  open(bind: Bind, settings: Static<S>, surroundings: Surroundings): Carrier
  test(bind: Bind, settings: Static<S>, probe: Probe): Promise<void>
}): CarrierKind {
  const { settings: schema } = declared
  const checkShape = bodyChecker(schema)
  const check = (given: object): Static<S> & object => {
    const { value } = checkShape(withDefaults(schema, given))
    declared.check?.(value)
    return Object(value)
  }
  return {
    fields: schema.properties,
    isCalled: declared.isCalled ?? false,
    check,
    shown: (settings) => {
      const { password: _, ...others }: { password?: unknown } = { ...settings }
      return Object(masked(schema, withDefaults(schema, others)))
    },
    centre: (shown) => declared.centre?.(withDefaults(schema, shown)) ?? null,
    open: (bind, surroundings) => declared.open(bind, check(bind.settings), surroundings),
    test: (bind, probe) => declared.test(bind, check(bind.settings), probe),
  }
}

/** Settings with the schema's defaults. */
function withDefaults({ properties }: TObject, given: object): object {
  const defaults = Object.entries(properties).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default]] : [],
  )
  return { ...Object.fromEntries(defaults), ...given }
}

export interface BindRow {
  name: string
  kind: string
  /** Settings as operators see them. */
  settings: object
  secret: Buffer
  sealed_bucket: number
  sealed_account: string
  window_size: number
  rate: number | null
  response_timeout_seconds: number
  enabled: boolean
  created_at: Date
  updated_at: Date
}

export const bindColumns = `name, kind, settings, secret, sealed_bucket, sealed_account, window_size, rate,
  response_timeout_seconds, enabled, created_at, updated_at`

export const findBind = statement.home<{ name: string }, BindRow>(
  'sms.find_bind',
  `select ${bindColumns} from sms.binds where name = $name`,
)

export function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url')
}

interface Secret {
  password: string
  token: string
  /** The others; a bind that was last changed before these were sealed has them in the clear. */
  settings?: object
}

export async function sealSecret(app: App, owner: Owner, name: string, secret: Secret): Promise<Buffer> {
  return app.secrets.seal(owner, secretPlace(name), JSON.stringify(secret))
}

/** A bind with its secrets opened. */
export async function bindOf(app: Pick<App, 'secrets'>, row: BindRow): Promise<Bind> {
  const owner = { bucket: row.sealed_bucket, account: row.sealed_account }
  const secret: Secret = JSON.parse((await app.secrets.open(owner, secretPlace(row.name), row.secret)).toString())
  return {
    name: row.name,
    kind: row.kind,
    window: row.window_size,
    ratePerSecond: row.rate,
    responseTimeoutSeconds: row.response_timeout_seconds,
    token: secret.token,
    settings: { ...(secret.settings ?? row.settings), password: secret.password },
  }
}

function secretPlace(bind: string): string {
  return `sms.binds.secret:${bind}`
}

/** URL to which a calling carrier sends receipts or inbound messages. */
export function noticeUrl(publicUrl: string, { name, token }: Bind, what: 'receipts' | 'inbound'): string {
  return `${publicUrl}/carriers/sms/${name}/${what}?token=${token}`
}
