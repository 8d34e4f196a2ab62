// SPDX-License-Identifier: Apache-2.0
// The files of a new area: small, but whole. It compiles and keeps the laws from its first line on; only its journey fails.

/** File -> text. */
export function areaFiles(name, prefix, day) {
  const Name = name.charAt(0).toUpperCase() + name.slice(1)
  return {
    [`src/areas/${name}/area.ts`]: `// SPDX-License-Identifier: Apache-2.0
// The door of the ${name} area.
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { ${name}Events } from './events.ts'
import { ${name}Routes } from './routes.ts'

export const ${name}: Area = {
  name: '${name}',
  chapters: { ${name}: { title: '${Name}', about: '${Name} of an account: creation and lookup.' } },
  scopes: [scopeArea('${name}')],
  routes: ${name}Routes,
  events: Object.values(${name}Events),
}
`,
    [`src/areas/${name}/events.ts`]: `// SPDX-License-Identifier: Apache-2.0
// Events of the ${name} area.
import { Type } from 'typebox'
import { eventType } from '../../platform/events.ts'

export const ${name}Events = {
  created: eventType({
    name: '${name}.created',
    summary: 'A thing was created',
    payload: Type.Object(
      {
        id: Type.String({ description: 'Id of the thing: ${prefix}_ and 26 characters' }),
        name: Type.String({ description: 'Display name' }),
      },
      { title: '${Name}CreatedEvent' },
    ),
    sample: { id: '${prefix}_01jb2c3d4e5f6g7h8j9kamnpqr', name: 'Example' },
  }),
}
`,
    [`src/areas/${name}/schema.ts`]: `// SPDX-License-Identifier: Apache-2.0
// Shapes of requests and replies of the ${name} area.
import { Type } from 'typebox'
import { At } from '../../platform/schema/fields.ts'

export const ThingCreate = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    rule: 'must have 1 to 100 characters',
    description: 'Display name',
  }),
})

export const Thing = Type.Object(
  {
    id: Type.String({ description: 'Id of the thing: ${prefix}_ and 26 characters' }),
    name: Type.String({ description: 'Display name' }),
    created_at: At({ description: 'Time of creation' }),
  },
  { title: '${Name}Thing' },
)
`,
    [`src/areas/${name}/store.ts`]: `// SPDX-License-Identifier: Apache-2.0
// SQL of the ${name} area.
import { statement } from '../../platform/db.ts'
import { mine, type One } from '../../platform/tenant.ts'

export interface ThingRow {
  id: string
  name: string
}

export const insertThing = statement.tenant<One & { name: string }, ThingRow>(
  '${name}.insert_thing',
  \`insert into ${name}.things (bucket, account_id, environment, id, name)
   values ($bucket, $account, $environment, $id, $name)
   returning id, name\`,
)

export const findThing = statement.tenant<One, ThingRow>(
  '${name}.find_thing',
  \`select id, name from ${name}.things where \${mine} and id = $id\`,
)
`,
    [`src/areas/${name}/routes.ts`]: `// SPDX-License-Identifier: Apache-2.0
// Routes of the ${name} area.
import type { Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid, timeOfUuid, uuidOf } from '../../kernel/ids.ts'
import { record } from '../../platform/api/audit.ts'
import { IdParam, type Route, read, write } from '../../platform/api/route.ts'
import { maybe, one } from '../../platform/db.ts'
import { ${name}Events } from './events.ts'
import { Thing, ThingCreate } from './schema.ts'
import { findThing, insertThing, type ThingRow } from './store.ts'

const create = write({
  method: 'POST',
  path: '/v1/${name}',
  operation: '${name}.create',
  summary: 'Create a thing',
  scope: '${name}:write',
  body: ThingCreate,
  reply: { status: 201, schema: Thing, location: ({ id }) => \`/v1/${name}/\${id}\` },
  examples: [{ name: 'Create a thing', body: { name: 'Example' } }],
  handle: async (app, tx, { body }, caller) => {
    const row = await one(tx.query(insertThing, { ...caller.tenant, id: newUuid(caller.nowMs), name: body.name }))
    const made = thingOf(row)
    await record(tx, caller, '${name}.create', made.id, { after: made })
    await app.outbox.emit(tx, ${name}Events.created, caller, made.id, { id: made.id, name: made.name })
    return made
  },
})

const get = read({
  method: 'GET',
  path: '/v1/${name}/:id',
  operation: '${name}.get',
  summary: 'Get a thing',
  scope: '${name}:read',
  params: IdParam,
  reply: { status: 200, schema: Thing },
  errors: ['NOT_FOUND'],
  handle: async ({ db }, { params }, { tenant }) => {
    const id = uuidOf('${name}', params.id)
    const row = id && (await maybe(db.query(findThing, { ...tenant, id })))
    if (!row) throw new AppError('NOT_FOUND', 'no thing has this id; ids begin with ${prefix}_')
    return thingOf(row)
  },
})

function thingOf({ id, name }: ThingRow): Static<typeof Thing> {
  return { id: idOf('${name}', id), name, created_at: timeOfUuid(id) }
}

export const ${name}Routes: readonly Route[] = [create, get]
`,
    [`src/migrations/${day}_${name}.sql`]: `-- The ${name} area.

create schema if not exists ${name};

-- One row is a thing that an account created. A table that belongs to no account says so instead:
-- comment on table ${name}.<table> is 'Reference: one row is …';
create table ${name}.things (
  bucket      smallint not null,
  account_id  uuid not null,
  environment text not null,
  id          uuid not null,
  name        text not null,
  primary key (bucket, account_id, environment, id)
);
`,
    [`test/journeys/${name}.test.ts`]: `// SPDX-License-Identifier: Apache-2.0
// Creation and lookup of ${name}.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

test('a thing that was created can be read', async () => {
  const { client } = await world.account()
  const made = await client.post('/v1/${name}', { name: 'Mine' })
  assert.equal(made.status, 201, made.text)
  const read = await client.get(\`/v1/${name}/\${made.body.id}\`)
  assert.equal(read.body.name, 'Mine')
  assert.fail('say what a customer of ${name} does, and take this line away')
})
`,
  }
}
