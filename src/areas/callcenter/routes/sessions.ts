// SPDX-License-Identifier: Apache-2.0
// Session check of the routes that an agent's token may use.
import type { Route } from '../../../platform/api/route.ts'
import { requireSession } from '../calls/login.ts'

export function whileLoggedIn(route: Route): Route {
  const { scope } = route
  if (scope !== 'callcenter:read' && scope !== 'callcenter:agent') return route
  if (route.kind === 'read') {
    const { messages } = route
    return {
      ...route,
      handle: async (...[app, input, caller]: Parameters<typeof route.handle>) => {
        await requireSession(app, caller)
        return route.handle(app, input, caller)
      },
      ...(messages
        ? {
            messages: async (...[app, input, caller, reader]: Parameters<typeof messages>) => {
              await requireSession(app, caller)
              return messages(app, input, caller, reader)
            },
          }
        : {}),
    }
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
