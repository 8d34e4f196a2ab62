// SPDX-License-Identifier: Apache-2.0
// Account routes for operators: the same route with the account in its path, so that both see the same filters, pages
// and replies. Every read is recorded in the audit log of the account and of the operator.
import { type TProperties, type TSchema, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../kernel/ids.ts'
import { recordAll } from '../api/audit.ts'
import type { Input, Route } from '../api/route.ts'
import type { App } from '../app.ts'
import type { Caller } from '../auth.ts'
import { EnvironmentName } from '../schema/fields.ts'
import { type Environment, type Tenant, tenantOf } from '../tenant.ts'

const ownParams = { account_id: Type.String({ description: 'Id of the account, such as `acc_…`' }) }
const ownQuery = {
  environment: Type.Optional(
    EnvironmentName({ description: 'Id of the account, such as `acc_…`; default: the account of your key' }),
  ),
}

/** Operation and summary of the operator's route. */
type As = readonly [operation: string, summary: string]

/** Operator versions of the named routes, under `/v1/operator/accounts/:account_id`. */
export function ofAnyAccount(routes: readonly Route[], wanted: Readonly<Record<string, As>>): Route[] {
  return Object.entries(wanted).map(([name, as]) => {
    const route = routes.find(({ operation }) => operation === name)
    if (!route) throw new Error(`there is no operation ${name}`)
    return forOperators(route, as)
  })
}

function forOperators(route: Route, [operation, summary]: As): Route {
  if (route.kind !== 'read') throw new Error(`${route.operation} is more than a reading`)
  const { handle, aliases: _aliases, limit: _limit, needs: _needs, ...rest } = route
  return {
    ...rest,
    path: `/v1/operator/accounts/:account_id${route.path.slice('/v1'.length)}`,
    operation,
    summary,
    description: `Same reply as \`${route.operation}\` for the account. The access is recorded in the audit log of the account, and in yours.${ownInstead(route)}`,
    scope: 'operator',
    params: Type.Object({ ...ownParams, ...membersOf(route.params) }),
    query: Type.Object({ ...ownQuery, ...membersOf(route.query) }),
    errors: [...new Set([...(route.errors ?? []), 'NOT_FOUND' as const])],
    // A new account has nothing to name, so a path with a parameter has no example.
    examples: route.path.includes('/:') ? [] : (route.examples ?? []),
    needs: { operation: 'operator.createAccount', id: 'id' },
    handle: async (app: App, input: Input<TSchema, TSchema, TSchema>, caller: Caller) => {
      const theirs = await callerForAccount(app, caller, Object(input.params), Object(input.query))
      const reply = await handle.call(route, app, input, theirs)
      await writeDown(app, caller, theirs.tenant, pathOf(route, Object(input.params)), Object(input.query))
      return reply
    },
  }
}

/** Warning of a list: operators look for an account's rows at the account's own address, where a filter is ignored. */
function ownInstead({ path, reply }: Route): string {
  if (!reply.list || path.includes(':')) return ''
  return ` \`${path}\` lists your own account, and ignores \`account_id\`.`
}

function membersOf(schema: unknown): TProperties {
  return Object(schema).properties ?? {}
}

/** Caller as if the account asked, with the operator's permissions. */
async function callerForAccount(
  { authenticator }: App,
  caller: Caller,
  params: { account_id?: unknown },
  query: { environment?: Environment },
): Promise<Caller> {
  const account = uuidOf('account', String(params.account_id))
  const environment = query.environment ?? caller.tenant.environment
  const facts = account && (await authenticator.factsOfAccount(account, environment))
  if (!facts) throw new AppError('NOT_FOUND', 'there is no such account; account ids begin with acc_')
  const tenant = tenantOf({ bucket: facts.bucket, account_id: facts.account, environment })
  const accountId = idOf('account', facts.account)
  const principal = { ...caller.principal, facts, tenant, accountId }
  return { ...caller, principal, tenant, accountId, nowMs: caller.receivedMs + facts.clockOffsetMs }
}

/** Records the names of filters, not their values, which may contain message text. */
async function writeDown(app: App, caller: Caller, seen: Tenant, path: string, query: object): Promise<void> {
  const after = { account_id: caller.accountId, environment: seen.environment, filters: Object.keys(query) }
  const noted = { action: 'operator.read', target: path, after }
  const entry = () => newUuid(caller.receivedMs)
  await app.db.acrossTx((tx) =>
    recordAll(tx, [
      { by: { ...caller, id: entry() }, ...noted },
      { by: { ...caller, tenant: seen, id: entry() }, ...noted },
    ]),
  )
}

function pathOf({ path }: Route, params: Record<string, unknown>): string {
  return path.replace(/:(\w+)/g, (_, name) => String(params[name]))
}
