// SPDX-License-Identifier: Apache-2.0
// A page on which the customers of an account look after webhooks themselves: an application makes a session and shows its
// URL, in a frame or a tab. The URL carries a token for webhooks alone, behind the #, where no server and no log sees it.
import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { record } from '../../platform/api/audit.ts'
import { read } from '../../platform/api/route.ts'
import { allows } from '../../platform/auth/scopes.ts'
import { type Caller, requireApiKey, secondsOfKey } from '../../platform/auth.ts'
import { fileHook } from '../../platform/http/static-files.ts'
import { root } from '../../platform/program/root.ts'
import { At } from '../../platform/schema/fields.ts'
import { webAsset } from '../../platform/web/shell.ts'
import { portalTexts } from './portal-texts.ts'

const path = '/portal/webhooks'
const defaultSeconds = 900
const maxSeconds = 86_400
/** Whom the audit log names, and by which its token is known again. */
const visitor = 'webhook portal'

const assets = new URL('src/areas/webhooks/portal/', root)

/** Policy of the portal, which other pages may embed; without a token it shows nothing. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *"

const PortalSession = Type.Object(
  {
    url: Type.String({ sensitive: true, description: 'URL of the portal; anyone with it can use it until it expires' }),
    expires_at: At({ description: 'Expiry time of the URL' }),
  },
  { title: 'WebhookPortalSession' },
)

export const openPortal = read({
  method: 'POST',
  path: '/v1/webhooks/portal-session',
  operation: 'webhooks.openPortal',
  summary: 'Create a webhook portal session',
  description:
    'Creates a page for your own customers with endpoints, their health, tests, secrets and the delivery log, for a frame or a tab. Anyone with the URL can use it until it expires, or until the key that created it is revoked.',
  scope: 'webhooks:write',
  body: Type.Object({
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: maxSeconds,
        default: defaultSeconds,
        rule: `must be 60 to ${maxSeconds} seconds`,
        description: 'Validity of the URL in seconds',
      }),
    ),
    read_only: Type.Optional(
      Type.Boolean({ default: false, rule: 'must be true or false', description: 'True makes the page read-only' }),
    ),
  }),
  reply: { status: 200, schema: PortalSession },
  examples: [{ name: 'A read-only hour', body: { expires_in: 3_600, read_only: true } }],
  handle: async (app, { body }, caller) => {
    requireApiKey(caller)
    const { principal, accountId, tenant, receivedMs } = caller
    const scopes = body.read_only ? ['webhooks:read'] : ['webhooks:read', 'webhooks:write']
    const missing = scopes.find((scope) => !allows(principal.scopes, scope))
    if (missing)
      throw new AppError('FORBIDDEN', `the key does not carry ${missing}`, { extra: { required_scope: missing } })
    const expiresInSeconds = Math.min(body.expires_in ?? defaultSeconds, secondsOfKey(caller))
    const token = await app.tokens.issue({
      keyUuid: principal.facts.keyUuid,
      accountId,
      account: tenant.account,
      environment: tenant.environment,
      scopes,
      subject: visitor,
      expiresInSeconds,
    })
    const expires_at = new Date(receivedMs + expiresInSeconds * 1_000)
    await record(app.db, caller, 'webhook.open_portal', principal.keyId, { after: { scopes, expires_at } })
    return { url: `${app.publicUrl}${path}#${token}`, expires_at }
  },
})

/** Refuses portal visitors: they manage endpoints, not the account's own secrets and callbacks. */
export function refuseVisitor({ principal }: Caller): void {
  if (principal.isToken && principal.actor === `token:${visitor}`)
    throw new AppError('FORBIDDEN', 'a portal session is for endpoints and their deliveries; this takes an API key')
}

const file = (at: string, type: string, make: () => string) =>
  fileHook('webhooks.portal', { path: at, type, contentSecurityPolicy, make })

export const portalHooks = [
  file(path, 'text/html', () => asset('portal.html')),
  file(`${path}/portal.css`, 'text/css', () => webAsset('colours.css') + asset('portal.css')),
  file(
    `${path}/portal.js`,
    'text/javascript',
    () => `const texts = ${JSON.stringify(portalTexts)}\n${asset('portal.js')}`,
  ),
]

function asset(name: string): string {
  return readFileSync(new URL(name, assets), 'utf8')
}
