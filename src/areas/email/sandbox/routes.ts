// SPDX-License-Identifier: Apache-2.0
// Routes of the sandbox mailboxes and DNS: received test mail, its rendering and signature checks. An account sees its
// own mail only, by the envelope sender.
import { Type } from 'typebox'
import { parseDomain } from '../../../kernel/email-address.ts'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { list, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { At, listQuery, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import { type CaughtMail, type MailWorld, mailWorld } from '../mail-world.ts'
import { readEnvelopeLocal } from '../tracking/token.ts'

const Caught = Type.Object(
  {
    id: Type.String({ description: 'Id of the message in the sandbox' }),
    message_id: Nullable(Type.String({ description: 'Id of your message, such as `em_…`' })),
    from: Type.String({ description: 'Decoded From header' }),
    to: Type.String({ description: 'Recipient address' }),
    envelope_from: Type.String({ description: 'Sender of the envelope (MAIL FROM), where bounces go' }),
    subject: Type.String({ description: 'Decoded subject' }),
    size: Type.Integer({ description: 'Size of the message in bytes' }),
    tls: Nullable(Type.String({ description: 'TLS version of the connection; null if unencrypted' })),
    received_at: At({ description: 'Time of receipt' }),
  },
  { title: 'CaughtEmail' },
)

const CaughtWhole = Type.Object(
  {
    ...Caught.properties,
    html: Nullable(Type.String({ description: 'HTML part; null if there is none' })),
    text: Nullable(Type.String({ description: 'Text part; null if there is none' })),
    attachments: Type.Array(
      Type.Object({
        filename: Type.String({ description: 'Name of the file' }),
        content_type: Type.String({ description: 'Media type, such as `application/pdf`' }),
        size: Type.Integer({ description: 'Bytes of the file' }),
      }),
      { description: 'Attached files, without their contents' },
    ),
  },
  { title: 'CaughtEmailContent' },
)

const Checks = Type.Object(
  {
    dkim: Type.Array(
      Type.Object({
        result: Type.String({ description: 'Outcome, such as `pass` or `fail`' }),
        domain: Type.String({ description: 'Domain of the signature (d=)' }),
        selector: Type.String({ description: 'Selector of the key (s=)' }),
        algorithm: Type.String({ description: 'Algorithm of the signature, such as `rsa-sha256`' }),
        reason: Nullable(Type.String({ description: 'Reason for the failure; null if it passed' })),
      }),
      { description: 'Each DKIM signature, in the order of the header' },
    ),
    spf: Type.Object(
      {
        result: Type.String({ description: 'Outcome, such as `pass` or `fail`' }),
        domain: Type.String({ description: 'Domain of the envelope sender' }),
      },
      { description: 'Result of SPF: the sending address, checked against the domain of the envelope' },
    ),
    dmarc: Type.Object(
      {
        result: Type.String({ description: 'Outcome, such as `pass` or `fail`' }),
        domain: Type.String({ description: 'Domain of the address in From' }),
        policy: Nullable(
          Type.String({
            description: 'Policy of the domain for failures, such as `reject`; null if it publishes none',
          }),
        ),
      },
      { description: 'Result of DMARC: alignment of SPF or DKIM with the domain in From' },
    ),
    tls: Nullable(Type.String({ description: 'TLS version of the connection; null if unencrypted' })),
    headers: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name of the field' }),
        value: Type.String({ description: 'Content' }),
      }),
      { description: 'Header fields, in their order' },
    ),
    links: Type.Array(Type.String(), { description: 'URLs of the links in the message' }),
  },
  { title: 'CaughtEmailChecks' },
)

const Param = Type.Object({ id: Type.String({ description: 'Id of the message in the sandbox' }) })

function worldOf(app: App): MailWorld {
  const world = mailWorld.of(app)
  if (!world) throw new AppError('SERVICE_UNAVAILABLE', 'this node has no sandbox')
  return world
}

function requireCaught(app: App, id: string, caller: Caller): CaughtMail {
  const mail = worldOf(app).find(id)
  if (!mail || ownerOf(app, mail)?.tenant.account !== caller.tenant.account)
    throw new AppError('NOT_FOUND', 'there is no such message in the sandbox')
  return mail
}

function ownerOf(app: App, { from }: CaughtMail) {
  return readEnvelopeLocal(app, from.slice(0, from.lastIndexOf('@')))
}

function shown(app: App, mail: CaughtMail) {
  const { subject, header_from } = worldOf(app).read(mail)
  const owner = ownerOf(app, mail)
  return {
    id: mail.id,
    message_id: owner && idOf('email', owner.message),
    from: header_from,
    to: mail.to,
    envelope_from: mail.from,
    subject,
    size: mail.content.length,
    tls: mail.tls,
    received_at: mail.at,
  }
}

const listCaught = list({
  path: '/v1/sandbox/email/messages',
  operation: 'sandbox.listEmails',
  summary: 'List mail received in the sandbox',
  scope: 'sandbox:read',
  query: Type.Object({
    limit: listQuery.limit,
    cursor: listQuery.cursor,
    to: Type.Optional(Type.String({ maxLength: 320, description: 'Filter by address' })),
    message_id: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Id of your message, such as `em_…`: one row for each of its recipients',
      }),
    ),
  }),
  row: Caught,
  handle: async (app, { query }, caller) => {
    const own = worldOf(app)
      .mail()
      .filter((mail) => ownerOf(app, mail)?.tenant.account === caller.tenant.account)
      .filter((mail) => query.to === undefined || mail.to === query.to)
      .map((mail) => shown(app, mail))
      .filter((mail) => query.message_id === undefined || mail.message_id === query.message_id)
    return pageOfWhole({ ...query, limit: query.limit ?? 50 }, own, ({ id }) => id)
  },
})

const getCaught = read({
  method: 'GET',
  path: '/v1/sandbox/email/messages/:id',
  needs: { operation: 'sandbox.listEmails', id: 'data.0.id', after: { operation: 'email.send' } },
  operation: 'sandbox.getEmail',
  summary: 'Get mail received in the sandbox',
  scope: 'sandbox:read',
  params: Param,
  reply: { status: 200, schema: CaughtWhole },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const mail = requireCaught(app, params.id, caller)
    const { html, text, attachments } = worldOf(app).read(mail)
    return { ...shown(app, mail), html, text, attachments: [...attachments] }
  },
})

const getRaw = read({
  method: 'GET',
  path: '/v1/sandbox/email/messages/:id/raw',
  needs: { operation: 'sandbox.listEmails', id: 'data.0.id', after: { operation: 'email.send' } },
  operation: 'sandbox.getRawEmail',
  summary: 'Get the raw source of mail received in the sandbox',
  scope: 'sandbox:read',
  params: Param,
  reply: { status: 200, schema: Type.String(), text: true },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => requireCaught(app, params.id, caller).content.toString('latin1'),
})

const getChecks = read({
  method: 'GET',
  path: '/v1/sandbox/email/messages/:id/checks',
  needs: { operation: 'sandbox.listEmails', id: 'data.0.id', after: { operation: 'email.send' } },
  operation: 'sandbox.checkEmail',
  summary: 'Check mail received in the sandbox: DKIM, SPF, DMARC, header and links',
  scope: 'sandbox:read',
  params: Param,
  reply: { status: 200, schema: Checks },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const { dkim, spf, dmarc, tls, headers, links } = await worldOf(app).checks(requireCaught(app, params.id, caller))
    return { dkim: [...dkim], spf, dmarc, tls, headers: [...headers], links: [...links] }
  },
})

const recordKinds = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'NS', 'TLSA'] as const

const DnsEdit = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 253,
    description: 'Name of the record, such as `pj1._domainkey.shop.example`',
  }),
  type: OneOf(recordKinds, { description: 'Kind of record' }),
  value: Type.Optional(
    Nullable(Type.String({ minLength: 1, maxLength: 2048 }), {
      description: 'Value of the record; null removes the records of this type',
    }),
  ),
})

const DnsRecords = Type.Object(
  {
    records: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name of the record' }),
        type: Type.String({ description: 'Kind of record, such as `TXT`' }),
        value: Type.String({ description: 'Content' }),
      }),
      { description: 'Current records of the name' },
    ),
  },
  { title: 'SandboxDnsRecords' },
)

const editDns = write({
  method: 'POST',
  path: '/v1/sandbox/dns',
  operation: 'sandbox.editDns',
  summary: 'Publish or remove a record in the sandbox’s DNS',
  scope: 'sandbox:write',
  body: DnsEdit,
  reply: { status: 200, schema: DnsRecords },
  examples: [
    {
      name: 'A mail server of your own',
      body: { name: 'shop.example', type: 'MX', value: '10 mx1.sandbox.pamoja.test' },
    },
  ],
  handle: async (app, _tx, { body }) => {
    const world = worldOf(app)
    const name = body.name.toLowerCase().replace(/\.$/, '')
    if (!parseDomain(name.replace(/(^|\.)_/g, '$1')))
      throw new AppError('VALIDATION_ERROR', 'name must be a name such as shop.example')
    if (body.value === undefined || body.value === null) world.withdraw(name, body.type)
    else if (!world.publish({ name, type: body.type, value: body.value }))
      throw new AppError('VALIDATION_ERROR', 'the sandbox’s DNS has too many records')
    return { records: world.recordsOf(name).map(({ type, value }) => ({ name, type, value })) }
  },
})

export const sandboxMailRoutes = [listCaught, getCaught, getRaw, getChecks, editDns]
