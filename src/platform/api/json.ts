// SPDX-License-Identifier: Apache-2.0
// JSON parser and serialiser. In: well-formed UTF-8 and unambiguous JSON only (no duplicate or prototype keys, limited
// depth). Out: a serialiser compiled from the reply's schema, which writes only fields of the schema, with money as
// exact numbers.
import { isUtf8 } from 'node:buffer'
import type { TSchema } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { formatMicros } from '../../kernel/money.ts'
import { momentText } from '../../kernel/time.ts'
import { noteExact, writeNotes } from '../metadata/exact.ts'

const maxDepth = 32

/** Parses a request body; throws INVALID_REQUEST with the position. Returns text and value. */
export function parseJson(bytes: Buffer): { text: string; value: unknown } {
  if (!isUtf8(bytes)) throw refused('the body is not valid UTF-8')
  const text = bytes.toString()
  const value = parse(text)
  if (keysOf(value, 1) !== countKeys(text)) throw refused(faultOf(text))
  noteExact(text, value)
  return { text, value }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refused(`the body is not JSON: unexpected input at position ${errorPosition(text)}`)
  }
}

const space = /[ \t\r\n]*/y
const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a string in JSON may not hold them
  /(?:([[\]{}:,])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-]))/y

/** Position of the first JSON error, which the parser's own messages often omit. */
function errorPosition(text: string): number {
  const open: string[] = []
  let expected: 'value' | 'key' | 'colon' | 'end' = 'value'
  let afterOpening = false
  let at = 0
  for (;;) {
    space.lastIndex = at
    space.test(text)
    const start = space.lastIndex
    token.lastIndex = start
    const match = token.exec(text)
    if (!match) return start
    const [, sign, string, scalar] = match
    const innermost = open.at(-1)
    if (expected === 'value' && (string ?? scalar) !== undefined) expected = 'end'
    else if (expected === 'value' && (sign === '{' || sign === '[')) {
      open.push(sign)
      expected = sign === '{' ? 'key' : 'value'
    } else if (expected === 'key' && string !== undefined) expected = 'colon'
    else if (expected === 'colon' && sign === ':') expected = 'value'
    else if (expected === 'end' && sign === ',' && innermost !== undefined)
      expected = innermost === '{' ? 'key' : 'value'
    else if ((sign === '}' && innermost === '{') || (sign === ']' && innermost === '[')) {
      if (expected !== 'end' && !afterOpening) return start
      open.pop()
      expected = 'end'
    } else return start
    afterOpening = sign === '{' || sign === '['
    at = token.lastIndex
  }
}

/** Number of keys of all objects; NaN when something forbidden is found. */
function keysOf(value: unknown, depth: number): number {
  if (typeof value === 'string') return isStorable(value) ? 0 : Number.NaN
  if (typeof value !== 'object' || value === null) return 0
  if (depth > maxDepth) return Number.NaN
  let keys = 0
  if (Array.isArray(value)) {
    for (const item of value) keys += keysOf(item, depth + 1)
    return keys
  }
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__' || !isStorable(key)) return Number.NaN
    if (key === 'constructor' && typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype'))
      return Number.NaN
    keys += 1 + keysOf(member, depth + 1)
  }
  return keys
}

/** Whether PostgreSQL can store a text or JSON key: no U+0000 and no lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}

interface Open {
  keys: Set<string> | null
  /** Key whose value is being read. */
  key: string | null
  isConstructor: boolean
}

/** First error in a JSON text and its position. Slow: used for refused bodies only. */
function faultOf(text: string): string {
  const open: Open[] = []
  let at = 0
  for (;;) {
    space.lastIndex = at
    space.test(text)
    const start = space.lastIndex
    token.lastIndex = start
    const match = token.exec(text)
    if (!match) return 'the body is not taken'
    const [, sign, string] = match
    const innermost = open.at(-1)
    if (sign === '{' || sign === '[') {
      if (open.length >= maxDepth) return `the body is nested deeper than ${maxDepth} levels at position ${start}`
      const isConstructor = sign === '{' && innermost?.key === 'constructor'
      open.push({ keys: sign === '{' ? new Set() : null, key: null, isConstructor })
    } else if (sign === '}' || sign === ']') open.pop()
    else if (sign === ',' && innermost) innermost.key = null
    else if (string !== undefined) {
      const word: string = JSON.parse(string)
      const problem =
        textProblem(word) ?? (innermost?.keys && innermost.key === null ? keyProblem(innermost, word) : null)
      if (problem !== null) return `${problem} at position ${start}`
    }
    at = token.lastIndex
  }
}

function textProblem(text: string): string | null {
  if (text.includes('\u0000')) return 'the body contains the character U+0000'
  return text.isWellFormed() ? null : 'a text contains half of a surrogate pair'
}

/** Records a key of the open object; returns the problem with it. */
function keyProblem(object: Open, key: string): string | null {
  if (key === '__proto__') return 'the key "__proto__" is not allowed'
  if (object.isConstructor && key === 'prototype') return 'the key "constructor.prototype" is not allowed'
  if (object.keys?.has(key)) return 'an object has the same key twice'
  object.keys?.add(key)
  object.key = key
  return null
}

const quote = 34
const backslash = 92
const colon = 58

/** Number of keys in the text: colons outside strings. More than in the value means a duplicate. */
function countKeys(text: string): number {
  let count = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === quote) inString = !inString
    else if (inString && char === backslash) i++
    else if (!inString && char === colon) count++
  }
  return count
}

function refused(details: string): AppError {
  return new AppError('INVALID_REQUEST', details)
}

export type Write = (value: unknown) => string

/** Compiles the serialiser of a schema. */
export function serialiser(schema: TSchema): Write {
  return isSchema(schema) ? writer(schema) : JSON.stringify
}

function writer(schema: Readonly<Record<string, unknown>>): Write {
  if (schema.nullsAreNone === true) return writeNotes
  if (schema.format === 'micros')
    return (value) => (typeof value === 'bigint' ? formatMicros(value) : JSON.stringify(value))
  if (schema.format === 'date-time')
    return (value) => (value instanceof Date ? `"${momentText(value)}"` : JSON.stringify(value))
  if (Array.isArray(schema.anyOf)) return nullable(schema.anyOf.filter(isSchema))
  if (schema.type === 'object' && isSchema(schema.properties)) return objectWriter(schema, schema.properties)
  if (schema.type === 'array' && isSchema(schema.items)) return arrayWriter(writer(schema.items))
  if (schema.type === 'string') return (value) => (typeof value === 'string' ? text(value) : JSON.stringify(value))
  return (value) => JSON.stringify(value)
}

/** Unions in replies are "this or null"; other unions are written unchecked. */
function nullable(options: Readonly<Record<string, unknown>>[]): Write {
  const shapes = options.filter((option) => option.type !== 'null')
  const [only] = shapes
  if (shapes.length !== 1 || !only) return (value) => JSON.stringify(value)
  const write = writer(only)
  return (value) => (value === null ? 'null' : write(value))
}

function objectWriter(schema: Readonly<Record<string, unknown>>, properties: Readonly<Record<string, unknown>>): Write {
  const members = Object.entries(properties).map(([name, property]) => ({
    name,
    label: `${JSON.stringify(name)}:`,
    write: isSchema(property) ? writer(property) : JSON.stringify,
  }))
  return (value) => {
    if (!isSchema(value)) return JSON.stringify(value)
    let out = ''
    for (const { name, label, write } of members) {
      const member = value[name]
      if (member !== undefined) out += `${out && ','}${label}${write(member)}`
    }
    if (schema.additionalProperties !== undefined && schema.additionalProperties !== false)
      for (const [name, member] of Object.entries(value))
        if (!Object.hasOwn(properties, name)) out += `${out && ','}${JSON.stringify(name)}:${JSON.stringify(member)}`
    return `{${out}}`
  }
}

function arrayWriter(write: Write): Write {
  return (value) => {
    if (!Array.isArray(value)) return JSON.stringify(value)
    let out = ''
    for (const item of value) out += `${out && ','}${write(item)}`
    return `[${out}]`
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON must escape
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

function text(value: string): string {
  return needsEscape.test(value) ? JSON.stringify(value) : `"${value}"`
}

/**
 * Redacts a value for a log: known fields only, sensitive ones masked. A value that breaks the schema is kept as far as
 * it matches, so that refused requests can be inspected.
 */
export function redact(schema: object, value: unknown): unknown {
  if (!isSchema(schema)) return undefined
  if (isSchema(schema.judgedApart)) return redact(schema.judgedApart, value)
  if (schema.sensitive === true && value !== null && value !== undefined) return '[redacted]'
  if (Array.isArray(schema.anyOf)) {
    const options = schema.anyOf.filter(isSchema)
    if (options.some((option) => option.sensitive === true)) return '[redacted]'
    const shape = options.find((option) => option.type === (Array.isArray(value) ? 'array' : typeof value))
    return shape ? redact(shape, value) : plainly(value)
  }
  const { properties, items } = schema
  if (value instanceof Date) return momentText(value)
  if (Array.isArray(value)) return isSchema(items) ? value.slice(0, 20).map((item) => redact(items, item)) : '[array]'
  if (isSchema(value)) {
    if (!isSchema(properties)) return '[object]'
    const kept: Record<string, unknown> = {}
    for (const [name, property] of Object.entries(properties))
      if (value[name] !== undefined && isSchema(property)) kept[name] = redact(property, value[name])
    return kept
  }
  // A scalar in place of an object may be a secret: log its type only.
  if (value !== null && (schema.type === 'object' || schema.type === 'array')) return `[${typeof value}]`
  return plainly(value)
}

function plainly(value: unknown): unknown {
  return typeof value === 'bigint' ? formatMicros(value) : value
}

function isSchema(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
