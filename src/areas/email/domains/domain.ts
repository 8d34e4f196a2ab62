// SPDX-License-Identifier: Apache-2.0
// A domain that an account sends from: the DNS records it needs, and what looking them up says.
import type { Static } from 'typebox'
import { Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { At, Nullable, OneOf } from '../../../platform/schema.ts'
import { edwardsSelector, type PublicKeys } from './keys.ts'

export interface DomainRow {
  id: string
  domain: string
  status: 'pending' | 'verified' | 'failed'
  token: string
  selector: string
  private_keys: Buffer
  public_keys: PublicKeys
  dkim_record: 'cname' | 'txt'
  tracking_subdomain: string
  return_path_subdomain: string
  /** Status of each record, by its purpose, and what was found where it is wrong. */
  records: Record<string, string>
  last_error: string | null
  missing_since: Date | null
  created_at: Date
  verified_at: Date | null
  last_checked_at: Date | null
}

const recordStatuses = ['pending', 'valid', 'invalid', 'missing'] as const
type RecordStatus = (typeof recordStatuses)[number]

export interface WantedRecord {
  readonly type: 'TXT' | 'CNAME'
  readonly name: string
  readonly value: string
  readonly purpose: 'verification' | 'dkim' | 'return_path' | 'tracking' | 'dmarc'
  readonly required: boolean
  /** Name under which its status is stored: two records may have one purpose. */
  readonly key: string
}

const RecordShape = Type.Object({
  type: OneOf(['TXT', 'CNAME']),
  name: Type.String(),
  value: Type.String(),
  purpose: OneOf(['verification', 'dkim', 'return_path', 'tracking', 'dmarc']),
  required: Type.Boolean(),
  status: OneOf(recordStatuses),
  found: Type.Optional(Type.String()),
})

export const DomainRecord = Type.Object(
  {
    id: Type.String(),
    domain: Type.String(),
    status: OneOf(['pending', 'verified', 'failed']),
    created_at: At(),
    verified_at: Nullable(At()),
    last_checked_at: Nullable(At()),
    last_error: Nullable(Type.String()),
    dkim_selector: Type.String(),
    records: Type.Array(RecordShape),
    dns_records: Type.Array(RecordShape),
  },
  { title: 'EmailDomain' },
)

/** Label of a key under dkim.{mail_host}. */
export function keyLabel(id: string, selector: string): string {
  return `${idOf('emailDomain', id).replace('_', '-')}-${selector}`
}

export function wantedRecords(
  row: Pick<
    DomainRow,
    | 'id'
    | 'domain'
    | 'token'
    | 'selector'
    | 'public_keys'
    | 'dkim_record'
    | 'tracking_subdomain'
    | 'return_path_subdomain'
  >,
  mailHost: string,
): WantedRecord[] {
  const { id, domain, token, selector, public_keys, dkim_record } = row
  const key = (name: string, value: string) =>
    dkim_record === 'txt'
      ? { type: 'TXT' as const, value }
      : { type: 'CNAME' as const, value: `${keyLabel(id, name)}.dkim.${mailHost}` }
  const edwards = edwardsSelector(selector)
  return [
    {
      type: 'TXT',
      name: `_pamoja.${domain}`,
      value: `pamoja-verification=${token}`,
      purpose: 'verification',
      required: true,
      key: 'verification',
    },
    {
      ...key(selector, public_keys.rsa),
      name: `${selector}._domainkey.${domain}`,
      purpose: 'dkim',
      required: true,
      key: 'dkim',
    },
    {
      ...key(edwards, public_keys.ed25519),
      name: `${edwards}._domainkey.${domain}`,
      purpose: 'dkim',
      required: false,
      key: 'dkim_ed25519',
    },
    {
      type: 'CNAME',
      name: `${row.return_path_subdomain}.${domain}`,
      value: `rp.${mailHost}`,
      purpose: 'return_path',
      required: false,
      key: 'return_path',
    },
    {
      type: 'CNAME',
      name: `${row.tracking_subdomain}.${domain}`,
      value: `track.${mailHost}`,
      purpose: 'tracking',
      required: false,
      key: 'tracking',
    },
    {
      type: 'TXT',
      name: `_dmarc.${domain}`,
      value: `v=DMARC1; p=none; rua=mailto:dmarc@${mailHost}`,
      purpose: 'dmarc',
      required: false,
      key: 'dmarc',
    },
  ]
}

export function recordOf(row: DomainRow, mailHost: string): Static<typeof DomainRecord> {
  const records = wantedRecords(row, mailHost).map(({ key, ...wanted }) => {
    const found = row.records[`${key}.found`]
    return { ...wanted, status: statusOf(row.records[key]), ...(found === undefined ? {} : { found }) }
  })
  const { domain, status, created_at, verified_at, last_checked_at, last_error, selector } = row
  return {
    id: idOf('emailDomain', row.id),
    domain,
    status,
    created_at,
    verified_at,
    last_checked_at,
    last_error,
    dkim_selector: selector,
    records,
    dns_records: records,
  }
}

function statusOf(text: string | undefined): RecordStatus {
  return recordStatuses.find((one) => one === text) ?? 'pending'
}
