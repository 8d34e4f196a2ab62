// SPDX-License-Identifier: Apache-2.0
// Operations that assistants are offered, and which of them are done without asking first. A change asks unless its area says
// that it is a mere setting, so a new route is safe until somebody says otherwise.

import { isJsonSchema, propertiesOf } from '../schema/json-schema.ts'
import type { Route } from './route.ts'

/** What an area says of its operations to assistants. */
export interface AreaTools {
  /** Operations with a tool of their own, in the order of the list. All others are reached by `call_operation`. */
  readonly named?: readonly string[]
  /** Settings: they send nothing, cost nothing and can be changed back, so nobody is asked. */
  readonly unasked?: readonly string[]
}

/** Names of secrets in replies: what has one is not offered, because the secret would stay in the conversation. */
const secretNames = /^(key|url|credentials|secret|token|password|[a-z_]+_(secret|token|key|url))$/

/** Fields that nobody types into a conversation, or that give a file. */
export const hiddenFields: ReadonlySet<string> = new Set(['card', 'format', 'stream'])

/** Whether an operation is for assistants at all: JSON in, JSON out, and no secret in the reply. */
export function isOffered(route: Route): boolean {
  const isPlain = route.kind === 'read' || route.kind === 'write' || route.kind === 'commit'
  return isPlain && !hasSecret(route.reply.schema)
}

/** Whether a schema has a secret among its fields. Texts of messages are marked as sensitive too, under other names. */
function hasSecret(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasSecret)
  if (!isJsonSchema(schema)) return false
  const isSecret = ([name, field]: [string, unknown]): boolean => secretNames.test(name) && isSensitive(field)
  return Object.entries(propertiesOf(schema)).some(isSecret) || Object.values(schema).some(hasSecret)
}

/** Whether a field is marked as sensitive, itself or in one of its forms. */
function isSensitive(field: unknown): boolean {
  if (!isJsonSchema(field)) return false
  return field.sensitive === true || (Array.isArray(field.anyOf) && field.anyOf.some(isSensitive))
}

/** Whether an operation changes nothing: a GET, or a question that a reading key may ask. */
export function isReading({ kind, method, scope }: Route): boolean {
  return kind === 'read' && (method === 'GET' || scope.endsWith(':read'))
}

/** Whether an operation is only done with a confirm token: money, messages, calls, and all else that is no mere setting. */
export function asksFirst(route: Route, { unasked = [] }: AreaTools): boolean {
  return !isReading(route) && !route.scope.startsWith('sandbox:') && !unasked.includes(route.operation)
}
