// SPDX-License-Identifier: Apache-2.0
// SMTP submission (RFC 6409): STARTTLS, AUTH with an SMTP credential or API key, then mail. Messages are accepted like
// those of the API and answered with 250 once durable.
import { isInRange, parseAddress, parseAddressRange } from '../../../kernel/addresses.ts'
import { AppError } from '../../../kernel/errors.ts'
import { newIdAndUuid } from '../../../kernel/ids.ts'
import { isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { allows } from '../../../platform/auth/scopes.ts'
import { isUnavailable, one, statement } from '../../../platform/db.ts'
import { ToldCache } from '../../../platform/nodes/told-cache.ts'
import type { AreaListener } from '../../../platform/program/listeners.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Reply, reply } from '../../../protocols/smtp/reply.ts'
import type { Envelope, Peer, ServerHost } from '../../../protocols/smtp/server-session.ts'
import { dateText } from '../delivery/compose.ts'
import { listenSmtp } from '../listening.ts'
import { priceOf } from '../prices.ts'
import { maxMessageBytes, maxTtlSeconds } from '../schema.ts'
import { accept } from '../sending/accept.ts'
import { type Draft, draftOf, requireSender, type Sending, scheduledTime } from '../sending/draft.ts'
import { credentialOf, recordUse } from './credentials.ts'
import { noKey } from './no-key.ts'
import { readSubmitted, type Submitted } from './submitted.ts'

const maxRecipients = 100
const maxMessages = 1_000
const idleMs = 300_000
const triesPerMinute = 5
/** Customers behind one address share it. */
const connectionsOfNetwork = 250
const standingForMs = 60_000
const maxStandings = 10_000
/** Cache time of a valid key or password. */
const goodForMs = 1_000

interface User {
  readonly tenant: Tenant
  readonly actor: string
  /** Allowed domains; empty: all of the account's. */
  readonly domains: readonly string[]
  /** Rechecks the key or password: it may be revoked while a connection is open. */
  readonly isStillGood: () => Promise<boolean>
}

export const submissionListener: AreaListener = {
  name: 'submission',
  role: 'api',
  over: 'tcp',
  scheme: 'smtp',
  host: 'PAMOJA_SMTP_HOST',
  port: 'PAMOJA_SMTP_PORT',
  open: (app, place) => listenSmtp(app, 'submission', place, hostOf(app), connectionsOfNetwork),
}

function hostOf(app: App): Omit<ServerHost, 'secureContext'> {
  return {
    hostname: app.config.PAMOJA_MAIL_HOST,
    isSubmission: true,
    maxBytes: maxMessageBytes,
    maxRecipients,
    maxMessages,
    idleMs,
    authenticate: (username, password, peer) => authenticate(app, username, password, peer),
    message: (envelope, content, peer) => take(app, envelope, content, peer),
  }
}

const refusedUser = reply(535, '5.7.8 The username or password is wrong')
const away = reply(451, '4.3.0 The database does not answer; try again later')

async function authenticate(
  app: App,
  username: string,
  password: string,
  peer: Peer,
): Promise<{ user: User } | { refused: Reply }> {
  try {
    const known = username.includes('\0') ? null : await identified(app, username, password, peer)
    if (known) return { user: { ...known, isStillGood: rechecked(app, username, password, peer) } }
    const { refusedBy } = await app.limits.admit([
      {
        name: 'smtp-auth',
        key: `smtp-auth:${peer.address}:${username.slice(0, 60)}`,
        limit: triesPerMinute,
        windowMs: 60_000,
        shared: false,
      },
    ])
    return { refused: refusedBy ? reply(421, '4.7.0 Too many wrong passwords; try again in a minute') : refusedUser }
  } catch (error) {
    if (isUnavailable(error) || (error instanceof AppError && error.status === 503))
      return { refused: reply(454, '4.7.0 Temporary authentication failure') }
    throw error
  }
}

type Known = Omit<User, 'isStillGood'>

function identified(app: App, username: string, password: string, peer: Peer): Promise<Known | null> {
  return username === 'apikey' ? userOfKey(app, password, peer) : userOfCredential(app, username, password, peer)
}

function rechecked(app: App, username: string, password: string, peer: Peer): () => Promise<boolean> {
  let goodUntilMs = performance.now() + goodForMs
  return async () => {
    if (performance.now() < goodUntilMs) return true
    const isGood = (await identified(app, username, password, peer)) !== null
    if (isGood) goodUntilMs = performance.now() + goodForMs
    return isGood
  }
}

async function userOfKey(app: App, key: string, peer: Peer): Promise<Known | null> {
  try {
    const { tenant, scopes, actor } = await app.authenticator.authenticate(`Bearer ${key}`, plainAddress(peer.address))
    return allows(scopes, 'email:send') ? { tenant, actor, domains: [] } : null
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return null
    throw error
  }
}

async function userOfCredential(app: App, username: string, password: string, peer: Peer): Promise<Known | null> {
  const row = await credentialOf(app.db, username, password)
  if (!row || !isAllowed(row.allowed_ips, peer.address)) return null
  await recordUse(app.db, row)
  const tenant: Tenant = Object.freeze({ bucket: row.bucket, account: row.account_id, environment: row.environment })
  return { tenant, actor: `smtp:${row.username}`, domains: row.domains }
}

function plainAddress(address: string): string {
  return address.replace(/^::ffff:/, '')
}

function isAllowed(ranges: readonly string[], peer: string): boolean {
  const address = parseAddress(plainAddress(peer))
  return (
    ranges.length === 0 ||
    (address !== null &&
      ranges.some((text) => {
        const range = parseAddressRange(text)
        return range !== null && isInRange(address, range)
      }))
  )
}

interface Standing {
  readonly currency: string
  readonly is_suspended: boolean
  readonly clock_offset_ms: bigint
  readonly most: number | null
}

const standing = statement.home<{ account: string; environment: string }, Standing>(
  'email.standing_of',
  `select accounts.currency_of($account::uuid) as currency, accounts.is_suspended($account) as is_suspended,
          accounts.clock_offset_ms($account, $environment::text) as clock_offset_ms, accounts.limit_of($account, 'email') as most`,
)

/** Standing of accounts that submit mail; every node is told of a change. */
const standings = onePerApp((app) => {
  const cache = new ToldCache<Standing>(app.signals, { most: maxStandings, goodForMs: standingForMs })
  app.signals.on('accounts', (account) => {
    for (const environment of ['test', 'live']) cache.forget(`${account} ${environment}`)
  })
  return cache
})

function standingOf(app: App, { account, environment }: Tenant): Promise<Standing> {
  return standings(app).of(`${account} ${environment}`, () => one(app.db.query(standing, { account, environment })))
}

async function take(app: App, envelope: Envelope, content: Buffer, peer: Peer): Promise<Reply> {
  const user = userOf(peer)
  if (!user) return reply(530, '5.7.0 Authenticate first')
  try {
    return await accepted(app, user, envelope, content, peer)
  } catch (error) {
    if (isUnavailable(error)) return away
    if (error instanceof AppError) return refusal(error)
    app.log.error({ error }, 'mail submitted over SMTP not accepted: the client is asked to retry; check the database')
    return reply(451, '4.3.0 The message could not be taken; try again later')
  }
}

function userOf({ user }: Peer): User | null {
  return isUser(user) ? user : null
}

function isUser(user: unknown): user is User {
  return typeof user === 'object' && user !== null && 'tenant' in user && 'actor' in user && 'isStillGood' in user
}

async function accepted(app: App, user: User, envelope: Envelope, content: Buffer, peer: Peer): Promise<Reply> {
  const { tenant } = user
  if (!(await user.isStillGood())) return reply(550, '5.7.8 The key or password is no longer good; authenticate again')
  const { currency, is_suspended, clock_offset_ms, most } = await standingOf(app, tenant)
  if (is_suspended) return reply(550, '5.7.1 ACCOUNT_SUSPENDED The account is suspended')
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  if (!(await isAdmitted(app, tenant, most)))
    return reply(451, '4.7.1 RATE_LIMIT_EXCEEDED Too many messages for the plan; try again in a minute')
  const receivedMs = app.clock.nowMs()
  const nowMs = receivedMs + Number(clock_offset_ms)
  const { id, uuid } = newIdAndUuid('email', receivedMs)
  const received = `by ${app.config.PAMOJA_MAIL_HOST} with ESMTPSA id ${id}; ${dateText(new Date(nowMs))}`
  const submitted = readSubmitted(content, {
    messageId: id,
    domain: app.config.PAMOJA_MAIL_HOST,
    date: dateText(new Date(nowMs)),
    received,
  })
  if (typeof submitted === 'string')
    return reply(
      submitted.startsWith('INVALID_EMAIL') ? 553 : 550,
      `${submitted.startsWith('INVALID_EMAIL') ? '5.1.3' : '5.6.0'} ${submitted}`,
    )
  if (
    user.domains.length > 0 &&
    !user.domains.some((domain) => submitted.from.domain === domain || submitted.from.domain.endsWith(`.${domain}`))
  )
    return reply(550, '5.7.1 DOMAIN_NOT_VERIFIED The credential may not send from this domain')
  const sending: Sending = {
    tenant,
    receivedMs,
    nowMs,
    requestId: null,
    actor: user.actor,
    ip: plainAddress(peer.address),
    currency,
  }
  const draft = await draftOfSubmitted(app, sending, uuid, envelope, submitted)
  const answer = await accept(app, draft, sending, noKey)
  return reply(250, `2.0.0 Ok: queued as ${answer.message_id}`)
}

async function isAdmitted(app: App, { account, environment }: Tenant, most: number | null): Promise<boolean> {
  if (most === null || app.config.PAMOJA_RATE_LIMITS === 'off') return true
  const { refusedBy } = await app.limits.admit([
    { name: 'plan-email', key: `plan:${account}:${environment}:email`, limit: most, windowMs: 60_000, shared: true },
  ])
  return !refusedBy
}

async function draftOfSubmitted(
  app: App,
  sending: Sending,
  uuid: string,
  envelope: Envelope,
  submitted: Submitted,
): Promise<Draft> {
  const { commands, from, raw, subject } = submitted
  const sender = await requireSender(app, sending.tenant, from)
  const scheduledAt = scheduledTime(commands.scheduledAt ?? undefined, sending.nowMs)
  const body = {
    from: { name: from.name, address: from.address },
    to: [],
    cc: [],
    replyTo: [],
    subject,
    html: null,
    text: null,
    template: null,
    renders: false,
    headers: {},
    attachments: [],
    unsubscribe: commands.stream === 'bulk',
    variables: {},
  }
  const common = {
    uuid,
    source: 'smtp' as const,
    recipients: [...new Set(envelope.to)].map((email) => ({ email, name: null, type: 'to' as const })),
    stream: commands.stream,
    tags: commands.tags,
    metadata: JSON.stringify(commands.metadata),
    tracking: { opens: commands.opens, clicks: commands.clicks },
    reference: commands.key && `smtp:${commands.key}`,
    callbackUrl: null,
    scheduledAt,
    ttlSeconds: maxTtlSeconds,
    unitPrice: priceOf(app, sending.tenant, sending.currency, sending.receivedMs),
  }
  if (commands.template !== null) {
    const [first = ''] = envelope.to
    const made = await draftOf(app, sending, {
      from: from.address,
      to: first,
      template: commands.template,
      variables: commands.variables ?? {},
      ...(subject ? { subject } : {}),
    })
    return {
      ...made,
      ...common,
      content: { ...made.content, body: { ...made.content.body, from: body.from, to: null } },
    }
  }
  return {
    ...common,
    from,
    sender,
    content: { body, raw, files: null },
    subject,
    template: null,
    variables: null,
    warnings: [],
  }
}

/** SMTP reply for an API error. */
function refusal({ code, details, extras }: AppError): Reply {
  const text = `${code} ${details}`.replace(/[\r\n]+/g, ' ').slice(0, 400)
  switch (code) {
    case 'DOMAIN_NOT_VERIFIED':
      return reply(550, `5.7.1 ${text}`)
    case 'INVALID_EMAIL':
      return reply(553, `5.1.3 ${text}`)
    case 'INSUFFICIENT_BALANCE':
    case 'DESTINATION_NOT_ALLOWED':
      return reply(550, `5.7.0 ${text}`)
    case 'ATTACHMENT_TOO_LARGE':
      return reply(552, `5.3.4 ${text}`)
    case 'RATE_LIMITED':
    case 'RATE_LIMIT_EXCEEDED':
      return reply(451, `4.7.1 ${text}`)
    case 'SERVICE_UNAVAILABLE':
      return away
    case 'DUPLICATE_REFERENCE':
      // The client repeats a message whose reply it missed.
      return typeof extras.extra?.existing_id === 'string'
        ? reply(250, `2.0.0 Ok: queued before as ${extras.extra.existing_id}`)
        : reply(550, `5.5.0 ${text}`)
    default:
      return reply(550, `5.6.0 ${text}`)
  }
}
