// SPDX-License-Identifier: Apache-2.0
// Consents of customers, as the channels keep them: opt-outs of texts, opt-ins and opt-outs of chats, suppressions of mail. What
// somebody agreed to for texts and mail, and all they said of calls, of which the channels keep no list, is kept here; a withdrawal
// always wins over what was granted before.
import type { Static } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { type Queryable, statement, type Tx } from '../../platform/db.ts'
import { copyField } from '../../platform/http/request-log.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import { allowMail, stopMail, suppressionsOf } from '../email/area.ts'
import {
  contactsOf,
  forgetOptIn,
  optIn as optIntoChats,
  optManyIn as optManyIntoChats,
  optOut as optOutOfChats,
} from '../messenger/area.ts'
import { everySender, optIn as optIntoTexts, optOut as optOutOfTexts, optOutsOf } from '../sms/area.ts'
import type { Addresses } from './addresses.ts'
import { type Change, type Consent, consentChannels, purposes } from './schema.ts'

type ShownConsent = Static<typeof Consent>
type Wish = NonNullable<Change['consents']>[number]
type ConsentChannel = Wish['channel']

const saveGrant = statement.tenant<
  Tenant & { channel: string; address: string; purpose: string; state: string; source: string | null; at: Date },
  object
>(
  'customers.save_grant',
  `insert into customers.grants (bucket, account_id, environment, channel, address, purpose, state, source, granted_at)
   values ($bucket, $account, $environment, $channel, $address, $purpose, $state, $source, $at)
   on conflict (bucket, account_id, environment, channel, address, purpose) do update
     set state = excluded.state, source = excluded.source, granted_at = excluded.granted_at`,
)

const removeGrant = statement.tenant<Tenant & { channel: string; address: string; purpose: string }, object>(
  'customers.remove_grant',
  `delete from customers.grants
    where ${mine} and channel = $channel and address = $address and purpose = $purpose and state = 'granted'`,
)

const grantsOf = statement.tenant<
  Tenant & { texts: readonly string[]; mails: readonly string[]; calls: readonly string[] },
  {
    channel: 'sms' | 'email' | 'voice'
    address: string
    purpose: (typeof purposes)[number]
    state: 'granted' | 'withdrawn'
    source: string | null
    granted_at: Date
  }
>(
  'customers.grants_of',
  // Looked up by the key, as `findOwners` is.
  `select g.channel, g.address, g.purpose, g.state, g.source, g.granted_at
     from (select 'sms' as channel, unnest($texts::text[]) as address
           union all select 'email', unnest($mails::text[])
           union all select 'voice', unnest($calls::text[])) w
    cross join lateral (
      select o.channel, o.address, o.purpose, o.state, o.source, o.granted_at from customers.grants o
       where o.bucket = $bucket and o.account_id = $account and o.environment = $environment
         and o.channel = w.channel and o.address = w.address limit ${purposes.length}) g`,
)

/** Consents of customers by some channels, in the order of the customers: a withdrawal hides what was granted before. */
export async function consentsOf(
  queryable: Queryable,
  tenant: Tenant,
  customers: readonly Addresses[],
  at: Date,
  channels: readonly ConsentChannel[] = consentChannels,
): Promise<ShownConsent[][]> {
  const said = await saidBy(queryable, tenant, customers, at, channels)
  const stopped = new Set(said.flatMap((one) => (one.state === 'withdrawn' ? keyOf(one, one.address) : [])))
  const byAddress = new Map<string, ShownConsent[]>()
  for (const one of said)
    if (one.state === 'withdrawn' || !stopped.has(keyOf(one, one.address)))
      byAddress.set(one.address, [...(byAddress.get(one.address) ?? []), one])
  return customers.map((one) => [...one.phones, ...one.emails].flatMap((address) => byAddress.get(address) ?? []))
}

/** All that customers granted and withdrew, as far as it is kept. */
export async function saidBy(
  queryable: Queryable,
  tenant: Tenant,
  customers: readonly Addresses[],
  at: Date,
  channels: readonly ConsentChannel[] = consentChannels,
): Promise<ShownConsent[]> {
  const phones = customers.flatMap((one) => one.phones)
  const emails = customers.flatMap((one) => one.emails)
  const of = (channel: ConsentChannel): readonly string[] =>
    channels.includes(channel) ? (channel === 'email' ? emails : phones) : []
  const [texts, chats, mails, calls] = [of('sms'), of('messenger'), of('email'), of('voice')]
  const isKept = texts.length + mails.length + calls.length > 0
  const kept = isKept ? await queryable.query(grantsOf, { ...tenant, texts, mails, calls }) : []
  return [
    ...(texts.length === 0 ? [] : await textsOf(queryable, tenant, texts)),
    ...(chats.length === 0 ? [] : await chatsOf(queryable, tenant, chats)),
    ...(mails.length === 0 ? [] : await mailsOf(queryable, tenant, mails, at)),
    ...kept.map(({ granted_at, ...one }) => ({ ...one, from: null, at: granted_at })),
  ]
}

function keyOf({ channel, purpose }: Pick<ShownConsent, 'channel' | 'purpose'>, address: string): string {
  return `${channel} ${purpose} ${address}`
}

async function textsOf(queryable: Queryable, tenant: Tenant, phones: readonly string[]): Promise<ShownConsent[]> {
  const optOuts = await optOutsOf(queryable, tenant, phones)
  return optOuts.flatMap(({ phone, sender, source, created_at }) =>
    ofPurposes(sender === everySender ? purposes : ['marketing'], {
      ...{ channel: 'sms', state: 'withdrawn', address: phone, from: sender === everySender ? null : sender },
      ...{ source, at: created_at },
    }),
  )
}

async function chatsOf(queryable: Queryable, tenant: Tenant, phones: readonly string[]): Promise<ShownConsent[]> {
  const contacts = await contactsOf(queryable, tenant, phones)
  return contacts.flatMap(({ phone, opted_in_at, opted_out_at, source }) =>
    (
      [
        ['withdrawn', opted_out_at],
        ['granted', opted_in_at],
      ] as const
    ).flatMap(([state, at]) =>
      at === null ? [] : ofPurposes(purposes, { channel: 'messenger', state, address: phone, from: null, source, at }),
    ),
  )
}

async function mailsOf(
  queryable: Queryable,
  tenant: Tenant,
  emails: readonly string[],
  at: Date,
): Promise<ShownConsent[]> {
  const suppressions = await suppressionsOf(queryable, tenant, emails, at)
  return suppressions.flatMap(({ email, reason, applies_to, created_at }) =>
    ofPurposes(applies_to === 'all' ? purposes : ['marketing'], {
      ...{ channel: 'email', state: 'withdrawn', address: email, from: null, source: reason, at: created_at },
    }),
  )
}

function ofPurposes(
  which: readonly (typeof purposes)[number][],
  consent: Omit<ShownConsent, 'purpose'>,
): ShownConsent[] {
  return which.map((purpose) => ({ ...consent, purpose }))
}

/** Writes consents of a customer to the lists of the channels. */
export async function writeConsents(
  app: App,
  tx: Tx,
  caller: Caller,
  customer: Addresses,
  wishes: readonly Wish[],
): Promise<void> {
  for (const [i, wish] of wishes.entries())
    for (const address of addressesOf(customer, wish, i)) {
      const { channel, purpose, state, source = null } = wish
      const refusal = await channelsOf[channel][state](app, tx, caller, { address, purpose, source })
      if (refusal !== null)
        throw new AppError(
          'CONFLICT',
          `consents[${i}]: mail to ${address} came back or was called spam (${refusal}). Use DELETE /v1/email/suppressions if they want mail again`,
        )
      await keep(tx, caller, wish, address)
    }
}

/** Keeps what no list of a channel tells: what was granted for texts and mail, and all that was said of calls. */
async function keep(tx: Tx, { tenant, nowMs }: Caller, wish: Wish, address: string): Promise<void> {
  const { channel, purpose, state, source = null } = wish
  if (channel === 'messenger') return
  const key = { ...tenant, channel, address, purpose }
  if (state === 'granted' || (state === 'withdrawn' && channel === 'voice'))
    await tx.query(saveGrant, { ...key, state, source, at: new Date(nowMs) })
  else await tx.query(removeGrant, key)
}

/** Wish of an imported customer, for each of their addresses that it is about. */
export interface ImportedWish {
  readonly wish: Wish
  readonly address: string
  /** Customer whose address it is. */
  readonly customer: string
}

/** Wishes of an imported customer by address. Throws VALIDATION_ERROR. */
export function importedWishes(addresses: Addresses, wishes: readonly Wish[], customer: string): ImportedWish[] {
  if (wishes.length === 0) return []
  return wishes.flatMap((wish, i) => addressesOf(addresses, wish, i).map((address) => ({ wish, address, customer })))
}

/** Columns of consents that were not known, with COPY; it fails with a unique violation for one that is. */
const grantedColumns = [
  ...['bucket', 'account_id', 'environment', 'channel', 'address', 'purpose', 'source', 'granted_at'],
]

/** Consents that the addresses of wishes have: what is wished and by whom -> what is known. */
export async function knownConsents(
  app: App,
  caller: Caller,
  wanted: readonly ImportedWish[],
): Promise<ReadonlyMap<string, string>> {
  const [phones, emails] = [new Set<string>(), new Set<string>()]
  const channels = new Set<ConsentChannel>()
  for (const { wish, address } of wanted) {
    channels.add(wish.channel)
    if (wish.channel === 'email') emails.add(address)
    else phones.add(address)
  }
  const addresses = { phones: [...phones], emails: [...emails] }
  const known = await consentsOf(app.db, caller.tenant, [addresses], new Date(caller.nowMs), [...channels])
  return new Map(known.flat().map((one) => [keyOf(one, one.address), one.from === null ? one.state : 'partly']))
}

/**
 * Writes consents of many customers. Unlike a request, a file takes back no withdrawal: it may be older than that. Returns the
 * customers of whom something was written, and how many consents were not granted because they were withdrawn.
 */
export async function importConsents(
  app: App,
  tx: Tx,
  caller: Caller,
  wanted: readonly ImportedWish[],
  states: ReadonlyMap<string, string>,
): Promise<{ changed: Set<string>; withdrawn: number }> {
  const changed = new Set<string>()
  // The last of the file counts.
  const wishes = new Map<string, ImportedWish>()
  for (const one of wanted) wishes.set(keyOf(one.wish, one.address), one)
  const granted: ImportedWish[] = []
  let withdrawn = 0
  for (const [key, one] of wishes) {
    const state = states.get(key) ?? 'unknown'
    const { channel, purpose, state: wish, source = null } = one.wish
    if (wish === 'granted' && (state === 'withdrawn' || state === 'partly')) withdrawn++
    if (wish === state || (wish === 'granted' && state !== 'unknown') || (wish === 'unknown' && state !== 'granted'))
      continue
    changed.add(one.customer)
    if (wish === 'granted') {
      granted.push(one)
      continue
    }
    await channelsOf[channel][wish](app, tx, caller, { address: one.address, purpose, source })
    await keep(tx, caller, one.wish, one.address)
  }
  const chats = granted.filter(({ wish }) => wish.channel === 'messenger')
  const kept = granted.filter(({ wish }) => wish.channel !== 'messenger')
  if (kept.length > 0) {
    const { bucket, account, environment } = caller.tenant
    const own = `${bucket}\t${account}\t${environment}\t`
    const at = new Date(caller.nowMs).toISOString()
    const lines = kept
      .map(({ address, wish: { channel, purpose, source = null } }) => {
        return `${channel}\t${copyField(address)}\t${purpose}\t${copyField(source)}\t${at}\n`
      })
      .sort()
    await tx.copyIn(bucket, 'customers.grants', grantedColumns, [own + lines.join(own)])
  }
  const optedIn = new Map(chats.map(({ address, wish }) => [address, wish.source ?? null]))
  if (optedIn.size > 0) await optManyIntoChats(tx, caller, optedIn)
  return { changed, withdrawn }
}

function addressesOf({ phones, emails }: Addresses, { channel, address }: Wish, index: number): readonly string[] {
  const own = channel === 'email' ? emails : phones
  if (address === undefined) {
    if (own.length === 0)
      throw invalid(
        `consents[${index}]`,
        `needs ${channel === 'email' ? 'an email address' : 'a phone number'} of the customer`,
      )
    return own
  }
  const named = channel === 'email' ? address.toLowerCase() : address
  if (!own.includes(named)) throw invalid(`consents[${index}].address`, 'must be one of the customer')
  return [named]
}

interface Written {
  readonly address: string
  readonly purpose: (typeof purposes)[number]
  readonly source: string | null
}

/** Writes one consent of an address; returns why it cannot be written, null for nothing. */
type WriteConsent = (app: App, tx: Tx, caller: Caller, consent: Written) => Promise<string | null>

const channelsOf: Readonly<Record<Wish['channel'], Readonly<Record<Wish['state'], WriteConsent>>>> = {
  sms: {
    unknown: async () => null,
    async granted(app, tx, caller, { address }) {
      await optIntoTexts(app, tx, caller, address)
      return null
    },
    async withdrawn(app, tx, caller, { address, source }) {
      await optOutOfTexts(app, tx, caller, { phone: address, reason: source })
      return null
    },
  },
  messenger: {
    async unknown(_app, tx, caller, { address }) {
      await forgetOptIn(tx, caller, address)
      return null
    },
    async granted(_app, tx, caller, { address, source }) {
      await optIntoChats(tx, caller, address, source)
      return null
    },
    async withdrawn(_app, tx, caller, { address }) {
      await optOutOfChats(tx, caller, address)
      return null
    },
  },
  voice: { unknown: async () => null, granted: async () => null, withdrawn: async () => null },
  email: {
    unknown: async () => null,
    granted: (_app, tx, caller, { address }) => allowMail(tx, caller, address),
    async withdrawn(_app, tx, caller, { address, purpose }) {
      await stopMail(tx, caller, address, purpose === 'marketing' ? 'bulk' : 'all')
      return null
    },
  },
}
