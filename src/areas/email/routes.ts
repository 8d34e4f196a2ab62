// SPDX-License-Identifier: Apache-2.0
// Routes of messages: send, read, list.

import { commit, list, read } from '../../platform/api/route.ts'
import { readMessage, readPage } from './read.ts'
import { EmailAccepted, EmailList, EmailRecord, EmailSend, MessageParam } from './schema.ts'
import { send } from './sending/send.ts'

/** Bytes of a request with a message of 25 MiB, whose attachments are base64. */
export const maxBodyBytes = 36 * 1024 * 1024

const sendEmail = commit({
  method: 'POST',
  path: '/v1/email/send',
  operation: 'email.send',
  summary: 'Send an email to up to 50 recipients',
  scope: 'email:send',
  limit: 'email',
  body: EmailSend,
  bodyLimitBytes: maxBodyBytes,
  reply: { status: 200, schema: EmailAccepted },
  errors: [
    'INVALID_EMAIL', 'INVALID_URL', 'DOMAIN_NOT_VERIFIED', 'TEMPLATE_NOT_FOUND', 'TEMPLATE_SYNTAX', 'MISSING_VARIABLE', 'TOO_MANY_RECIPIENTS',
    'ATTACHMENT_TOO_LARGE', 'ATTACHMENT_BLOCKED', 'DESTINATION_NOT_ALLOWED', 'INSUFFICIENT_BALANCE', 'DUPLICATE_REFERENCE', 'RATE_LIMIT_EXCEEDED',
  ], // biome-ignore format: one line each would be many
  examples: [
    {
      name: 'A message with html',
      body: {
        from: 'Shop <shop@sandbox.pamoja.test>',
        to: 'amina@example.com',
        subject: 'Habari',
        html: '<p>Karibu, <a href="https://example.com/start">begin here</a>.</p>',
      },
    },
  ],
  handle: (app, { body }, caller, keyed) => send(app, body, caller, keyed),
})

const getEmail = read({
  method: 'GET',
  path: '/v1/email/:message_id',
  needs: { operation: 'email.send', id: 'message_id' },
  operation: 'email.get',
  summary: 'Get an email',
  scope: 'email:read',
  params: MessageParam,
  reply: { status: 200, schema: EmailRecord },
  errors: ['NOT_FOUND'],
  handle: (app, { params }, caller) => readMessage(app, params.message_id, caller),
})

const listEmails = list({
  path: '/v1/email',
  operation: 'email.list',
  summary: 'List emails',
  scope: 'email:read',
  query: EmailList,
  row: EmailRecord,
  errors: ['INVALID_DATE_RANGE'],
  handle: (app, { query }, caller) => readPage(app, query, caller),
})

export const messageRoutes = [sendEmail, getEmail, listEmails]
