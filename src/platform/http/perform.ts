// SPDX-License-Identifier: Apache-2.0
// Runs a route without an HTTP request of its own, for instance for a websocket message: same checks, same handler, same
// errors.
import { Type } from 'typebox'
import type { Input, Route } from '../api/route.ts'
import type { App } from '../app.ts'
import type { Caller } from '../auth.ts'
import { scopeRefusal } from './admission.ts'
import { verbOf } from './executing.ts'
import { bodyChecker, queryChecker } from './validate.ts'

const noFields = Type.Object({})

/** Prepares a route to be run repeatedly. */
export function performing(route: Route) {
  const checkParams = queryChecker(route.params ?? noFields)
  const checkBody = bodyChecker(route.body ?? noFields)
  return async (app: App, caller: Caller, given: { params?: unknown; body?: unknown }): Promise<unknown> => {
    const refused = scopeRefusal(route, caller.principal)
    if (refused) throw refused
    const params = checkParams(given.params ?? {}).value
    const body = checkBody(given.body ?? {}).value
    // The schemas of the declaration, which type the handler, were checked.
    const input = { params, query: {}, body } as Input<never, never, never>
    return verbOf(app, route, input, caller)
  }
}
