// SPDX-License-Identifier: Apache-2.0
// One-time code sent for another area: in an approved AUTHENTICATION template, or as a text to a user who wrote within
// a day.
import { idOf, newUuid } from '../../kernel/ids.ts'
import { AnsweredBefore, keyed } from '../../platform/api/idempotency.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe, statement } from '../../platform/db.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import { placeholdersIn, windowClosed } from './content.ts'
import { isOpen, send, sendingOf } from './send.ts'
import { findContact } from './store.ts'
import type { Component } from './templates/template.ts'

const findForCodes = statement.tenant<
  Tenant & { language: string },
  { name: string; language: string; components: Component[] }
>(
  'messenger.template_for_codes',
  `select name, language, components from messenger.templates
    where ${mine} and category = 'AUTHENTICATION' and status = 'APPROVED'
    order by language = $language::text desc, split_part(language, '_', 1) = split_part($language::text, '_', 1) desc, name
    limit 1`,
)

export interface AccountCode {
  readonly to: string
  readonly code: string
  /** Text for a user who wrote within a day. */
  readonly text: string
  readonly language: string
  /** Idempotency key, with a space in it, which keys of requests never have. */
  readonly key: string
}

/** Sends a code; returns the message id. Throws an AppError, without a charge, when it cannot be sent. */
export async function codeForAccount(app: App, caller: Caller, code: AccountCode): Promise<string> {
  const { to, text, key, language } = code
  const { tenant, nowMs, receivedMs } = caller
  const id = newUuid(receivedMs)
  const found = await maybe(app.db.query(findForCodes, { ...tenant, language: language.replace('-', '_') }))
  const template = found && takesOne(found.components) ? templateWith(found, code.code) : null
  if (!template && !isOpen((await findContact(app.db, tenant, to))?.window_expires_at ?? null, nowMs))
    throw windowClosed(to)
  const message = template
    ? { to, type: 'template' as const, template }
    : { to, type: 'text' as const, text: { body: text } }
  try {
    const once = keyed({ ...tenant, key, hash: key }, 200, () => '')
    await send(app, message, { ...sendingOf(caller), id }, once)
  } catch (error) {
    if (!(error instanceof AnsweredBefore)) throw error
  }
  return idOf('messengerMessage', id)
}

/** Whether a template suits codes: one placeholder in its body and none in its header. */
function takesOne(components: readonly Component[]): boolean {
  const gaps = (part: Component['type']) =>
    placeholdersIn(components.find(({ type }) => type === part)?.text ?? '').length
  return gaps('BODY') === 1 && gaps('HEADER') === 0
}

function templateWith(
  { name, language, components }: { name: string; language: string; components: readonly Component[] },
  code: string,
) {
  const parameters = [{ type: 'text' as const, text: code }]
  const buttons = components.find(({ type }) => type === 'BUTTONS')?.buttons ?? []
  const index = buttons.findIndex(({ type, url = '' }) => type === 'URL' && placeholdersIn(url).length > 0)
  const button = { type: 'button' as const, sub_type: 'url' as const, index, parameters }
  return { name, language, components: [{ type: 'body' as const, parameters }, ...(index < 0 ? [] : [button])] }
}
