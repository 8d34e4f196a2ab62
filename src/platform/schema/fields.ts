// SPDX-License-Identifier: Apache-2.0
// Schemas shared by all areas. A schema validates, types the handler, fills the OpenAPI document and marks
// (`sensitive`) what never reaches a log. `rule` is the sentence of a validation error.
import { type TSchema, Type } from 'typebox'
import Format from 'typebox/format'
import { allCountries, isCountry } from '../../kernel/countries.ts'
import { isCurrency } from '../../kernel/money.ts'
import { e164, e164Rule } from '../../kernel/phone.ts'
import { parseDay, parseMoment } from '../../kernel/time.ts'

Format.Set('moment', (text) => parseMoment(text) !== null)
Format.Set('day', (text) => parseDay(text) !== null)
Format.Set('country', isCountry)
Format.Set('country-or-all', (text) => text === allCountries || isCountry(text))
Format.Set('currency', isCurrency)
Format.Set('time-zone', (text) => timeZones().has(text))

/** Our own keywords beside JSON Schema. */
export interface Notes {
  description?: string
  /** Sentence after the field's name in an error: `must be ...`. */
  rule?: string
  /** Error code instead of VALIDATION_ERROR when only such fields are invalid. */
  errorCode?: string
  /** Never logged. */
  sensitive?: boolean
  default?: string | null
  /** Object: sentence after the name of a member with an invalid name. */
  nameRule?: string
  /** Object: null members count as absent. */
  nullsAreNone?: boolean
}

/** Shown in place of a secret; in an update it keeps the stored value. */
export const mask = '********'

/**
 * Entry validated on its own, so that a bad one does not fail the others: the request accepts anything here, and the
 * handler checks each entry with `bodyChecker`.
 */
export const JudgedApart = (schema: TSchema) => Type.Unsafe<unknown>({ judgedApart: schema })

/** Time in a request: RFC 3339 with an offset. */
export const Moment = (notes: Notes = {}) =>
  Type.String({
    format: 'moment',
    rule: 'must be an RFC 3339 time with an offset, such as 2026-03-01T09:15:30Z',
    ...notes,
  })

/** UTC day in a request. */
export const Day = (notes: Notes = {}) =>
  Type.String({ format: 'day', rule: 'must be a date such as 2026-03-01', ...notes })

export const CurrencyCode = (notes: Notes = {}) =>
  Type.String({
    format: 'currency',
    rule: 'must be a currency code this service knows, such as KES',
    errorCode: 'UNSUPPORTED_CURRENCY',
    ...notes,
  })

export const CountryCode = (notes: Notes & { format?: string } = {}) =>
  Type.String({
    pattern: '^[A-Z]{2}$',
    format: 'country',
    rule: 'must be an ISO 3166 country code, such as KE',
    ...notes,
  })

/** Country code, or the code for cards of all countries. */
export const CountryOrAll = (notes: Notes = {}) =>
  CountryCode({
    format: 'country-or-all',
    rule: `must be an ISO 3166 country code, such as KE, or ${allCountries} for cards of all countries`,
    ...notes,
  })

/** Phone number in a request. */
export const Phone = (notes: Notes = {}) =>
  Type.String({ pattern: e164, rule: e164Rule, errorCode: 'INVALID_PHONE', ...notes })

/** Name that an operator gives a connection: a bind, a gateway, a trunk. */
export const ConnectionName = (notes: Notes = {}) =>
  Type.String({
    pattern: '^[a-z][a-z0-9-]{0,39}$',
    rule: 'must have 1 to 40 small letters, digits or -, and begin with a letter',
    ...notes,
  })

export const TimeZone = (notes: Notes = {}) =>
  Type.String({ format: 'time-zone', rule: 'must be an IANA time zone, such as Africa/Nairobi', ...notes })

/** Money in a request: a number of major units, or its decimal text; read with `parseAmount`. */
export const AmountIn = (notes: Notes = {}) =>
  Type.Union([Type.Number(), Type.String({ maxLength: 40 })], {
    rule: 'must be an amount in major units, such as 100 or 0.5',
    ...notes,
  })

/** Money in a reply: micros in the program, an exact JSON number of major units on the wire. */
export const Amount = (notes: Notes = {}) => Type.Unsafe<bigint>({ type: 'number', format: 'micros', ...notes })

/** Time in a reply: a Date in the program, ISO 8601 with milliseconds and Z on the wire. */
export const At = (notes: Notes = {}) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', ...notes })

export const Nullable = <T extends TSchema>(schema: T, notes: Notes = {}) =>
  Type.Union([schema, Type.Null()], { ...notes })

/** Enum of strings. */
export const OneOf = <const Words extends readonly string[]>(words: Words, notes: Notes = {}) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], rule: `must be one of ${words.join(', ')}`, ...notes })

/** Enum of strings in any case; the reader converts to lower case. */
export const OneOfAnyCase = (words: readonly string[], notes: Notes = {}) => {
  const format = `any-case:${words.join('|')}`
  Format.Set(format, (text) => words.includes(text.toLowerCase()))
  return Type.String({ format, rule: `must be one of ${words.join(', ')}`, ...notes })
}

export const EnvironmentName = (notes: Notes = {}) => OneOf(['test', 'live'], notes)

const maxMetadataBytes = 8 * 1_024

/** Customer metadata, repeated in replies and events; a null value counts as absent. */
export const Metadata = Type.Refine(
  Type.Record(
    Type.String({ pattern: '^[\\s\\S]{1,40}$' }),
    Type.Union([Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean()], {
      rule: 'must be text of at most 500 characters, a number, true or false',
    }),
    {
      maxProperties: 50,
      additionalProperties: false,
      rule: 'must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all',
      description: 'Custom key-value data, such as `{"order": "1042"}`; returned in replies and events',
      nameRule: 'must have a name of 1 to 40 characters',
      nullsAreNone: true,
    },
  ),
  (notes) => Buffer.byteLength(JSON.stringify(notes)) <= maxMetadataBytes,
  () => `must have at most ${maxMetadataBytes} bytes as JSON`,
)

/** Field refused by name instead of ignored, because its sender would expect an effect. */
export const NotTaken = (rule: string) => Type.Optional(Type.Never({ rule, description: `Always refused: ${rule}` }))

/** Query parameters of list pages. */
export const listQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 50,
      rule: 'must be a whole number from 1 to 200',
      description: 'Rows per page',
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: '`next_cursor` of the previous page' })),
  order: Type.Optional(OneOf(['asc', 'desc'], { description: 'Sort order; default `desc`, newest first' })),
}

/** Query parameters of pages of a list that has one order, which is not that of time. */
export const pageQuery = { limit: listQuery.limit, cursor: listQuery.cursor }

/** Query parameters of a list returned whole unless a page is requested. */
export const wholeListQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      rule: 'must be a whole number from 1 to 200',
      description: 'Rows per page; default all',
    }),
  ),
  cursor: listQuery.cursor,
}

/** Query parameters for a range of days, both included. */
export const dayRangeQuery = {
  start_date: Type.Optional(
    Type.String({ maxLength: 40, description: 'First day, UTC: YYYY-MM-DD, or an RFC 3339 time; inclusive' }),
  ),
  end_date: Type.Optional(
    Type.String({ maxLength: 40, description: 'Last day, UTC: YYYY-MM-DD, or an RFC 3339 time; inclusive' }),
  ),
}

export const timeWindowQuery = {
  from: Type.Optional(Type.String({ maxLength: 40, description: 'A day or an RFC 3339 time, inclusive' })),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'A day, inclusive, or an RFC 3339 time, exclusive' })),
}

let zones: Set<string> | undefined
function timeZones(): Set<string> {
  zones ??= new Set([...Intl.supportedValuesOf('timeZone'), 'UTC'])
  return zones
}

/** Reply of a deletion. */
export const Deleted = Type.Object(
  {
    id: Type.String({ description: 'Id of the deleted object' }),
    deleted: Type.Literal(true, { description: 'Always true' }),
  },
  { title: 'Deleted' },
)
