// SPDX-License-Identifier: Apache-2.0
// Routes of templates. A change makes a new version; accepted messages keep theirs.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, statement, type Tx } from '../../../platform/db.ts'
import { At, Deleted, listQuery, Nullable } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import { Variables } from '../schema.ts'
import { compile, render } from './engine.ts'
import { type FoundTemplate, findTemplate } from './find.ts'

const fields = {
  subject: Type.String({
    minLength: 1,
    maxLength: 998,
    pattern: '^[^\\r\\n]*$',
    rule: 'must be 1 to 998 characters in one line',
    description: 'Subject with {{placeholders}}; a message may override it',
  }),
  html: Type.String({
    minLength: 1,
    maxLength: 1024 * 1024,
    rule: 'must be 1 character to 1 MiB',
    description: 'HTML body with {{placeholders}}, filled from `variables`',
  }),
  text: Type.Optional(
    Nullable(Type.String({ maxLength: 1024 * 1024, description: 'Plain-text body; default: generated from the HTML' })),
  ),
  description: Type.Optional(Nullable(Type.String({ maxLength: 500, description: 'Internal note' }))),
  defaults: Type.Optional(Variables),
}

const TemplateCreate = Type.Object({
  name: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$',
    rule: 'must be 1 to 100 letters, digits, _ . -',
    description: 'Unique name, used to send it',
  }),
  ...fields,
})
const TemplateReplace = Type.Object(fields)

const TemplateRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the template, such as `tmpl_…`' }),
    name: Type.String({ description: 'Unique name, used to send it' }),
    subject: Type.String({ description: 'Content with {{placeholders}}' }),
    html: Type.String({ description: 'Content with {{placeholders}}' }),
    text: Nullable(Type.String({ description: 'Plain-text body; null: generated from the HTML' })),
    description: Nullable(Type.String({ description: 'Internal note; null if none' })),
    defaults: Variables,
    variables: Type.Array(Type.String(), { description: 'Names of the placeholders in it' }),
    version: Type.Integer({ description: 'Version number, one more with each change' }),
    status: Type.Literal('active', { description: 'Always `active`' }),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'EmailTemplate' },
)

const NamedParam = Type.Object({ id: Type.String({ description: 'Id or name' }) })

/** Compiles all parts; throws for the one with an error. */
function variablesIn({ subject, html, text }: { subject: string; html: string; text?: string | null }): string[] {
  const parts = [compile(subject, 'subject'), compile(html, 'html'), ...(text ? [compile(text, 'text')] : [])]
  return [...new Set(parts.flatMap(({ variables }) => variables))]
}

function shown(row: FoundTemplate): Static<typeof TemplateRecord> {
  const { id, name, subject, html, text, description, defaults, version, created_at, updated_at } = row
  return {
    id: idOf('emailTemplate', id),
    name,
    subject,
    html,
    text,
    description,
    defaults,
    variables: variablesIn(row),
    version,
    status: 'active',
    created_at,
    updated_at,
  }
}

const insert = statement.tenant<One & { name: string; at: Date }, { id: string }>(
  'email.insert_template',
  `insert into email.templates (bucket, account_id, environment, id, name, version, created_at, updated_at)
   values ($bucket, $account, $environment, $id, $name, 1, $at::timestamptz, $at) on conflict do nothing returning id`,
)

const raise = statement.tenant<One & { at: Date }, { version: number }>(
  'email.raise_template',
  `update email.templates set version = version + 1, updated_at = $at where ${mine} and id = $id returning version`,
)

const insertVersion = statement.tenant<
  One & {
    version: number
    subject: string
    html: string
    text: string | null
    description: string | null
    defaults: string
    at: Date
  },
  object
>(
  'email.insert_template_version',
  `insert into email.template_versions (bucket, account_id, environment, template_id, version, subject, html, text, description, defaults, created_at)
   values ($bucket, $account, $environment, $id, $version, $subject, $html, $text, $description, $defaults::jsonb, $at)`,
)

async function storeVersion(
  tx: Tx,
  tenant: Tenant,
  id: string,
  version: number,
  body: Static<typeof TemplateReplace>,
  at: Date,
): Promise<void> {
  const { subject, html, text = null, description = null, defaults = {} } = body
  await tx.query(insertVersion, {
    ...tenant,
    id,
    version,
    subject,
    html,
    text,
    description,
    defaults: JSON.stringify(defaults),
    at,
  })
}

const createTemplate = write({
  method: 'POST',
  path: '/v1/email/templates',
  operation: 'email.createTemplate',
  summary: 'Create an email template',
  scope: 'email:manage',
  limit: 'email',
  body: TemplateCreate,
  bodyLimitBytes: 4 * 1024 * 1024,
  reply: { status: 201, schema: TemplateRecord, location: ({ id }) => `/v1/email/templates/${id}` },
  errors: ['TEMPLATE_EXISTS', 'TEMPLATE_SYNTAX'],
  examples: [
    { name: 'A welcome', body: { name: 'welcome', subject: 'Karibu {{name}}', html: '<p>Habari {{name|rafiki}}</p>' } },
  ],
  handle: async (_app, tx, { body }, caller) => {
    variablesIn({ ...body, text: body.text ?? null })
    const id = newUuid(caller.receivedMs)
    const at = new Date(caller.nowMs)
    if (!(await maybe(tx.query(insert, { ...caller.tenant, id, name: body.name, at }))))
      throw new AppError('TEMPLATE_EXISTS', `there is a template ${body.name} already`)
    await storeVersion(tx, caller.tenant, id, 1, body, at)
    await record(tx, caller, 'email_template.create', idOf('emailTemplate', id), { after: { name: body.name } })
    return shown(await findTemplate({ db: tx }, caller.tenant, body.name))
  },
})

const listAll = statement.tenant<Tenant & { after: string | null; descending: boolean; limit: number }, FoundTemplate>(
  'email.list_templates',
  `select t.id, t.name, t.created_at, t.updated_at, v.version, v.subject, v.html, v.text, v.description, v.defaults
     from email.templates t
     join email.template_versions v on v.bucket = t.bucket and v.account_id = t.account_id and v.environment = t.environment
                                   and v.template_id = t.id and v.version = t.version
    where t.bucket = $bucket and t.account_id = $account and t.environment = $environment
      and ($after::uuid is null or (case when $descending::boolean then t.id < $after else t.id > $after end))
    order by case when $descending then t.id end desc, t.id
    limit $limit::int + 1`,
)

const listTemplates = list({
  path: '/v1/email/templates',
  operation: 'email.listTemplates',
  summary: 'List email templates',
  scope: 'email:read',
  query: Type.Object(listQuery),
  row: TemplateRecord,
  handle: async (app, { query }, caller) => {
    const window = windowOf(query)
    return pageOf(window, await app.db.query(listAll, { ...caller.tenant, ...window }), shown)
  },
})

const getTemplate = read({
  method: 'GET',
  path: '/v1/email/templates/:id',
  operation: 'email.getTemplate',
  summary: 'Get an email template by id or name',
  scope: 'email:read',
  params: NamedParam,
  reply: { status: 200, schema: TemplateRecord },
  errors: ['TEMPLATE_NOT_FOUND'],
  handle: async (app, { params }, caller) => shown(await findTemplate(app, caller.tenant, params.id)),
})

const putTemplate = write({
  method: 'PUT',
  path: '/v1/email/templates/:id',
  operation: 'email.replaceTemplate',
  summary: 'Create a new version of an email template',
  scope: 'email:manage',
  limit: 'email',
  params: NamedParam,
  body: TemplateReplace,
  bodyLimitBytes: 4 * 1024 * 1024,
  reply: { status: 200, schema: TemplateRecord },
  errors: ['TEMPLATE_NOT_FOUND', 'TEMPLATE_SYNTAX'],
  handle: async (_app, tx, { params, body }, caller) => {
    variablesIn({ ...body, text: body.text ?? null })
    const found = await findTemplate({ db: tx }, caller.tenant, params.id)
    const at = new Date(caller.nowMs)
    const raised = await maybe(tx.query(raise, { ...caller.tenant, id: found.id, at }))
    if (!raised) throw new AppError('TEMPLATE_NOT_FOUND', 'the template was deleted')
    await storeVersion(tx, caller.tenant, found.id, raised.version, body, at)
    await record(tx, caller, 'email_template.update', idOf('emailTemplate', found.id), {
      after: { version: raised.version },
    })
    return shown(await findTemplate({ db: tx }, caller.tenant, params.id))
  },
})

const inUse = statement.tenant<One, { id: string }>(
  'email.bulk_with_template',
  `select id from email.bulks where ${mine} and template_id = $id and status in ('scheduled', 'queued', 'sending', 'paused') limit 1`,
)

const remove = statement.tenant<One, object>(
  'email.delete_template',
  `delete from email.templates where ${mine} and id = $id`,
)

const deleteTemplate = write({
  method: 'DELETE',
  path: '/v1/email/templates/:id',
  operation: 'email.deleteTemplate',
  summary: 'Delete an email template',
  scope: 'email:manage',
  limit: 'email',
  params: NamedParam,
  reply: { status: 200, schema: Deleted },
  errors: ['TEMPLATE_NOT_FOUND', 'TEMPLATE_IN_USE'],
  handle: async (_app, tx, { params }, caller) => {
    const { id } = await findTemplate({ db: tx }, caller.tenant, params.id)
    const bulk = await maybe(tx.query(inUse, { ...caller.tenant, id }))
    if (bulk) throw new AppError('TEMPLATE_IN_USE', `${idOf('emailBulk', bulk.id)} still needs it`)
    await tx.query(remove, { ...caller.tenant, id })
    await record(tx, caller, 'email_template.delete', idOf('emailTemplate', id), {})
    return { id: idOf('emailTemplate', id), deleted: true as const }
  },
})

const Preview = Type.Object(
  {
    subject: Type.String({ description: 'Content with the variables filled in' }),
    html: Type.String({ description: 'Content with the variables filled in' }),
    text: Nullable(Type.String({ description: 'Content with the variables filled in; null if the template has none' })),
    variables: Type.Array(Type.String(), { description: 'Names of the placeholders in it' }),
    missing: Type.Array(Type.String(), { description: 'Placeholders that got no value' }),
  },
  { title: 'EmailTemplatePreview' },
)

const PreviewInput = Type.Object({
  variables: Type.Optional(Variables),
  subject: Type.Optional(Type.String({ ...fields.subject, description: 'Replacement of the saved part' })),
  html: Type.Optional(Type.String({ ...fields.html, description: 'Replacement of the saved part' })),
  text: Type.Optional(
    Nullable(Type.String({ maxLength: 1024 * 1024, description: 'Replacement of the saved part; null for none' })),
  ),
})

async function preview(
  app: App,
  id: string,
  { variables = {}, ...draft }: Static<typeof PreviewInput>,
  { tenant }: Caller,
): Promise<Static<typeof Preview>> {
  const found = { ...(await findTemplate(app, tenant, id)), ...draft }
  const builtIn = {
    unsubscribe_url: 'https://example.com/u/preview',
    email: 'amina@example.com',
    message_id: 'em_preview',
  }
  const fill = (source: string, kind: 'subject' | 'html' | 'text') =>
    render(compile(source, kind), [builtIn, variables, found.defaults])
  const [subject, html] = [fill(found.subject, 'subject'), fill(found.html, 'html')]
  const text = found.text === null ? null : fill(found.text, 'text')
  return {
    subject: subject.text,
    html: html.text,
    text: text?.text ?? null,
    variables: variablesIn(found),
    missing: [...new Set([subject, html, text].flatMap((one) => one?.missing ?? []))],
  }
}

const previewTemplate = read({
  method: 'POST',
  path: '/v1/email/templates/:id/preview',
  operation: 'email.previewTemplate',
  summary: 'Preview an email template',
  description: 'Renders the saved template, or the given parts in their place.',
  scope: 'email:read',
  params: NamedParam,
  body: PreviewInput,
  reply: { status: 200, schema: Preview },
  errors: ['TEMPLATE_NOT_FOUND', 'TEMPLATE_SYNTAX'],
  handle: (app, { params, body }, caller) => preview(app, params.id, body, caller),
})

export const templateRoutes = [createTemplate, listTemplates, getTemplate, putTemplate, deleteTemplate, previewTemplate]
