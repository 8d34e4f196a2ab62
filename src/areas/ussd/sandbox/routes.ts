// SPDX-License-Identifier: Apache-2.0
// Routes of the virtual handset: dial, answer and hang up in the simulated SMPP network.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { type Route, read } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'
import type { DialOutcome } from '../dial.ts'
import { type UssdNetwork, ussdNetwork } from '../network/sandbox.ts'
import { SubscriberInput } from '../schema.ts'
import { type Session, sessionOver, shownText } from '../session.ts'
import { namedSession } from '../store.ts'
import { reloaded } from '../turn.ts'
import { expectDial } from './expected.ts'

/** Screen timeout, above any network's. */
const screenMs = 65_000

const HandsetScreen = Type.Object(
  {
    session_id: Type.String({ description: 'Id of the session, for the answer' }),
    message: Nullable(Type.String({ sensitive: true, description: 'Text on the handset' })),
    action: OneOf(['continue', 'end'], { description: '`continue`: the screen can be answered' }),
  },
  { title: 'UssdHandsetScreen' },
)

const session = { session_id: Type.String({ maxLength: 100, description: 'Id returned by the dial request' }) }

/** Declared as reads, so that no transaction is open while the application is asked. */
const dial = read({
  method: 'POST',
  path: '/v1/sandbox/ussd/dial',
  operation: 'sandbox.ussdDial',
  summary: 'Dial a code on a simulated handset',
  description: 'An unregistered code is treated as yours. Digits dialled after a registered code are the first inputs.',
  scope: 'sandbox:write',
  body: Type.Object({
    phone: Phone({ description: 'Number of the dialling handset; any number' }),
    shortcode: Type.String({
      pattern: '^\\*\\d{1,6}(\\*[\\d*]{0,40})?#$',
      rule: 'must be a code that a handset can dial, such as *384*1#',
      errorCode: 'INVALID_SHORTCODE',
      description: 'Code to dial',
    }),
  }),
  reply: { status: 200, schema: HandsetScreen },
  errors: [
    'INVALID_PHONE',
    'INVALID_SHORTCODE',
    'SHORTCODE_NOT_ALLOWED',
    'INSUFFICIENT_BALANCE',
    'PROVIDER_UNAVAILABLE',
  ],
  handle: async (app, { body }, caller) => {
    const network = requireNetwork(app)
    const begun = await brought(app, network, caller, body.phone, body.shortcode)
    return screenOf(app, network, begun)
  },
})

const input = read({
  method: 'POST',
  path: '/v1/sandbox/ussd/input',
  operation: 'sandbox.ussdInput',
  summary: 'Answer a screen on a simulated handset',
  scope: 'sandbox:write',
  body: Type.Object({ ...session, input: SubscriberInput }),
  reply: { status: 200, schema: HandsetScreen },
  errors: ['NOT_FOUND', 'SESSION_ENDED', 'SESSION_EXPIRED', 'NO_PENDING_INPUT', 'PROVIDER_UNAVAILABLE'],
  handle: async (app, { body }, caller) => {
    const network = requireNetwork(app)
    const found = await requireSession(app, caller, body.session_id)
    // A screen just stored may not have reached the handset yet.
    if (found.awaiting === 'user') await network.screen(found.phone, screenMs)
    const status = await network.input(found.phone, body.input).catch(unreachable)
    const now = await reloaded(app, found)
    if (status === null && now.awaiting !== 'nobody')
      throw new AppError('CONFLICT', 'the handset shows no screen that can be answered')
    return screenOf(app, network, now)
  },
})

const cancel = read({
  method: 'POST',
  path: '/v1/sandbox/ussd/cancel',
  operation: 'sandbox.ussdCancel',
  summary: 'Cancel the session on a simulated handset',
  scope: 'sandbox:write',
  body: Type.Object(session),
  reply: { status: 200, schema: HandsetScreen },
  errors: ['NOT_FOUND', 'SESSION_ENDED', 'SESSION_EXPIRED', 'PROVIDER_UNAVAILABLE'],
  handle: async (app, { body }, caller) => {
    const network = requireNetwork(app)
    const { session_id, phone } = await requireSession(app, caller, body.session_id)
    await network.cancel(phone)
    return { session_id, message: null, action: 'end' as const }
  },
})

function requireNetwork(app: App): UssdNetwork {
  const network = ussdNetwork.of(app)
  if (network === null)
    throw new AppError('PROVIDER_UNAVAILABLE', 'this node runs no sandbox', { retryAfterSeconds: 1 })
  return network
}

async function requireSession(app: App, { tenant }: Caller, name: string): Promise<Session> {
  const found = await namedSession(app, app.db, tenant, name.replaceAll('\u0000', ''))
  if (!found) throw new AppError('NOT_FOUND', 'there is no such session')
  if (found.awaiting === 'nobody') throw sessionOver(found)
  return found
}

/** Dial on a handset; returns the session created. */
async function brought(
  app: App,
  network: UssdNetwork,
  { tenant, nowMs, receivedMs }: Caller,
  phone: string,
  dialled: string,
): Promise<Session> {
  const got: { outcome: DialOutcome | null } = { outcome: null }
  const forget = expectDial(app, {
    ...{ phone, dialled, tenant, clockOffsetMs: nowMs - receivedMs },
    arrived: (outcome) => {
      got.outcome = outcome
    },
  })
  try {
    await network.dial(phone, dialled).catch(unreachable)
  } finally {
    forget()
  }
  if (got.outcome?.kind === 'begun') return got.outcome.session
  if (got.outcome?.kind === 'refused') throw got.outcome.error
  throw new AppError('PROVIDER_UNAVAILABLE', 'the network did not accept the call', { retryAfterSeconds: 1 })
}

/** Handset screen once the session shows one or has ended. */
async function screenOf(app: App, network: UssdNetwork, { session_id, phone, ...rest }: Session) {
  const screen = await network.screen(phone, screenMs)
  if (screen)
    return { session_id, message: screen.text, action: screen.isOpen ? ('continue' as const) : ('end' as const) }
  const now = await reloaded(app, { ...rest, session_id, phone })
  const isOpen = now.awaiting === 'user'
  return { session_id, message: shownText(now) || null, action: isOpen ? ('continue' as const) : ('end' as const) }
}

function unreachable(cause: unknown): never {
  throw new AppError('PROVIDER_UNAVAILABLE', 'the sandbox is not connected', { cause, retryAfterSeconds: 1 })
}

export const ussdSandboxRoutes: readonly Route[] = [dial, input, cancel]
