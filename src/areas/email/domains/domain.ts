// SPDX-License-Identifier: Apache-2.0
// Sending domain: its required DNS records and their status.
import type { Static } from 'typebox'
import { Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { At, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { edwardsSelector, type PublicKeys } from './keys.ts'

/** Keys before the last rotation. */
interface PreviousKeys {
  readonly selector: string
  readonly public_keys: PublicKeys
  /** Published at least until then; ISO 8601. */
  readonly until: string
}

export interface DomainRow {
  id: string
  domain: string
  status: 'pending' | 'verified' | 'failed'
  token: string
  selector: string
  private_keys: Buffer
  public_keys: PublicKeys
  previous: PreviousKeys | null
  dkim_record: 'cname' | 'txt'
  tracking_subdomain: string
  return_path_subdomain: string
  /** Status of each record by purpose, and the wrong value found. */
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
  /** Key of the stored status: two records may share a purpose. */
  readonly key: string
}

const RecordShape = Type.Object({
  type: OneOf(['TXT', 'CNAME'], { description: 'Kind of record' }),
  name: Type.String({ description: 'Full name of the record' }),
  value: Type.String({ description: 'Required value of the record' }),
  purpose: OneOf(['verification', 'dkim', 'return_path', 'tracking', 'dmarc'], { description: 'Intended use' }),
  required: Type.Boolean({ description: 'True if the record is required for verification' }),
  status: OneOf(recordStatuses, { description: 'Result of the last DNS check' }),
  found: Type.Optional(Type.String({ description: 'Value found in DNS, if it is wrong' })),
})

export const DomainRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the domain' }),
    domain: Type.String({ description: 'Sending domain' }),
    status: OneOf(['pending', 'verified', 'failed'], { description: 'Only a `verified` domain can send' }),
    created_at: At({ description: 'Time at which it was added' }),
    verified_at: Nullable(At({ description: 'Time at which its records were first found' })),
    last_checked_at: Nullable(At({ description: 'Time of the last DNS check' })),
    last_error: Nullable(Type.String({ description: 'Error of that check' })),
    dkim_selector: Type.String({ description: 'Selector of the current signing key' }),
    records: Type.Array(RecordShape, { description: 'Required DNS records, with the values found' }),
    dns_records: Type.Array(RecordShape, { description: 'Alias of records' }),
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
    | 'previous'
    | 'dkim_record'
    | 'tracking_subdomain'
    | 'return_path_subdomain'
  >,
  mailHost: string,
): WantedRecord[] {
  const { domain, token, selector, public_keys, previous } = row
  return [
    {
      type: 'TXT',
      name: `_pamoja.${domain}`,
      value: `pamoja-verification=${token}`,
      purpose: 'verification',
      required: true,
      key: 'verification',
    },
    ...keyRecords(row, mailHost, { selector, public_keys }, { rsa: 'dkim', ed25519: 'dkim_ed25519' }, true),
    ...(previous
      ? keyRecords(row, mailHost, previous, { rsa: 'dkim_previous', ed25519: 'dkim_previous_ed25519' }, false)
      : []),
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

function keyRecords(
  { id, domain, dkim_record }: Pick<DomainRow, 'id' | 'domain' | 'dkim_record'>,
  mailHost: string,
  { selector, public_keys }: { selector: string; public_keys: PublicKeys },
  keys: { rsa: string; ed25519: string },
  required: boolean,
): WantedRecord[] {
  const one = (name: string, value: string, key: string, isRequired: boolean): WantedRecord => ({
    ...(dkim_record === 'txt'
      ? { type: 'TXT', value }
      : { type: 'CNAME', value: `${keyLabel(id, name)}.dkim.${mailHost}` }),
    name: `${name}._domainkey.${domain}`,
    purpose: 'dkim',
    required: isRequired,
    key,
  })
  return [
    one(selector, public_keys.rsa, keys.rsa, required),
    one(edwardsSelector(selector), public_keys.ed25519, keys.ed25519, false),
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
