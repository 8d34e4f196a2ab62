// SPDX-License-Identifier: Apache-2.0
// Access tokens: a key's holder hands out less than the key, for a short time.
import type { Static } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { record } from '../../platform/api/audit.ts'
import type { App } from '../../platform/app.ts'
import { allows, isScope } from '../../platform/auth/scopes.ts'
import { type Caller, requireApiKey, secondsOfKey } from '../../platform/auth.ts'
import type { TokenReply, TokenRequest } from './schema.ts'

const defaultSeconds = 900

export async function issueToken(
  app: App,
  input: Static<typeof TokenRequest>,
  caller: Caller,
): Promise<Static<typeof TokenReply>> {
  requireApiKey(caller)
  checkClient(input, caller)
  const scopes = wantedScopes(input.scope, caller.principal.scopes)
  const expiresInSeconds = Math.min(input.expires_in ?? defaultSeconds, secondsOfKey(caller))
  const access_token = await app.tokens.issue({
    keyUuid: caller.principal.facts.keyUuid,
    accountId: caller.accountId,
    account: caller.tenant.account,
    environment: caller.tenant.environment,
    scopes,
    subject: input.subject ?? null,
    expiresInSeconds,
  })
  await record(app.db, caller, 'apikey.issue_token', caller.principal.keyId, {
    after: { scopes, subject: input.subject ?? null, expires_in: expiresInSeconds },
  })
  return { access_token, token_type: 'Bearer', expires_in: expiresInSeconds, scope: scopes.join(' ') }
}

/** OAuth 2 client credentials name the key that authenticated the request. */
function checkClient({ grant_type, client_id }: Static<typeof TokenRequest>, { principal }: Caller): void {
  if (grant_type !== undefined && grant_type !== 'client_credentials')
    throw invalid('grant_type', 'must be client_credentials')
  if (client_id !== undefined && client_id !== principal.keyId)
    throw invalid('client_id', 'is not the id of the key you sent')
}

function wantedScopes(text: string | undefined, held: ReadonlySet<string>): string[] {
  if (text === undefined) return [...held]
  const wanted = text.split(' ').filter((scope) => scope !== '')
  const unknown = wanted.filter((scope) => !isScope(scope))
  if (unknown.length > 0) throw invalid('scope', `must name scopes such as sms:read, not "${unknown.join(', ')}"`)
  const missing = wanted.filter((scope) => !allows(held, scope))
  if (missing.length > 0)
    throw new AppError('FORBIDDEN', `the key does not carry ${missing.join(', ')}`, {
      extra: { required_scope: missing[0] ?? '' },
    })
  return wanted
}
