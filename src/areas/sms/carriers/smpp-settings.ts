// SPDX-License-Identifier: Apache-2.0
// Settings of a message centre, and which binds lead to the same one.
import { X509Certificate } from 'node:crypto'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { type Static, Type } from 'typebox'
import { invalid } from '../../../kernel/errors.ts'
import { fitter } from '../../../platform/http/validate.ts'
import { Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { type Alphabet, alphabets, type Joining, joinings } from '../../../protocols/smpp/charset.ts'
import { addressTypes } from '../../../protocols/smpp/pdu.ts'
import type { IdForm } from '../../../protocols/smpp/receipts.ts'
import type { Bind } from './bind.ts'

const IdSetting = (where: string) =>
  OneOf(['exact', 'text', 'hex', 'decimal'], {
    default: 'exact',
    description: `Form in which the message centre writes ids in ${where}`,
  })

/** A host name, as the DNS or a container network has it, or an address of either version. */
const hostForm = '^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?\\.?|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9._-]+)?)$'

/** Texts as long as SMPP allows. */
export const SmppSettings = Type.Object({
  host: Type.String({
    maxLength: 253,
    pattern: hostForm,
    rule: 'must be a host name or address',
    description: 'Host of the message centre',
  }),
  port: Type.Integer({
    minimum: 1,
    maximum: 65_535,
    rule: 'must be 1 to 65535',
    description: 'TCP port of the message centre',
  }),
  tls: Type.Boolean({
    default: false,
    rule: 'must be true or false',
    description: 'True to use TLS. The certificate must be for the host, of a public authority or of tls_ca',
  }),
  tls_ca: Nullable(Type.String({ maxLength: 65_536 }), {
    default: null,
    rule: 'must be null, or at most 65,536 characters of PEM',
    description: 'Trusted CA certificates in PEM, besides the public ones',
  }),
  system_id: Type.String({
    minLength: 1,
    maxLength: 15,
    rule: 'must have 1 to 15 characters',
    description: 'SMPP system_id, assigned by the operator of the centre',
  }),
  password: Type.String({ maxLength: 8, rule: 'must have at most 8 characters', sensitive: true }),
  system_type: Type.String({
    default: '',
    maxLength: 12,
    rule: 'must have at most 12 characters',
    description: 'SMPP system_type, where the centre requires one; mostly empty',
  }),
  service_type: Type.String({
    default: '',
    pattern: '^[!-~]{0,5}$',
    rule: 'must have at most 5 letters, digits or signs of ASCII',
    description: 'SMPP service_type of every text, such as `CMT`; mostly empty',
  }),
  bind_mode: OneOf(['transceiver', 'pair'], {
    default: 'transceiver',
    description: 'Kind of connection: one that sends and receives, or a `pair` of a transmitter and a receiver',
  }),
  sessions: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 32,
    rule: 'must be 1 to 32',
    description: 'Number of sessions with the centre',
  }),
  enquire_link_seconds: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 3_600,
    rule: 'must be 1 to 3600',
    description: 'Seconds of silence after which the connection is tested',
  }),
  centre: Nullable(Type.String({ pattern: '^[a-z][a-z0-9-]{0,39}$' }), {
    default: null,
    rule: 'must be null, or have 1 to 40 small letters, digits or -, and begin with a letter',
    description:
      'Name of the message centre, shared by all its binds, because receipts may arrive over any of them. Not ' +
      'needed by binds with the same host, port and system_id',
  }),
  answer_ids: IdSetting('answers'),
  receipt_ids: IdSetting('receipts'),
  concatenation: OneOf(joinings, {
    default: 'udh',
    description:
      'Form of a long message: in parts with a header of 8-bit (`udh`) or 16-bit (`udh16`) reference, in parts with ' +
      '`sar` parameters, or whole in the parameter message_payload (`payload`)',
  }),
  alphabet: OneOf(alphabets, {
    default: 'gsm',
    description: 'Alphabet of data_coding 0 at the message centre, in both directions',
  }),
  short_code_ton: Type.Integer({
    default: addressTypes.network.ton,
    minimum: 0,
    maximum: 6,
    rule: 'must be 0 to 6',
    description: 'Type of number (TON) for short codes as senders',
  }),
  short_code_npi: Type.Integer({
    default: addressTypes.network.npi,
    minimum: 0,
    maximum: 18,
    rule: 'must be 0 to 18',
    description: 'Numbering plan (NPI) for short codes as senders',
  }),
})

/** Refuses what the schema cannot. */
export function checkSmpp({ tls_ca: ca }: Static<typeof SmppSettings>): void {
  if (ca === null) return
  // The settings are shown to operators.
  if (ca.includes('PRIVATE KEY')) throw invalid('tls_ca', 'must hold no private key')
  const certificates = ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
  } catch {
    throw invalid('tls_ca', 'has a certificate that cannot be read')
  }
  if (certificates.length === 0) throw invalid('tls_ca', 'must hold certificates in PEM')
}

function trusting(ca: string | null): SecureContext {
  return createSecureContext({ minVersion: 'TLSv1.2', ...(ca === null ? {} : { ca: [...rootCertificates, ca] }) })
}

const isPlaced = fitter(Type.Pick(SmppSettings, ['host', 'port', 'system_id', 'centre']))

/** The port is part of it: at the end of tunnels operators have one host, and may know us by one system_id. */
export function centreOf(shown: object): string | null {
  if (!isPlaced(shown)) return null
  return shown.centre ?? `${shown.host.toLowerCase()}:${shown.port} ${shown.system_id}`
}

export interface SmppBind {
  readonly name: string
  readonly host: string
  readonly port: number
  /** TLS context; null when the centre does not speak TLS. */
  readonly tls: SecureContext | null
  readonly systemId: string
  readonly password: string
  readonly systemType: string
  readonly serviceType: string
  /** Whether a session is a pair: one that sends and one that receives. */
  readonly isPaired: boolean
  readonly sessions: number
  /** Parts without an answer, of one session. */
  readonly window: number
  /** Parts per second, of all sessions; null: as fast as the centre takes them. */
  readonly ratePerSecond: number | null
  readonly enquireLinkSeconds: number
  /** An answer that takes longer does not come. */
  readonly responseTimeoutSeconds: number
  /** Form of ids in the centre's answers, and in receipts. */
  readonly answerIds: IdForm
  readonly receiptIds: IdForm
  /** Concatenation of long messages. */
  readonly concatenation: Joining
  /** Alphabet of texts with data_coding 0. */
  readonly alphabet: Alphabet
  /** Type of number for short codes as senders. */
  readonly shortCodes: { readonly ton: number; readonly npi: number }
}

export function smppBindOf(
  { name, window, ratePerSecond, responseTimeoutSeconds }: Bind,
  settings: Static<typeof SmppSettings>,
): SmppBind {
  return {
    name,
    host: settings.host,
    port: settings.port,
    tls: settings.tls ? trusting(settings.tls_ca) : null,
    systemId: settings.system_id,
    password: settings.password,
    systemType: settings.system_type,
    serviceType: settings.service_type,
    isPaired: settings.bind_mode === 'pair',
    sessions: settings.sessions,
    window,
    ratePerSecond,
    enquireLinkSeconds: settings.enquire_link_seconds,
    responseTimeoutSeconds,
    answerIds: settings.answer_ids,
    receiptIds: settings.receipt_ids,
    concatenation: settings.concatenation,
    alphabet: settings.alphabet,
    shortCodes: { ton: settings.short_code_ton, npi: settings.short_code_npi },
  }
}
