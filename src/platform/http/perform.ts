// SPDX-License-Identifier: Apache-2.0
// A route, carried out for somebody who asks by other means than a request of its own, such as a message on a websocket: the same
// checks, the same verb, the same refusals.
import { Type } from 'typebox'
import type { App } from '../app.ts'
import type { Caller } from '../auth.ts'
import type { Input, Route } from '../route.ts'
import { scopeRefusal } from './admission.ts'
import { verbOf } from './executing.ts'
import { bodyChecker, queryChecker } from './validate.ts'

const noFields = Type.Object({})

/** Makes a route that can be carried out again and again. */
export function performing(route: Route) {
  const checkParams = queryChecker(route.params ?? noFields)
  const checkBody = bodyChecker(route.body ?? noFields)
  return async (app: App, caller: Caller, given: { params?: unknown; body?: unknown }): Promise<unknown> => {
    const refused = scopeRefusal(route, caller.principal)
    if (refused) throw refused
    const params = checkParams(given.params ?? {}).value
    const body = checkBody(given.body ?? {}).value
    // Checked against the schemas of the declaration, whose types the handler was written against.
    const input = { params, query: {}, body } as Input<never, never, never>
    return verbOf(app, route, input, caller)
  }
}
