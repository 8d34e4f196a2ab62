// SPDX-License-Identifier: Apache-2.0
// Routes of domains: register, read, verify, rotate keys, delete.
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { parseDomain } from '../../../kernel/email-address.ts'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { dayMs, minuteMs } from '../../../kernel/time.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Need, read, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import { Deleted, listQuery, OneOf } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import { mailWorld, sandboxDomain } from '../mail-world.ts'
import { checkDomain, checkJob, disown, domainColumns, firstCheckMs, labelsOf, unpublish } from './check.ts'
import { DomainRecord, type DomainRow, recordOf, wantedRecords } from './domain.ts'
import { newKeys, publicKeysOf, sealKeys } from './keys.ts'
import { announceDomains } from './senders.ts'

const checksPerMinute = 6
/** Time that rotated keys stay published, for mail in transit. */
const publishedMs = 7 * dayMs
/** Public suffixes: registries, not a company's own domain. */
const publicSuffixes = new Set(
  'co.ke or.ke ac.ke go.ke ne.ke sc.ke co.tz or.tz co.ug or.ug co.za org.za com.ng org.ng com.gh co.uk org.uk com.eg co.zw co.zm com.et co.rw co.mz co.ao'.split(
    ' ',
  ),
)

const insert = statement.tenant<
  One & {
    domain: string
    token: string
    selector: string
    privateKeys: Buffer
    publicKeys: string
    dkimRecord: string
    tracking: string
    returnPath: string
    at: Date
  },
  DomainRow
>(
  'email.insert_domain',
  `insert into email.domains (bucket, account_id, environment, id, domain, status, token, selector, private_keys, public_keys, dkim_record,
     tracking_subdomain, return_path_subdomain, created_at)
   values ($bucket, $account, $environment, $id, $domain, 'pending', $token, $selector, $privateKeys, $publicKeys::jsonb, $dkimRecord, $tracking,
     $returnPath, $at)
   on conflict do nothing returning ${domainColumns}`,
)

const find = statement.tenant<Tenant & { id: string | null; domain: string }, DomainRow>(
  'email.find_domain',
  `select ${domainColumns} from email.domains where ${mine} and (id = $id::uuid or domain = $domain)`,
)

const ownerOf = statement.home<{ environment: string; domain: string }, { account_id: string }>(
  'email.owner_of_domain',
  'select account_id from email.domain_owners where environment = $environment and domain = $domain',
)

const publishKeys = statement.home<{ labels: readonly string[]; values: readonly string[] }, object>(
  'email.publish_keys',
  `insert into email.published_keys (label, value) select k.label, k.value from unnest($labels::text[], $values::text[]) as k(label, value)
   on conflict (label) do update set value = excluded.value`,
)

async function requireDomain(queryable: Queryable, named: string, { tenant }: Caller): Promise<DomainRow> {
  const row = await maybe(
    queryable.query(find, { ...tenant, id: uuidOf('emailDomain', named), domain: named.toLowerCase() }),
  )
  if (!row) throw new AppError('DOMAIN_NOT_FOUND', `there is no domain ${named.slice(0, 253)}`)
  return row
}

function registrable(app: App, text: string): string {
  const domain = parseDomain(text.trim())
  const { PAMOJA_MAIL_HOST: mailHost } = app.config
  if (!domain) throw new AppError('INVALID_DOMAIN', 'domain must be a name such as shop.example')
  if (publicSuffixes.has(domain))
    throw new AppError('INVALID_DOMAIN', `${domain} is a public suffix: register a name under it`)
  if (
    [mailHost, sandboxDomain].some((own) => domain === own || domain.endsWith(`.${own}`) || own.endsWith(`.${domain}`))
  )
    throw new AppError('INVALID_DOMAIN', `${domain} is the name of this service`)
  return domain
}

const label = (rule: string, description: string) =>
  Type.String({ pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$', rule, description })

/** A verified domain belongs to one account of the installation, so each example needs its own. */
const aDomain: Need = {
  operation: 'email.createDomain',
  id: 'id',
  body: () => ({ domain: `${randomBytes(6).toString('hex')}.example` }),
}

const createDomain = writeAcross({
  method: 'POST',
  path: '/v1/email/domains',
  operation: 'email.createDomain',
  simulated: true,
  summary: 'Register a sending domain',
  scope: 'email:manage',
  limit: 'email',
  body: Type.Object({
    domain: Type.String({ minLength: 1, maxLength: 253, description: 'Sending domain, such as `shop.example`' }),
    tracking_subdomain: Type.Optional(
      label('must be one label, such as link', 'Subdomain of tracked links; default `link`'),
    ),
    return_path_subdomain: Type.Optional(label('must be one label, such as rp', 'Subdomain of bounces; default `rp`')),
    dkim_record: Type.Optional(
      OneOf(['cname', 'txt'], {
        description:
          'DNS record of the signing key: `cname` (default) allows rotation without a change of your DNS; `txt` holds the key itself',
      }),
    ),
  }),
  reply: { status: 201, schema: DomainRecord, location: ({ id }) => `/v1/email/domains/${id}` },
  errors: ['INVALID_DOMAIN', 'DOMAIN_EXISTS'],
  examples: [{ name: 'The domain of a shop', body: { domain: 'shop.example' } }],
  prepare: async (app, { body }, { tenant, receivedMs }) => {
    const domain = registrable(app, body.domain)
    const id = newUuid(receivedMs)
    const pairs = await newKeys()
    return { domain, id, publicKeys: publicKeysOf(pairs), sealed: await sealKeys(app, tenant, id, pairs) }
  },
  handle: async (app, tx, { body }, caller, { domain, id, publicKeys, sealed }) => {
    const { tenant } = caller
    const owner = await maybe(tx.query(ownerOf, { environment: tenant.environment, domain }))
    if (owner && owner.account_id !== tenant.account)
      throw new AppError('DOMAIN_EXISTS', 'the domain is verified by another account')
    const row = await maybe(
      tx.query(insert, {
        ...tenant,
        id,
        domain,
        token: randomBytes(16).toString('hex'),
        selector: 'pj1',
        privateKeys: sealed,
        publicKeys: JSON.stringify(publicKeys),
        dkimRecord: body.dkim_record ?? 'cname',
        tracking: body.tracking_subdomain ?? 'link',
        returnPath: body.return_path_subdomain ?? 'rp',
        at: new Date(caller.nowMs),
      }),
    )
    if (!row) {
      const known = await requireDomain(tx, domain, caller)
      throw new AppError('DOMAIN_EXISTS', `${domain} is registered already`, {
        extra: { id: idOf('emailDomain', known.id) },
      })
    }
    await publish(app, tx, tenant, row)
    await app.work.add(tx, app.work.prepare(checkJob, tenant, { domain: id }, { key: id, delayMs: firstCheckMs }))
    await record(tx, caller, 'email_domain.create', idOf('emailDomain', id), { after: { domain } })
    return recordOf(row, app.config.PAMOJA_MAIL_HOST)
  },
})

/** Publishes the keys in the DNS; in the sandbox, all records a customer would add. */
async function publish(app: App, tx: Tx, { environment }: Tenant, row: DomainRow): Promise<void> {
  const labels = labelsOf(row.id, row.selector)
  await tx.query(publishKeys, { labels, values: [row.public_keys.rsa, row.public_keys.ed25519] })
  const world = environment === 'test' ? mailWorld.of(app) : null
  if (world) tx.afterCommit(() => publishInSandbox(app, row))
}

function publishInSandbox(app: App, row: DomainRow): void {
  for (const { name, type, value } of wantedRecords(row, app.config.PAMOJA_MAIL_HOST))
    mailWorld.of(app)?.publish({ name, type, value })
}

const listAll = statement.tenant<Tenant & { after: string | null; descending: boolean; limit: number }, DomainRow>(
  'email.list_domains',
  `select ${domainColumns} from email.domains
    where ${mine} and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

const listDomains = list({
  path: '/v1/email/domains',
  operation: 'email.listDomains',
  summary: 'List your domains',
  scope: 'email:read',
  query: Type.Object(listQuery),
  row: DomainRecord,
  handle: async (app, { query }, caller) => {
    const window = windowOf(query)
    return pageOf(window, await app.db.query(listAll, { ...caller.tenant, ...window }), (row) =>
      recordOf(row, app.config.PAMOJA_MAIL_HOST),
    )
  },
})

const DomainParam = Type.Object({ id: Type.String({ description: 'Id or name' }) })

const getDomain = read({
  method: 'GET',
  path: '/v1/email/domains/:id',
  operation: 'email.getDomain',
  summary: 'Get a domain by id or name',
  scope: 'email:read',
  params: DomainParam,
  needs: aDomain,
  reply: { status: 200, schema: DomainRecord },
  errors: ['DOMAIN_NOT_FOUND'],
  handle: async (app, { params }, caller) =>
    recordOf(await requireDomain(app.db, params.id, caller), app.config.PAMOJA_MAIL_HOST),
})

const verifyDomain = read({
  method: 'POST',
  path: '/v1/email/domains/:id/verify',
  operation: 'email.verifyDomain',
  simulated: true,
  summary: 'Verify a domain’s DNS records',
  scope: 'email:manage',
  limit: 'email',
  params: DomainParam,
  needs: aDomain,
  reply: { status: 200, schema: DomainRecord },
  errors: ['DOMAIN_NOT_FOUND', 'RATE_LIMIT_EXCEEDED'],
  handle: async (app, { params }, caller) => {
    const { id } = await requireDomain(app.db, params.id, caller)
    const { refusedBy } = await app.limits.admit([
      { name: 'email-verify', key: `email-verify:${id}`, limit: checksPerMinute, windowMs: minuteMs, shared: true },
    ])
    if (refusedBy && app.config.PAMOJA_RATE_LIMITS !== 'off')
      throw new AppError('RATE_LIMIT_EXCEEDED', `a domain can be verified ${checksPerMinute} times a minute`, {
        retryAfterSeconds: Math.max(1, Math.ceil(refusedBy.resetMs / 1000)),
      })
    const row = await checkDomain(app, caller.tenant, id, caller.requestId)
    if (!row) throw new AppError('DOMAIN_NOT_FOUND', 'the domain was removed in the meantime')
    return recordOf(row, app.config.PAMOJA_MAIL_HOST)
  },
})

const rotate = statement.tenant<
  One & { from: string; selector: string; privateKeys: Buffer; publicKeys: string; until: string },
  DomainRow
>(
  'email.rotate_domain',
  `update email.domains
      set previous = jsonb_build_object('selector', selector, 'public_keys', public_keys, 'until', $until::text),
          previous_keys = private_keys, selector = $selector, private_keys = $privateKeys, public_keys = $publicKeys::jsonb,
          records = jsonb_strip_nulls(records - 'dkim' - 'dkim_ed25519' || jsonb_build_object(
            'dkim_previous', records -> 'dkim', 'dkim_previous_ed25519', records -> 'dkim_ed25519'))
    where ${mine} and id = $id and selector = $from and previous is null
   returning ${domainColumns}`,
)

const rotateDkim = writeAcross({
  method: 'POST',
  path: '/v1/email/domains/:id/rotate-dkim',
  operation: 'email.rotateDkim',
  simulated: true,
  summary: 'Rotate a domain’s DKIM keys',
  description:
    'Mail is signed with the old keys until the records of the new selector are found. The old keys stay published for at least 7 days.',
  scope: 'email:manage',
  limit: 'email',
  params: DomainParam,
  needs: aDomain,
  reply: { status: 200, schema: DomainRecord },
  errors: ['DOMAIN_NOT_FOUND', 'CONFLICT'],
  prepare: async (app, { params }, caller) => {
    const { id } = await requireDomain(app.db, params.id, caller)
    const pairs = await newKeys()
    return { publicKeys: publicKeysOf(pairs), sealed: await sealKeys(app, caller.tenant, id, pairs) }
  },
  handle: async (app, tx, { params }, caller, { publicKeys, sealed }) => {
    const { tenant } = caller
    const known = await requireDomain(tx, params.id, caller)
    const selector = `pj${Number(known.selector.slice('pj'.length)) + 1}`
    const row = await maybe(
      tx.query(rotate, {
        ...tenant,
        id: known.id,
        from: known.selector,
        selector,
        privateKeys: sealed,
        publicKeys: JSON.stringify(publicKeys),
        until: new Date(caller.nowMs + publishedMs).toISOString(),
      }),
    )
    if (!row)
      throw new AppError('CONFLICT', 'the keys were rotated within the last 7 days, or the new ones are not in use yet')
    await publish(app, tx, tenant, row)
    await announceDomains(app, tx, tenant)
    const id = idOf('emailDomain', row.id)
    await record(tx, caller, 'email_domain.rotate_dkim', id, {
      before: { selector: known.selector },
      after: { selector },
    })
    return recordOf(row, app.config.PAMOJA_MAIL_HOST)
  },
})

const remove = statement.tenant<One, object>(
  'email.delete_domain',
  `delete from email.domains where ${mine} and id = $id`,
)

const deleteDomain = writeAcross({
  method: 'DELETE',
  path: '/v1/email/domains/:id',
  operation: 'email.deleteDomain',
  simulated: true,
  summary: 'Remove a domain',
  scope: 'email:manage',
  limit: 'email',
  params: DomainParam,
  needs: aDomain,
  reply: { status: 200, schema: Deleted },
  errors: ['DOMAIN_NOT_FOUND'],
  handle: async (app, tx, { params }, caller) => {
    const { tenant } = caller
    const row = await requireDomain(tx, params.id, caller)
    await tx.query(remove, { ...tenant, id: row.id })
    await tx.query(disown, { environment: tenant.environment, domain: row.domain, account: tenant.account })
    const selectors = [row.selector, ...(row.previous ? [row.previous.selector] : [])]
    await tx.query(unpublish, { labels: selectors.flatMap((selector) => labelsOf(row.id, selector)) })
    if (tenant.environment === 'test')
      tx.afterCommit(() =>
        wantedRecords(row, app.config.PAMOJA_MAIL_HOST).forEach(
          ({ name, type }) => void mailWorld.of(app)?.withdraw(name, type),
        ),
      )
    await announceDomains(app, tx, tenant)
    await record(tx, caller, 'email_domain.delete', idOf('emailDomain', row.id), { before: { domain: row.domain } })
    return { id: idOf('emailDomain', row.id), deleted: true as const }
  },
})

const everyTestDomain = statement.everywhere<{ buckets: readonly number[] }, DomainRow>(
  'email.test_domains',
  `select ${domainColumns} from email.domains where bucket = any($buckets::smallint[]) and environment = 'test' order by id desc limit 3000`,
)

const republishAgainMs = 5_000

/** Republishes sandbox records after a restart; those in a database that is away, when it is back. */
export async function republish(app: App, buckets: readonly number[]): Promise<void> {
  const { rows, failure } = await app.db.queryReached(everyTestDomain, { buckets })
  for (const row of rows) publishInSandbox(app, row)
  if (failure !== null) setTimeout(() => void republish(app, buckets), republishAgainMs).unref()
}

export const domainRoutes = [createDomain, listDomains, getDomain, verifyDomain, rotateDkim, deleteDomain]
