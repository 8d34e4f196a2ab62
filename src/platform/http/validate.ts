// SPDX-License-Identifier: Apache-2.0
// Validation of a request against its schema. All problems are reported together, with a code more specific than
// VALIDATION_ERROR if it fits every one. Unknown fields are reported, not refused, unless the caller is strict.
import type { Static, TSchema } from 'typebox'
import type { TLocalizedValidationError } from 'typebox/error'
import { Compile } from 'typebox/schema'
import { Settings } from 'typebox/system'
import { withoutCardNumbers } from '../../kernel/card.ts'
import { AppError, type ErrorCode, errors, type FieldProblem } from '../../kernel/errors.ts'
import { nearest } from '../../kernel/spelling.ts'
import { keepExact, withExact } from '../metadata/exact.ts'

const maxProblems = 50
/** Length limit of field names in errors, which the caller chooses. */
const maxFieldLength = 200
/** Limit of unknown fields reported in a header. */
const maxUnknown = 10
/** Problems and unknown fields that the details of an error name. */
const shownProblems = 5
const shownUnknown = 3
const missing = 'is required'
/** Form of a field name; a text that was sent as a form does not match. */
const nameForm = /^[a-z_][\w.[\]-]{0,39}$/i
Settings.Set({ maxErrors: maxProblems * 4 })

type Plain = Readonly<Record<string, unknown>>

export interface Checked<T> {
  value: T
  /** Fields the schema does not name. */
  unknown: readonly UnknownField[]
}

export interface UnknownField {
  /** Field name, printable in a header. */
  field: string
  /** Closest known name. */
  meant: string | null
}

export type Checker<S extends TSchema> = (value: unknown) => Checked<Static<S>>

/** Compiles the check of a JSON body: 422 when invalid. */
export function bodyChecker<S extends TSchema>(schema: S): Checker<S> {
  const compiled = whenNeeded(() => Compile(schema))
  return (given) => {
    const value = holdsNull(given) ? withoutNulls(schema, given) : given
    if (!compiled().Check(value)) throw refusal(schema, value, compiled().Errors(value)[1], 'VALIDATION_ERROR')
    const unknown = unknownFields(schema, value)
    if (unknown.length === 0) return { value: withExactNotes(schema, value), unknown }
    const known = withoutUnknown(schema, value)
    if (!compiled().Check(known)) throw refusal(schema, value, compiled().Errors(known)[1], 'VALIDATION_ERROR')
    return { value: withExactNotes(schema, known), unknown }
  }
}

/** Valid body with metadata in its original notation. */
function withExactNotes<T>(schema: TSchema, value: T): T {
  if (!isPlain(value) || !isPlain(value.metadata)) return value
  if (memberOf(schemaAt(schema, 'properties'), 'metadata').nullsAreNone !== true) return value
  const notes = withExact(Object(value.metadata))
  return notes === value.metadata ? value : { ...value, metadata: notes }
}

/** Whether a value matches a schema; a fast check, after which `bodyChecker` explains failures. */
export function fitter<S extends TSchema>(schema: S): (value: unknown) => value is Static<S> {
  const compiled = whenNeeded(() => Compile(schema))
  return (value): value is Static<S> => compiled().Check(value)
}

/** Compiles the check of a query string, with conversion to numbers, booleans and lists: 400 when invalid. */
export function queryChecker<S extends TSchema>(schema: S): Checker<S> {
  const compiled = whenNeeded(() => Compile(schema))
  return (given) => {
    const value = isPlain(given) ? coerced(schema, given) : given
    if (!compiled().Check(value)) throw refusal(schema, value, compiled().Errors(value)[1], 'INVALID_REQUEST')
    const unknown = unknownFields(schema, value)
    if (unknown.length === 0) return { value, unknown }
    const known = withoutUnknown(schema, value)
    if (!compiled().Check(known)) throw refusal(schema, value, compiled().Errors(known)[1], 'INVALID_REQUEST')
    return { value: known, unknown }
  }
}

/** Compiles at first use: hundreds of schemas would slow the start, and most are never needed. */
function whenNeeded<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Error for unknown fields of a strict request. */
export function strictRefusal(
  unknown: readonly UnknownField[],
  code: 'VALIDATION_ERROR' | 'INVALID_REQUEST',
): AppError {
  const fields = unknown.map(({ field, meant }) => ({
    field: withoutCardNumbers(field),
    code,
    message: `is unknown${suggestion(meant)}`,
  }))
  return new AppError(code, unknown.map((field) => `unknown field ${shown(field)}`).join('; '), { fields })
}

/** Unknown field with a suggestion, as reported. */
export function shown({ field, meant }: UnknownField): string {
  return `"${field}"${suggestion(meant)}`
}

function suggestion(meant: string | null): string {
  return meant === null ? '' : ` (did you mean "${meant}"?)`
}

/** Problem of a value; for a missing field also the unknown fields, one of which may be it under another name. */
function refusal(
  schema: TSchema,
  given: unknown,
  found: TLocalizedValidationError[],
  fallback: 'VALIDATION_ERROR' | 'INVALID_REQUEST',
): AppError {
  const fields = problems(schema, found, fallback)
  const [first] = fields
  const same = first && fields.every(({ code }) => code === first.code) ? first.code : fallback
  const code = fallback === 'INVALID_REQUEST' ? fallback : same
  const said = fields.slice(0, shownProblems).map(({ field, message }) => `${field || 'body'} ${message}`)
  const strange = fields.some(({ message }) => message === missing) ? unknownFields(schema, given) : []
  const named = strange
    .filter(({ field }) => nameForm.test(field))
    .slice(0, shownUnknown)
    .map((one) => `unknown field ${shown(one)}`)
  return new AppError(code, [...said, ...named].join('; '), { fields })
}

/** Problems of a value, one per field: the first, in the schema's words where it has some. */
function problems(schema: TSchema, found: TLocalizedValidationError[], fallback: ErrorCode): FieldProblem[] {
  const byField = new Map<string, FieldProblem>()
  const unions = new Map(
    found
      .filter(({ keyword }) => keyword === 'anyOf')
      .map((error) => [error.instancePath, schemaAt(schema, error.schemaPath)]),
  )
  for (const { keyword, params, schemaPath, instancePath, message } of found) {
    const at = schemaAt(schema, schemaPath)
    if (keyword === 'required' && 'requiredProperties' in params) {
      for (const name of params.requiredProperties) note(fieldName(`${instancePath}/${name}`), fallback, missing)
    } else if (!(unions.has(instancePath) && hasProblemInside(instancePath))) {
      // Each variant of a union reports its own problem: describe the field once, by the union's rule.
      const whole = unions.get(instancePath) ?? {}
      const words = unions.has(instancePath) ? 'does not have one of the accepted forms' : sentence(message)
      const rule = ruleOf(at) ?? ruleOf(whole) ?? (keyword === 'boolean' ? nameRuleOf(schema, schemaPath) : null)
      const said = keyword === 'type' && at.type === 'string' ? rule?.replace(/^must have /, 'must be text of ') : rule
      // A refinement has its own message.
      const why = keyword === '~refine' ? message : (said ?? words)
      const code = keyword === '~refine' ? refinementCode(at, params) : null
      note(fieldName(instancePath), code ?? codeOf(at) ?? codeOf(whole) ?? fallback, why)
    }
  }
  return [...byField.values()].slice(0, maxProblems)

  /** Whether a deeper field has the problem: then the field matches a variant, and the deeper problem is reported. */
  function hasProblemInside(path: string): boolean {
    return found.some(
      ({ keyword, instancePath }) =>
        instancePath.startsWith(`${path}/`) || (keyword === 'required' && instancePath === path),
    )
  }

  function note(field: string, code: ErrorCode, message: string): void {
    // A field name may contain a card number: remove it.
    const shown = withoutCardNumbers(field.slice(0, maxFieldLength))
    if (!byField.has(shown)) byField.set(shown, { field: shown, code, message })
  }
}

/** Schema at a JSON pointer. */
function schemaAt(schema: unknown, pointer: string): Plain {
  let here: unknown = schema
  for (const step of pointer.replace(/^#\/?/, '').split('/'))
    if (step !== '' && isPlain(here)) here = here[unescaped(step)]
    else if (step !== '' && Array.isArray(here)) here = here[Number(step)]
  if (!isPlain(here)) return {}
  return isPlain(here.judgedApart) ? here.judgedApart : here
}

/** Schema of the entries of a list. */
function itemsOf(schema: unknown): Plain {
  const items = isPlain(schema) ? schema.items : null
  if (!isPlain(items)) return {}
  return isPlain(items.judgedApart) ? items.judgedApart : items
}

/** Schema of one property. Its name comes from the customer: it may contain a slash or be an inherited property's. */
function memberOf(properties: Plain, name: string): Plain {
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined
  return isPlain(member) ? member : {}
}

function ruleOf(schema: Plain): string | null {
  return typeof schema.rule === 'string' ? schema.rule : null
}

/** Rule for property names that an object's schema states. */
function nameRuleOf(schema: TSchema, schemaPath: string): string | null {
  const { nameRule } = schemaAt(schema, schemaPath.replace(/\/additionalProperties$/, ''))
  return typeof nameRule === 'string' ? nameRule : null
}

function codeOf({ errorCode }: Plain): ErrorCode | null {
  return typeof errorCode === 'string' && isErrorCode(errorCode) ? errorCode : null
}

/** Code of the refinement that failed, where the schema gives each its own. */
function refinementCode({ refinementCodes: codes }: Plain, params: object): ErrorCode | null {
  const index = 'index' in params ? Number(params.index) : 0
  return Array.isArray(codes) ? codeOf({ errorCode: codes[index] }) : null
}

function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errors, text)
}

/** Names of JSON types in the documentation. */
const typeNames: Readonly<Record<string, string>> = {
  object: 'a JSON object',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
}

function sentence(message: string): string {
  return message
    .replace(/^must match pattern .*/, 'does not have the required form')
    .replace(/^schema is false$/, 'is not a field that is known here')
    .replace(/^must be (\w+)$/, (all, type: string) => (typeNames[type] ? `must be ${typeNames[type]}` : all))
}

/** JSON pointer `/messages/3/to` as a field path: `messages[3].to`. */
function fieldName(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map(unescaped)
    .reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path ? `${path}.${step}` : step), '')
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

function holdsNull(value: unknown): boolean {
  if (value === null) return true
  if (typeof value !== 'object') return false
  for (const member of Object.values(value)) if (holdsNull(member)) return true
  return false
}

/** Removes nulls of optional fields, which count as absent, and of objects that treat all members so. */
function withoutNulls(schema: TSchema | Plain, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = itemsOf(schema)
    return value.map((item) => withoutNulls(items, item))
  }
  if (!isPlain(value)) return value
  const properties = schemaAt(schema, 'properties')
  const required = isPlain(schema) && Array.isArray(schema.required) ? schema.required : []
  const nullsAreNone = isPlain(schema) && schema.nullsAreNone === true
  const kept: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const property = memberOf(properties, name)
    const isOptional = nullsAreNone || (Object.hasOwn(properties, name) && !required.includes(name))
    const absent = member === null && isOptional && !acceptsNull(property)
    if (!absent) kept[name] = withoutNulls(property, member)
  }
  return keepExact(value, kept)
}

function acceptsNull(schema: Plain): boolean {
  return (
    schema.type === 'null' ||
    (Array.isArray(schema.anyOf) && schema.anyOf.some((option) => isPlain(option) && acceptsNull(option)))
  )
}

/** `metadata[order]`: object member in a query string. */
const memberForm = /^(\w+)\[([^\]]+)\]$/

/** Texts of a query string or form, converted by the schema. */
export function coerced(schema: TSchema, query: Plain): Plain {
  const properties = schemaAt(schema, 'properties')
  const values: Record<string, unknown> = {}
  for (const [name, given] of Object.entries(query)) {
    const [, whole = '', member = ''] = memberForm.exec(name) ?? []
    if (memberOf(properties, whole).type === 'object') {
      values[whole] = { ...Object(values[whole]), [member]: Array.isArray(given) ? given.at(-1) : given }
      continue
    }
    const property = memberOf(properties, name)
    if (property.type === 'array') values[name] = [given].flat().flatMap((text) => String(text).split(','))
    else values[name] = scalar(property.type, Array.isArray(given) ? given.at(-1) : given)
  }
  return values
}

function scalar(type: unknown, given: unknown): unknown {
  if (typeof given !== 'string') return given
  if (type === 'integer' || type === 'number') return /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : given
  if (type === 'boolean') return { true: true, '1': true, false: false, '0': false }[given] ?? given
  return given
}

/** Unknown fields at any depth, up to the limit of a header. */
function unknownFields(schema: TSchema, value: unknown): UnknownField[] {
  const found: UnknownField[] = []
  findUnknown(schema, value, '', found)
  return found
}

/** Every list entry is checked: a strict caller wants the ten-thousandth too. */
function findUnknown(schema: TSchema | Plain, value: unknown, path: string, found: UnknownField[]): void {
  if (Array.isArray(value)) {
    const items = itemsOf(schema)
    if (!isPlain(items.properties)) return
    for (let i = 0; i < value.length && found.length < maxUnknown; i++)
      findUnknown(items, value[i], `${path}[${i}]`, found)
    return
  }
  if (!isPlain(value) || !isPlain(schema) || !isPlain(schema.properties)) return
  for (const name in value) {
    if (found.length >= maxUnknown) return
    const property = schema.properties[name]
    if (isPlain(property)) {
      const member = value[name]
      if (typeof member === 'object' && member !== null)
        findUnknown(property, member, path ? `${path}.${name}` : name, found)
    } else if (schema.additionalProperties === undefined || schema.additionalProperties === false) {
      const meant = nearest(name, Object.keys(schema.properties))
      found.push({ field: printable(path ? `${path}.${name}` : name), meant })
    }
  }
}

/** Removes unknown fields, so that they are not stored with the object, and no shared code obeys them. */
function withoutUnknown(schema: unknown, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = itemsOf(schema)
    return isPlain(items.properties) ? value.map((item) => withoutUnknown(items, item)) : value
  }
  if (!isPlain(value) || !isPlain(schema) || !isPlain(schema.properties)) return value
  const isOpen = schema.additionalProperties !== undefined && schema.additionalProperties !== false
  const kept: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const property = memberOf(schema.properties, name)
    if (Object.hasOwn(schema.properties, name)) kept[name] = withoutUnknown(property, member)
    else if (isOpen) kept[name] = member
  }
  return kept
}

/** Header values take visible ASCII only. */
function printable(name: string): string {
  return name.slice(0, 60).replace(/[^\x20-\x21\x23-\x7e]/g, '?')
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
