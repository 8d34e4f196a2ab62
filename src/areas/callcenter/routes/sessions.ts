// SPDX-License-Identifier: Apache-2.0
// Agents' tokens: what they may read, and that their session lasts.
import { AppError } from '../../../kernel/errors.ts'
import type { Route } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { agentOf, requireSession } from '../agent/login.ts'

/** Operations by which an agent's token reads what the desk shows. */
const shownAtDesk: readonly string[] = ['callcenter.agentContext']

export function whileLoggedIn(route: Route): Route {
  const { scope } = route
  if (scope !== 'callcenter:read' && scope !== 'callcenter:agent') return route
  if (route.kind === 'read') {
    const { messages } = route
    return {
      ...route,
      handle: async (...[app, input, caller]: Parameters<typeof route.handle>) => {
        await requireReader(app, caller, route.operation)
        return route.handle(app, input, caller)
      },
      ...(messages
        ? {
            messages: async (...[app, input, caller, reader]: Parameters<typeof messages>) => {
              await requireReader(app, caller, route.operation)
              return messages(app, input, caller, reader)
            },
          }
        : {}),
    }
  }
  if (route.kind === 'download')
    return {
      ...route,
      handle: async (...[app, input, caller]: Parameters<typeof route.handle>) => {
        await requireReader(app, caller, route.operation)
        return route.handle(app, input, caller)
      },
    }
  if (route.kind !== 'write') throw new Error(`${route.operation} does not look at the session of its agent`)
  return {
    ...route,
    prepare: async (...[app, input, caller]: Parameters<NonNullable<typeof route.prepare>>) => {
      await requireSession(app, caller)
      return route.prepare?.(app, input, caller)
    },
  }
}

/** Requires the session of an agent's token to last, and the token to read what the desk shows only. */
async function requireReader(app: App, caller: Caller, operation: string): Promise<void> {
  await requireSession(app, caller)
  if (agentOf(caller) !== null && !shownAtDesk.includes(operation))
    throw new AppError('FORBIDDEN', 'this token is limited to the desk of its agent', {
      extra: { required_scope: 'callcenter:read' },
    })
}
