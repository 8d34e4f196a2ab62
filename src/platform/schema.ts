// SPDX-License-Identifier: Apache-2.0
// Shapes that every area uses. A schema is written once: it validates, types the handler, fills the OpenAPI document and
// says (through `sensitive`) what never reaches a log. `rule` is the sentence a customer reads when a field breaks it.
import { type TSchema, Type } from 'typebox'
import Format from 'typebox/format'
import { allCountries, isCountry } from '../kernel/countries.ts'
import { isCurrency } from '../kernel/money.ts'
import { parseDay, parseMoment } from '../kernel/time.ts'

Format.Set('moment', (text) => parseMoment(text) !== null)
Format.Set('day', (text) => parseDay(text) !== null)
Format.Set('country', isCountry)
Format.Set('country-or-all', (text) => text === allCountries || isCountry(text))
Format.Set('currency', isCurrency)
Format.Set('time-zone', (text) => timeZones().has(text))

/** What an own keyword of a schema may say beside JSON Schema. */
export interface Notes {
  description?: string
  /** The sentence after the field's name when it is wrong: `must be ...`. */
  rule?: string
  /** The error code that replaces VALIDATION_ERROR when only such fields are wrong. */
  errorCode?: string
  /** Never written to a log. */
  sensitive?: boolean
  default?: string | null
  /** Of an object: the sentence after the name of a member that it does not take for its name. */
  nameRule?: string
  /** Of an object: a member that is null is none. */
  nullsAreNone?: boolean
}

/** How a secret is shown. Where one may be changed, this stands for the value that was there. */
export const mask = '********'

/**
 * One of many that gets a verdict of its own, so that a bad one stops no other: the request passes whatever stands here,
 * and its verb holds each against the schema with `bodyChecker`.
 */
export const JudgedApart = (schema: TSchema) => Type.Unsafe<unknown>({ judgedApart: schema })

/** A moment in a request: RFC 3339 with an offset. */
export const Moment = (notes: Notes = {}) =>
  Type.String({
    format: 'moment',
    rule: 'must be an RFC 3339 time with an offset, such as 2026-03-01T09:15:30Z',
    ...notes,
  })

/** A UTC day in a request. */
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

/** Where a card may be meant too, which is charged wherever it comes from. */
export const CountryOrAll = (notes: Notes = {}) =>
  CountryCode({
    format: 'country-or-all',
    rule: `must be an ISO 3166 country code, such as KE, or ${allCountries} for cards of all countries`,
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

/** Money in a reply: micros here, an exact JSON number of major units on the wire. */
export const Amount = (notes: Notes = {}) => Type.Unsafe<bigint>({ type: 'number', format: 'micros', ...notes })

/** A moment in a reply: a Date here, ISO 8601 with milliseconds and Z on the wire. */
export const At = (notes: Notes = {}) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', ...notes })

export const Nullable = <T extends TSchema>(schema: T, notes: Notes = {}) =>
  Type.Union([schema, Type.Null()], { ...notes })

/** One of a few words. */
export const OneOf = <const Words extends readonly string[]>(words: Words, notes: Notes = {}) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], rule: `must be one of ${words.join(', ')}`, ...notes })

/** As `OneOf`, whether in capitals or not: whoever reads it makes it small. */
export const OneOfAnyCase = (words: readonly string[], notes: Notes = {}) => {
  const format = `any-case:${words.join('|')}`
  Format.Set(format, (text) => words.includes(text.toLowerCase()))
  return Type.String({ format, rule: `must be one of ${words.join(', ')}`, ...notes })
}

export const EnvironmentName = (notes: Notes = {}) => OneOf(['test', 'live'], notes)

const maxMetadataBytes = 8 * 1_024

/** The customer's own notes on a thing, echoed in records and events; a note that is null is none. */
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
      nameRule: 'must have a name of 1 to 40 characters',
      nullsAreNone: true,
    },
  ),
  (notes) => Buffer.byteLength(JSON.stringify(notes)) <= maxMetadataBytes,
  () => `must have at most ${maxMetadataBytes} bytes as JSON`,
)

/** A field that is refused by name rather than passed over, because whoever sends it expects something of it. */
export const NotTaken = (rule: string) => Type.Optional(Type.Never({ rule, description: `Refused: ${rule}` }))

/** The part of a query string that pages a list. */
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
  cursor: Type.Optional(Type.String({ maxLength: 200, description: '`next_cursor` of the page before' })),
  order: Type.Optional(OneOf(['asc', 'desc'], { description: 'Newest first (`desc`) unless asked otherwise' })),
}

/** The same for a list that is given whole unless a page is asked for. */
export const wholeListQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      rule: 'must be a whole number from 1 to 200',
      description: 'Rows per page; all of them unless given',
    }),
  ),
  cursor: listQuery.cursor,
}

/** The part of a query string that bounds a list by days, both included. */
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

/** The reply to the removal of something that has an id. */
export const Deleted = Type.Object({ id: Type.String(), deleted: Type.Literal(true) }, { title: 'Deleted' })
