// SPDX-License-Identifier: Apache-2.0
// Operator routes: HTTP gateways without a key, each with its own secret URL, and live shortcodes of accounts.
import { createHash, randomBytes } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { bucketOf, idOf, newUuid, uuidOf } from '../../kernel/ids.ts'
import { record } from '../../platform/api/audit.ts'
import { fieldsOf, type Hook, hook, json, text } from '../../platform/api/hook.ts'
import { IdParam, list, type Route, read, writeAcross } from '../../platform/api/route.ts'
import { maybe, one, type Queryable, statement } from '../../platform/db.ts'
import { bodyChecker } from '../../platform/http/validate.ts'
import { At, Deleted, EnvironmentName, wholeListQuery } from '../../platform/schema/fields.ts'
import { pageOfWhole } from '../../platform/schema/lists.ts'
import type { Environment } from '../../platform/tenant.ts'
import { CallbackBody, takeCall } from './callback.ts'
import { occasionOf } from './dial.ts'
import { announceCodes } from './known-codes.ts'
import { Shortcode } from './schema.ts'
import { assignShortcode } from './shortcodes.ts'

/** 192 random bits per URL. */
const tokenBytes = 24
const maxGateways = 500
const maxBodyBytes = 16 * 1024

interface GatewayRow {
  id: string
  name: string
  environment: Environment
  allowed_ips: string[]
  created_at: Date
}

const columns = 'id, name, environment, allowed_ips, created_at'

const insert = statement.home<
  { id: string; name: string; environment: string; hash: Buffer; ips: readonly string[]; at: Date },
  GatewayRow
>(
  'ussd.insert_gateway',
  `insert into ussd.gateways (id, name, environment, token_hash, allowed_ips, created_at)
   values ($id, $name, $environment, $hash, $ips::text[], $at) returning ${columns}`,
)

const find = statement.home<{ id: string }, GatewayRow>(
  'ussd.find_gateway',
  `select ${columns} from ussd.gateways where id = $id`,
)

const findByToken = statement.home<{ hash: Buffer }, GatewayRow>(
  'ussd.find_gateway_by_token',
  `select ${columns} from ussd.gateways where token_hash = $hash`,
)

const findAll = statement.home<Record<never, never>, GatewayRow>(
  'ussd.list_gateways',
  `select ${columns} from ussd.gateways order by id`,
)

const remove = statement.home<{ id: string }, { id: string }>(
  'ussd.delete_gateway',
  'delete from ussd.gateways where id = $id returning id',
)

const currencyOf = statement.home<{ account: string }, { currency: string | null }>(
  'ussd.currency_of_account',
  'select accounts.currency_of($account::uuid) as currency',
)

const GatewayIn = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 60,
      rule: 'must have 1 to 60 characters',
      description: 'Label',
    }),
    environment: EnvironmentName({ description: '`live` for real subscribers, `test` for trials' }),
    allowed_ips: Type.Optional(
      Type.Array(Type.String({ maxLength: 50 }), {
        maxItems: 100,
        rule: 'must list at most 100 addresses',
        description: 'IP addresses or ranges that may call, such as 41.90.0.0/16; default any',
      }),
    ),
  },
  { title: 'UssdGatewayCreate' },
)

const shownFields = {
  id: Type.String({ description: 'Id of the gateway, such as `usg_…`' }),
  name: Type.String({ description: 'Label' }),
  environment: EnvironmentName({ description: '`live` for real subscribers, `test` for trials' }),
  allowed_ips: Type.Array(Type.String(), {
    description: 'IP addresses or ranges that may call; empty: any',
  }),
  created_at: At({ description: 'Time of creation' }),
}
const Gateway = Type.Object(shownFields, { title: 'UssdGateway' })
const NewGateway = Type.Object(
  { ...shownFields, url: Type.String({ sensitive: true, description: 'URL that the gateway calls; shown only once' }) },
  { title: 'UssdGatewayCreated' },
)

function shown({ id, ...row }: GatewayRow): Static<typeof Gateway> {
  return { id: idOf('ussdGateway', id), ...row }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

const create = writeAcross({
  method: 'POST',
  path: '/v1/operator/ussd/gateways',
  operation: 'operator.createUssdGateway',
  summary: 'Create a USSD gateway over HTTP',
  scope: 'operator',
  body: GatewayIn,
  reply: { status: 201, schema: NewGateway, location: ({ id }) => `/v1/operator/ussd/gateways/${id}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  examples: [
    { name: 'An aggregator', body: { name: 'Aggregator', environment: 'live', allowed_ips: ['192.0.2.0/24'] } },
  ],
  handle: async (app, tx, { body }, caller) => {
    const { name, environment, allowed_ips: ips = [] } = body
    allowListOf(ips)
    if ((await tx.query(findAll, {})).length >= maxGateways)
      throw new AppError('CONFLICT', `there are ${maxGateways} gateways already: delete one first`)
    const token = randomBytes(tokenBytes).toString('base64url')
    const id = newUuid(caller.receivedMs)
    const at = new Date(caller.receivedMs)
    const row = await one(tx.query(insert, { id, name, environment, hash: hashOf(token), ips, at }))
    await record(tx, caller, 'ussd.create_gateway', idOf('ussdGateway', id), { after: { name, environment } })
    return { ...shown(row), url: `${app.publicUrl}/v1/ussd/callback/${token}` }
  },
})

const get = read({
  method: 'GET',
  path: '/v1/operator/ussd/gateways/:id',
  operation: 'operator.getUssdGateway',
  summary: 'Get a USSD gateway',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: Gateway },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }) => shown(await requireGateway(app.db, params.id)),
})

const all = list({
  path: '/v1/operator/ussd/gateways',
  operation: 'operator.listUssdGateways',
  summary: 'List USSD gateways',
  scope: 'operator',
  query: Type.Object(wholeListQuery),
  row: Gateway,
  examples: [{ name: 'All' }],
  handle: async (app, { query }) => pageOfWhole(query, (await app.db.query(findAll, {})).map(shown), ({ id }) => id),
})

const erase = writeAcross({
  method: 'DELETE',
  path: '/v1/operator/ussd/gateways/:id',
  operation: 'operator.deleteUssdGateway',
  summary: 'Delete a USSD gateway',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, caller) => {
    const { id } = await requireGateway(tx, params.id)
    await one(tx.query(remove, { id }))
    await record(tx, caller, 'ussd.delete_gateway', params.id)
    return { id: params.id, deleted: true as const }
  },
})

async function requireGateway(queryable: Queryable, id: string): Promise<GatewayRow> {
  const uuid = uuidOf('ussdGateway', id)
  const row = uuid === null ? null : await maybe(queryable.query(find, { id: uuid }))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such gateway; the ids of gateways begin with usg_')
  return row
}

const Assignment = Type.Object(
  {
    account_id: Type.String({ maxLength: 60, description: 'Id of the account that gets the code, such as `acc_…`' }),
    shortcode: Shortcode,
  },
  { title: 'UssdShortcodeAssignment' },
)

const assign = writeAcross({
  method: 'POST',
  path: '/v1/operator/ussd/shortcodes',
  operation: 'operator.assignUssdShortcode',
  summary: 'Assign a live short code to an account',
  scope: 'operator',
  body: Assignment,
  reply: { status: 200, schema: Assignment },
  errors: ['VALIDATION_ERROR', 'INVALID_SHORTCODE', 'CONFLICT'],
  handle: async (app, tx, { body }, caller) => {
    const account = uuidOf('account', body.account_id)
    const { currency } = account === null ? { currency: null } : await one(tx.query(currencyOf, { account }))
    if (account === null || currency === null) throw invalid('account_id', 'is not the id of an account')
    const tenant = { bucket: bucketOf(account), account, environment: 'live' as const }
    const row = await assignShortcode(tx, tenant, caller, body.shortcode)
    if (!row) throw new AppError('CONFLICT', `${body.shortcode} is assigned already`)
    await record(tx, caller, 'ussd.assign_shortcode', body.shortcode, { after: { account_id: body.account_id } })
    await announceCodes(app, tx)
    return body
  },
})

/** Allows list of IP addresses; throws VALIDATION_ERROR for a malformed one. */
function allowListOf(ips: readonly string[]): BlockList {
  const allowed = new BlockList()
  ips.forEach((ip, i) => {
    const [address = '', bits] = ip.split('/')
    const version = isIP(address)
    const most = version === 6 ? 128 : 32
    if (version === 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most)))
      throw invalid(`allowed_ips[${i}]`, 'must be an address or a range such as 41.90.0.0/16')
    allowed.addSubnet(address, Number(bits ?? most), version === 6 ? 'ipv6' : 'ipv4')
  })
  return allowed
}

function mayCall({ allowed_ips: ips }: GatewayRow, ip: string): boolean {
  if (ips.length === 0) return true
  const address = ip.replace(/^::ffff:(?=\d+\.)/, '')
  return allowListOf(ips).check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

const checkCall = bodyChecker(CallbackBody)

/** Callback URL of a gateway. */
const gatewayHook = hook({
  methods: ['POST'],
  path: '/v1/ussd/callback/:token',
  operation: 'ussd.gateway',
  summary: 'Receive a dial, an answer or an end from a USSD gateway',
  maxBytes: maxBodyBytes,
  limits: [{ by: 'token', perSecond: 2_000 }],
  handle: async (app, call) => {
    const row = /^[\w-]{32}$/.test(call.params.token)
      ? await maybe(app.db.query(findByToken, { hash: hashOf(call.params.token) }))
      : null
    if (!row || !mayCall(row, call.ip)) throw new AppError('NOT_FOUND', 'there is no such gateway')
    const { value } = checkCall(fieldsOf(call))
    const answer = await takeCall(
      app,
      { gateway: `http:${row.id}`, ownerOf: (dialled) => occasionOf(app, row.environment, dialled) },
      value,
    )
    return typeof answer === 'string' ? text(answer) : json(answer)
  },
})

export const ussdOperatorRoutes: readonly Route[] = [create, all, get, erase, assign]
export const ussdHooks: readonly Hook[] = [gatewayHook]
