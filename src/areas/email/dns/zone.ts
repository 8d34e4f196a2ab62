// SPDX-License-Identifier: Apache-2.0
// DNS zone delegated to this service: the targets of customers' CNAME records. Keys are looked up by label; other names
// are fixed.
import type { App } from '../../../platform/app.ts'
import { maybe, statement } from '../../../platform/db.ts'
import type { Answer, DnsRecord, RecordType } from '../../../protocols/dns/wire.ts'

const keyTtl = 3_600

const findKey = statement.home<{ label: string }, { value: string }>(
  'email.find_published_key',
  'select value from email.published_keys where label = $label',
)

export async function answerZone(app: App, name: string, type: RecordType | null): Promise<Answer> {
  const { PAMOJA_MAIL_HOST: zone } = app.config
  if (name !== zone && !name.endsWith(`.${zone}`)) return { code: 'refused', answers: [] }
  const records = name.endsWith(`.dkim.${zone}`)
    ? await keyAt(app, name, zone)
    : fixedRecords(app, zone).filter((one) => one.name === name)
  const soa: DnsRecord = { name: zone, type: 'SOA', value: `${zone} hostmaster.${zone} 1 7200 900 1209600 300` }
  const answers = [...records, ...(name === zone ? [soa] : [])].filter((one) => one.type === type)
  const isKnown = records.length > 0 || name === zone
  return { code: isKnown ? 'ok' : 'nonexistent', answers, ...(answers.length === 0 ? { authority: [soa] } : {}) }
}

async function keyAt(app: App, name: string, zone: string): Promise<DnsRecord[]> {
  const label = name.slice(0, -`.dkim.${zone}`.length)
  const found = await maybe(app.db.query(findKey, { label }))
  return found ? [{ name, type: 'TXT', value: found.value, ttl: keyTtl }] : []
}

function fixedRecords(app: App, zone: string): DnsRecord[] {
  const addresses = app.config.PAMOJA_MAIL_ADDRESSES
  const hosts = [zone, `rp.${zone}`, `track.${zone}`].flatMap((name) =>
    addresses.map((value): DnsRecord => ({ name, type: value.includes(':') ? 'AAAA' : 'A', value })),
  )
  const allowed = addresses.map((value) => `${value.includes(':') ? 'ip6' : 'ip4'}:${value}`).join(' ')
  return [
    ...hosts,
    { name: zone, type: 'NS', value: zone },
    { name: zone, type: 'MX', value: `10 ${zone}` },
    { name: `rp.${zone}`, type: 'MX', value: `10 ${zone}` },
    { name: zone, type: 'TXT', value: `v=spf1 ${allowed} -all` },
    { name: `rp.${zone}`, type: 'TXT', value: `v=spf1 ${allowed} -all` },
  ]
}
