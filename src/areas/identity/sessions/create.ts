// SPDX-License-Identifier: Apache-2.0
// Makes a capture session, and sends its link where the account says.
import { AppError, invalid } from '../../../kernel/errors.ts'
import { newUuid } from '../../../kernel/ids.ts'
import { hasLengthOfItsCountry } from '../../../kernel/phone.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { one, statement, type Tx } from '../../../platform/db.ts'
import { checkReturnUrl } from '../../../platform/outbound/return-url.ts'
import { html } from '../../../platform/web/html.ts'
import { type Language, wordsIn } from '../../../platform/web/language.ts'
import { newToken, secretName } from '../../../platform/web/secret-name.ts'
import { mailForAccount } from '../../email/area.ts'
import { sendForAccount } from '../../sms/area.ts'
import { countryOf, entryFor } from '../catalogue.ts'
import { requireFunds } from '../charging.ts'
import { policyOf } from '../policy.ts'
import { indexOf } from '../verify/create.ts'
import type { Session, SessionCreate } from './schema.ts'
import { personPlace, sessionOf, sessionPath } from './session.ts'
import { insertSession } from './store.ts'
import { captureTexts } from './texts.ts'

const usualMs = dayMs
const usualChecks = ['face_match', 'liveness_detection'] as const

const nameOf = statement.home<{ account: string }, { name: string }>(
  'identity.account_name',
  'select accounts.name_of($account::uuid) as name',
)

export interface NewSession {
  readonly id: string
  readonly token: Buffer
  readonly tries: number
}

/** Validates a session and sends its link; the session is stored after that, with the reply. */
export async function prepareSession(app: App, caller: Caller, input: SessionCreate): Promise<NewSession> {
  const { tenant, receivedMs } = caller
  checkReturnUrl(input.redirect_url, tenant.environment, 'redirect_url')
  requireDocuments(input)
  await requireFunds(app, caller, 'verification')
  const { capture_tries: tries } = await policyOf(app.db, tenant)
  const made = { id: newUuid(receivedMs), token: newToken(), tries }
  await sendLink(app, caller, input, made)
  return made
}

/** Refuses a country without the documents that are asked for. */
function requireDocuments({ country, document_types }: SessionCreate): void {
  if (country === undefined) return
  if (countryOf(country) === null) entryFor(document_types?.[0] ?? 'passport', country)
  for (const type of document_types ?? []) entryFor(type, country)
}

async function sendLink(app: App, caller: Caller, input: SessionCreate, { id, token }: NewSession): Promise<void> {
  const { phone, email, language = 'en' } = input
  if (phone === undefined && email === undefined) return
  if (phone !== undefined && email !== undefined) throw invalid('email', 'or phone: the link is sent to one of them')
  if (phone !== undefined && !hasLengthOfItsCountry(phone))
    throw new AppError('INVALID_PHONE', 'phone has the wrong number of digits for its country')
  const { tenant } = caller
  const { name: account } = await one(app.db.query(nameOf, { account: tenant.account }))
  const url = `${app.publicUrl}${sessionPath}/${secretName({ bucket: tenant.bucket, token })}`
  const key = `identity session ${id}`
  const say = wordsIn(captureTexts, language satisfies Language)
  if (phone !== undefined) {
    const message = say('message', { account, url })
    await sendForAccount(app, caller, { to: phone, from: 'Verify', message, key })
  }
  if (email !== undefined) {
    const body = html`<p>${say('message', { account, url: '' })}</p><p><a href="${url}">${url}</a></p>`
    const mail = { to: email, fromName: account, fromLocal: 'verify', subject: say('subject', { account }) }
    await mailForAccount(app, caller, { ...mail, html: body.html, key })
  }
}

export async function createSession(
  app: App,
  tx: Tx,
  caller: Caller,
  input: SessionCreate,
  { id, token, tries }: NewSession,
): Promise<Session> {
  const { tenant, nowMs } = caller
  const { external_id } = input
  const checks = [...new Set(['document_verification', ...(input.checks ?? usualChecks)])]
  const person =
    external_id === undefined ? null : await app.secrets.seal(tenant, personPlace(id), JSON.stringify({ external_id }))
  const row = await one(
    tx.query(insertSession, {
      ...tenant,
      id,
      token,
      types: input.document_types ? [...new Set(input.document_types)] : null,
      country: input.country === undefined ? null : countryOf(input.country),
      checks,
      redirectUrl: input.redirect_url ?? null,
      language: input.language ?? null,
      by: caller.actor,
      person,
      subject: indexOf(app, caller, 'subject', external_id),
      tries,
      at: new Date(nowMs),
      expires: new Date(nowMs + (input.expires_in === undefined ? usualMs : input.expires_in * 1_000)),
    }),
  )
  return sessionOf(app, row, nowMs)
}
