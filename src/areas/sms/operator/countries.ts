// SPDX-License-Identifier: Apache-2.0
// Operator settings per country: whether texts may be sent there, and the rules for senders.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { networks } from '../../../kernel/phone.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, writeAcross } from '../../../platform/api/route.ts'
import { maybe, one, statement } from '../../../platform/db.ts'
import { Nullable, OneOf, wholeListQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import { isCountry, usualRegistration } from '../senders/countries.ts'
import { announcePermission } from '../senders/permissions.ts'

const registrations = ['required', 'open'] as const

const CountryParam = Type.Object({ country: Type.String({ description: 'Country code, ISO 3166, such as KE' }) })

const CountryChange = Type.Object({
  enabled: Type.Optional(
    Nullable(Type.Boolean(), {
      rule: 'must be true, false or null',
      description: 'False refuses messages to the country',
    }),
  ),
  sender_registration: Type.Optional(
    Nullable(OneOf(registrations), {
      rule: `must be one of ${registrations.join(', ')}, or null`,
      description: '`required`: only approved senders; null: the default of the country',
    }),
  ),
})

const CountryRecord = Type.Object(
  {
    country: Type.String({ description: 'Country code, ISO 3166, such as KE' }),
    enabled: Type.Boolean({ description: 'False refuses messages to the country' }),
    sender_registration: OneOf(registrations, { description: '`required`: only approved senders' }),
    is_default: Type.Boolean({ description: 'True if no rule was set; test keys may then use any sender' }),
  },
  { title: 'SmsCountry' },
)

interface CountryRow {
  country: string
  enabled: boolean | null
  sender_registration: (typeof registrations)[number] | null
}

const selectCountries = statement.home<Record<never, never>, CountryRow>(
  'sms.list_countries',
  'select country, enabled, sender_registration from sms.country_rules order by country',
)

const findCountry = statement.home<{ country: string }, CountryRow>(
  'sms.find_country',
  'select country, enabled, sender_registration from sms.country_rules where country = $country for update',
)

const upsertCountry = statement.home<
  { country: string; enabled: boolean | null; registration: string | null; at: Date },
  CountryRow
>(
  'sms.set_country',
  `insert into sms.country_rules (country, enabled, sender_registration, updated_at)
   values ($country, $enabled, $registration, $at)
   on conflict (country) do update
     set enabled = excluded.enabled, sender_registration = excluded.sender_registration, updated_at = excluded.updated_at
   returning country, enabled, sender_registration`,
)

const listCountries = list({
  path: '/v1/operator/sms/countries',
  operation: 'operator.listSmsCountries',
  summary: 'List countries and their sender rules',
  scope: 'operator',
  query: Type.Object(wholeListQuery),
  row: CountryRecord,
  examples: [{ name: 'All countries' }],
  handle: async (app, { query }) => {
    const said = new Map((await app.db.query(selectCountries, {})).map((row) => [row.country, row]))
    const countries = [...new Set([...networks.map(({ country }) => country), ...said.keys()])].sort()
    const rows = countries.map((country) => countryRecord(said.get(country) ?? unsaid(country)))
    return pageOfWhole(query, rows, ({ country }) => country)
  },
})

const changeCountry = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/sms/countries/:country',
  operation: 'operator.changeSmsCountry',
  summary: 'Update a country’s sender rules',
  description: 'These rules apply to live and test keys; the defaults of a country apply to live keys only.',
  scope: 'operator',
  params: CountryParam,
  body: CountryChange,
  reply: { status: 200, schema: CountryRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  handle: async (app, tx, { params: { country }, body }, caller) => {
    if (!isCountry(country)) throw new AppError('NOT_FOUND', 'there is no such country; codes are such as KE')
    const before = (await maybe(tx.query(findCountry, { country }))) ?? unsaid(country)
    const wanted = {
      country,
      enabled: body.enabled === undefined ? before.enabled : body.enabled,
      sender_registration:
        body.sender_registration === undefined ? before.sender_registration : body.sender_registration,
    }
    const { enabled, sender_registration: registration } = wanted
    const row = await one(tx.query(upsertCountry, { country, enabled, registration, at: new Date(caller.receivedMs) }))
    await record(tx, caller, 'sms.change_country', country, { before, after: wanted })
    await announcePermission(app, tx)
    return countryRecord(row)
  },
})

function unsaid(country: string): CountryRow {
  return { country, enabled: null, sender_registration: null }
}

function countryRecord({ country, enabled, sender_registration }: CountryRow): Static<typeof CountryRecord> {
  return {
    country,
    enabled: enabled ?? true,
    sender_registration: sender_registration ?? usualRegistration(country),
    is_default: enabled === null && sender_registration === null,
  }
}

export const countryRoutes: readonly Route[] = [listCountries, changeCountry]
