// SPDX-License-Identifier: Apache-2.0
// Operator routes of registries. The token is write-only.
import { randomBytes } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, list, type Need, noContent, type Route, read, writeAcross } from '../../../platform/api/route.ts'
import { maybe, statement } from '../../../platform/db.ts'
import { At, CountryCode, OneOf, wholeListQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import { documentTypes } from '../catalogue.ts'
import { registryPlace } from './registries.ts'

const RegistryCreate = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: 'Label' }),
    country: CountryCode({ description: 'Country of its documents' }),
    id_types: Type.Optional(
      Type.Array(OneOf(documentTypes), { maxItems: 8, description: 'Document types; none: all of the country' }),
    ),
    url: Type.String({
      pattern: '^https?://[^?#\\s]+[^/?#\\s]$',
      maxLength: 500,
      rule: 'must be a URL without a slash at its end; /lookup is added to it',
      description: 'Base URL of the registry',
    }),
    token: Type.String({ minLength: 1, maxLength: 1024, sensitive: true, description: 'Token sent as a bearer token' }),
  },
  { title: 'IdentityRegistryCreate' },
)

const RegistryRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the registry, such as `reg_…`' }),
    name: Type.String({ description: 'Label of the registry' }),
    country: Type.String({ description: 'Country of the registry, ISO 3166' }),
    id_types: Type.Array(Type.String(), { description: 'Document types that it can look up' }),
    url: Type.String({ description: 'Base URL; `/lookup` is added' }),
    created_at: At({ description: 'Time of connection' }),
  },
  { title: 'IdentityRegistry' },
)

type Row = Static<typeof RegistryRecord>

const columns = 'id, name, country, id_types, url, created_at'

const insert = statement.home<
  { id: string; name: string; country: string; types: readonly string[]; url: string; sealed: Buffer; at: Date },
  Row
>(
  'identity.add_registry',
  `insert into identity.registries (id, name, country, id_types, url, sealed, created_at)
   values ($id, $name, $country, $types::text[], $url, $sealed, $at) on conflict do nothing returning ${columns}`,
)

const selectAll = statement.home<Record<never, never>, Row>(
  'identity.list_registries',
  `select ${columns} from identity.registries order by id`,
)

const deleteOne = statement.home<{ id: string }, { id: string }>(
  'identity.delete_registry',
  'delete from identity.registries where id = $id returning id',
)

const shown = (row: Row): Row => ({ ...row, id: idOf('registry', row.id) })

const connect = writeAcross({
  method: 'POST',
  path: '/v1/operator/identity/registries',
  operation: 'operator.connectRegistry',
  summary: 'Connect an identity registry',
  description:
    'Lookups call POST {url}/lookup with {country, id_type, id_number, first_name, last_name, date_of_birth}; the registry returns {found, match: {field: exact, partial or none}, photo}.',
  scope: 'operator',
  body: RegistryCreate,
  reply: { status: 201, schema: RegistryRecord, location: ({ id }) => `/v1/operator/identity/registries/${id}` },
  errors: ['CONFLICT', 'INVALID_URL'],
  examples: [
    {
      name: 'Passports of Kenya',
      body: {
        name: 'immigration',
        country: 'KE',
        id_types: ['passport'],
        url: 'https://registry.example.com/v1',
        token: 'secret-of-the-registry',
      },
    },
  ],
  async handle(app, tx, { body }, caller) {
    const id = newUuid(caller.receivedMs)
    const { name, country, id_types: types = [], url, token } = body
    const sealed = app.secrets.sealForInstallation(registryPlace(id), token)
    const at = new Date(caller.nowMs)
    const row = await maybe(tx.query(insert, { id, name, country, types, url, sealed, at }))
    if (!row) throw new AppError('CONFLICT', 'the country has a registry of this name')
    await record(tx, caller, 'identity_registry.create', idOf('registry', id))
    return shown(row)
  },
})

const listAll = list({
  path: '/v1/operator/identity/registries',
  operation: 'operator.listRegistries',
  summary: 'List identity registries',
  scope: 'operator',
  query: Type.Object(wholeListQuery),
  row: RegistryRecord,
  handle: async (app, { query }) => pageOfWhole(query, (await app.db.query(selectAll, {})).map(shown), ({ id }) => id),
})

/** Registry names are unique per country, so each example needs its own. */
const aRegistry: Need = {
  operation: 'operator.connectRegistry',
  id: 'id',
  body: () => ({
    name: `registry-${randomBytes(4).toString('hex')}`,
    country: 'KE',
    id_types: ['passport'],
    url: 'https://registry.example.com/v1',
    token: 'secret-of-the-registry',
  }),
}

const getOne = read({
  method: 'GET',
  path: '/v1/operator/identity/registries/:id',
  operation: 'operator.getRegistry',
  summary: 'Get an identity registry',
  scope: 'operator',
  params: IdParam,
  needs: aRegistry,
  reply: { status: 200, schema: RegistryRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }) => {
    const id = uuidOf('registry', params.id)
    const row = (await app.db.query(selectAll, {})).find((one) => one.id === id)
    if (!row) throw new AppError('NOT_FOUND', 'there is no registry with this id')
    return shown(row)
  },
})

const disconnect = writeAcross({
  method: 'DELETE',
  path: '/v1/operator/identity/registries/:id',
  operation: 'operator.disconnectRegistry',
  summary: 'Disconnect an identity registry',
  scope: 'operator',
  params: IdParam,
  needs: aRegistry,
  reply: noContent,
  errors: ['NOT_FOUND'],
  async handle(_app, tx, { params }, caller) {
    const id = uuidOf('registry', params.id)
    const gone = id === null ? [] : await tx.query(deleteOne, { id })
    if (gone.length === 0) throw new AppError('NOT_FOUND', 'there is no registry with this id')
    await record(tx, caller, 'identity_registry.delete', params.id)
    return {}
  },
})

export const registryRoutes: readonly Route[] = [connect, listAll, getOne, disconnect]
