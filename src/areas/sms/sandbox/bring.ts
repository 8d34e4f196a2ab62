// SPDX-License-Identifier: Apache-2.0
// Inbound message that a request has the simulator send: it comes over SMPP like any other and is recognised by its
// text on arrival, so that it belongs to the requesting account, which learns its id.
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Incoming } from '../carrier.ts'
import { messageCentre } from './message-centre.ts'

/** A message that a request of this node has just asked the simulator for. */
interface Expected {
  readonly from: string
  readonly to: string
  readonly text: string
  readonly by: { readonly tenant: Tenant; readonly clockOffsetMs: number }
  arrived(id: string): void
}

const expected = onePerApp(() => new Set<Expected>())

/** Has the simulator bring a message, and gives the id under which it was stored. */
export async function bring(
  app: App,
  tenant: Tenant,
  clockOffsetMs: number,
  message: { from: string; to: string; text: string },
): Promise<string> {
  const smsc = messageCentre.of(app)
  if (smsc === null) throw new Error('there is no simulator on this node')
  let stored: string | null = null
  const wanted: Expected = {
    ...message,
    by: { tenant, clockOffsetMs },
    arrived: (id) => {
      stored = id
    },
  }
  expected(app).add(wanted)
  try {
    // The other side answers once it has stored it.
    await smsc.inbound(message.from, message.to, message.text)
  } catch (cause) {
    throw new AppError('PROVIDER_UNAVAILABLE', 'the sandbox is not connected', { cause, retryAfterSeconds: 1 })
  } finally {
    expected(app).delete(wanted)
  }
  if (stored === null) throw new AppError('SERVICE_UNAVAILABLE', 'the message was not stored', { retryAfterSeconds: 1 })
  return stored
}

/** A part of it is enough to know it by; one that comes whole is expected no longer. */
export function expectedOf(app: App, { from, to, text, part }: Incoming): Expected | undefined {
  for (const wanted of expected(app))
    if (isSameNumber(wanted.from, from) && isSameNumber(wanted.to, to) && wanted.text.includes(text)) {
      if (part === null) expected(app).delete(wanted)
      return wanted
    }
  return undefined
}

function isSameNumber(a: string, b: string): boolean {
  return a.replace('+', '') === b.replace('+', '')
}
