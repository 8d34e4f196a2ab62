// SPDX-License-Identifier: Apache-2.0
// Template message that another area sends for an account: at its price, to whom opted in, and once under its key.
import { AnsweredBefore, keyed } from '../../platform/api/idempotency.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { type Queryable, statement } from '../../platform/db.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import { priceOf } from './pricing.ts'
import { send, sendingOf, templateFor } from './send.ts'

export interface ChatTemplate {
  readonly name: string
  readonly language: string
  /** Values of the placeholders of its body, in their order. */
  readonly parameters: readonly string[]
}

export interface AccountChat {
  readonly to: string
  /** UUID that the message gets. */
  readonly id: string
  readonly template: ChatTemplate
  /** Idempotency key, with a space in it, which keys of requests never have. */
  readonly key: string
}

function inputOf({ name, language, parameters }: ChatTemplate) {
  const body = { type: 'body' as const, parameters: parameters.map((text) => ({ type: 'text' as const, text })) }
  return { name, language, components: parameters.length === 0 ? [] : [body] }
}

/** Sends a message; throws an AppError, without a charge, when it is refused. */
export async function chatForAccount(app: App, caller: Caller, { to, id, template, key }: AccountChat): Promise<void> {
  const input = { to, type: 'template' as const, template: inputOf(template), require_opt_in: true }
  try {
    const once = keyed({ ...caller.tenant, key, hash: key }, 200, () => '')
    await send(app, input, { ...sendingOf(caller), id }, once)
  } catch (error) {
    if (!(error instanceof AnsweredBefore)) throw error
  }
}

/** Price of a message with a template, by number. Throws an AppError when the template cannot be used. */
export async function chatPrices(app: App, caller: Caller, template: ChatTemplate): Promise<(to: string) => bigint> {
  const sending = sendingOf(caller)
  const { unit } = await templateFor(app, sending, inputOf(template))
  return (to) => priceOf(app, sending, unit, to).cost
}

export interface ChatOutcome {
  id: string
  status: string
  error_code: string | null
  cost: bigint
}

const outcomes = statement.tenant<Tenant & { ids: readonly string[] }, ChatOutcome>(
  'messenger.outcomes_of',
  `select id, status::text as status, errors -> 0 ->> 'code' as error_code, case when status = 'failed' then 0 else cost end as cost
     from messenger.messages where ${mine} and id = any($ids::uuid[])`,
)

/** What became of messages. */
export async function outcomesOfChats(
  queryable: Queryable,
  tenant: Tenant,
  ids: readonly string[],
): Promise<ChatOutcome[]> {
  return ids.length === 0 ? [] : queryable.query(outcomes, { ...tenant, ids })
}
