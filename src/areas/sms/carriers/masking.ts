// SPDX-License-Identifier: Apache-2.0
// Secrets among the settings of a bind: they are sealed, and shown as stars. The schema says which settings these are.
// Stars that come back stand for the stored value, so a bind can be read, changed a little and sent back. Pure.
import { mask } from '../../../platform/schema/fields.ts'

/** A text that only names a variable is no secret, and an operator who mends a profile needs to see it. */
const variableOnly = /^\{\{\w+\}\}$/

/** The settings with stars for every text and number that the schema calls sensitive. */
export function masked(schema: unknown, value: unknown): unknown {
  if (!isObject(schema)) return value
  if (schema.sensitive === true) return starred(value)
  const { properties } = schema
  if (!isObject(properties) || !isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, masked(properties[name], member)]))
}

function starred(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(starred)
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, starred(member)]))
  if (typeof value === 'string') return variableOnly.test(value) ? value : mask
  return typeof value === 'number' ? mask : value
}

/** Given settings with stored values in place of stars; stars without a stored value stay. */
export function unmasked(given: unknown, before: unknown): unknown {
  if (given === mask) return isObject(before) || Array.isArray(before) ? given : (before ?? given)
  if (Array.isArray(given)) return given.map((item, i) => unmasked(item, Array.isArray(before) ? before[i] : undefined))
  if (!isObject(given)) return given
  const known = isObject(before) ? before : {}
  return Object.fromEntries(Object.entries(given).map(([name, member]) => [name, unmasked(member, known[name])]))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
