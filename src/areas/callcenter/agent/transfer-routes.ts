// SPDX-License-Identifier: Apache-2.0
// Routes of transfers: hand a call to somebody else, at once or after speaking with them.
import { Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { uuidOf } from '../../../kernel/ids.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import { maybe } from '../../../platform/db.ts'
import { At, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { checkNumbers } from '../../voice/area.ts'
import { all } from '../conferences/conference.ts'
import { findTransfer } from '../contact/transfer-store.ts'
import { findContact } from '../contacts.ts'
import { RingSeconds, Url } from '../schema.ts'
import { holdSwitchboard } from '../switchboard.ts'
import { contactFor, noCall, requireOwnCall } from './named-call.ts'
import { beginTransfer, contactOfTransfer, decideTransfer, transferRecord, transferTarget } from './transfer.ts'

const TransferType = OneOf(['warm', 'cold'], {
  description: '`warm` consults the destination first, `cold` transfers at once',
})

const Transfer = Type.Object(
  {
    transfer_id: Type.String({ description: 'Id of the transfer, such as `trf_…`' }),
    call_id: Type.String({ description: 'Id of the call to transfer, `call_…`' }),
    transfer_type: TransferType,
    destination: Type.String({ description: 'Destination as it was given: an agent, `que_…`, E.164 or a SIP URI' }),
    status: OneOf(['ringing', 'consulting', 'completed', 'failed', 'cancelled'], {
      description: '`consulting` while the agent speaks with the destination; the last three are final',
    }),
    consult_call_id: Nullable(
      Type.String({ description: 'Id of the leg to the destination during the consultation; warm only' }),
    ),
    started_at: At({ description: 'Time of the request' }),
  },
  { title: 'CallTransfer' },
)

const transfer = write({
  method: 'POST',
  path: '/v1/voice/transfer',
  operation: 'callcenter.transfer',
  summary: 'Transfer a call',
  description:
    'Cold: the agent leaves as soon as the destination rings. Warm: the customer is on hold while the agents speak; then complete, merge or cancel it.',
  scope: 'callcenter:agent',
  body: Type.Object({
    call_id: Type.String({ maxLength: 40, description: 'Id of the call to transfer, `call_…`' }),
    transfer_type: TransferType,
    destination: Type.String({
      minLength: 1,
      maxLength: 256,
      rule: 'must be an agent, a queue, a number or a SIP address',
      description: 'Destination: an agent, `que_…`, a number in E.164 or a SIP URI',
    }),
    message: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Text spoken to the destination only',
        sensitive: true,
      }),
    ),
    timeout: Type.Optional(RingSeconds('Seconds for which the destination is rung; default 30')),
    hold_music_url: Type.Optional(Url('URL of the hold music for the customer')),
  }),
  reply: { status: 200, schema: Transfer },
  errors: ['NOT_FOUND', 'CALL_NOT_ACTIVE', 'AGENT_NOT_AVAILABLE', 'QUEUE_FULL', 'CONFLICT', 'INVALID_URL'],
  async prepare(app, { body }, caller) {
    const { tenant } = caller
    if (body.hold_music_url !== undefined)
      await app.outbound.checkUrl(body.hold_music_url, 'callback', tenant.environment, 'hold_music_url')
    const { contact } = await contactFor(app, caller, body.call_id)
    requireOwnCall(caller, contact)
    if (contact?.state !== 'connected') throw new AppError('CALL_NOT_ACTIVE', 'no agent is on this call')
    const target = await transferTarget(app, tenant, body.destination)
    if (target.type === 'queue' && body.transfer_type === 'warm')
      throw invalid('destination', 'must not be a queue: queues accept cold transfers only')
    if (target.type === 'line' && 'phone' in target.to)
      await checkNumbers(app, tenant, {
        from: contact.direction === 'inbound' ? contact.to_number : contact.from_number,
        to: target.to.phone,
      })
    return { id: contact.id, target }
  },
  async handle(app, tx, { body }, caller, { id, target }) {
    const { tenant } = caller
    await holdSwitchboard(tx, tenant)
    const contact = await maybe(tx.query(findContact, { ...tenant, id }))
    if (!contact) throw noCall()
    const wish = {
      kind: body.transfer_type,
      destination: body.destination,
      message: body.message ?? null,
      seconds: body.timeout ?? 30,
      music: body.hold_music_url ?? null,
    }
    const { transfer: begun, after } = await beginTransfer(app, tx, { ...caller }, contact, target, wish)
    tx.afterCommit(() => void all(app, after))
    return transferRecord(begun)
  },
})

const TransferId = Type.Object({ transfer_id: Type.String({ description: 'Id of the transfer, trf_…' }) })

const decide = write({
  method: 'PATCH',
  path: '/v1/voice/transfer/:transfer_id',
  operation: 'callcenter.decideTransfer',
  summary: 'Complete, merge or cancel a transfer',
  scope: 'callcenter:agent',
  params: TransferId,
  needs: 'nothing',
  body: Type.Object({
    action: OneOf(['complete', 'cancel', 'merge'], {
      description: 'Action on the transfer; `merge` connects all three parties',
    }),
  }),
  reply: { status: 200, schema: Transfer },
  errors: ['NOT_FOUND', 'CONFLICT'],
  async handle(app, tx, { params, body }, caller) {
    const { tenant } = caller
    const id = uuidOf('transfer', params.transfer_id)
    await holdSwitchboard(tx, tenant)
    const row = id === null ? null : await maybe(tx.query(findTransfer, { ...tenant, id }))
    const contact = row && (await contactOfTransfer(tx, tenant, row))
    if (!row || !contact) throw new AppError('NOT_FOUND', 'there is no such transfer; ids of transfers begin with trf_')
    requireOwnCall(caller, contact)
    const after = await decideTransfer(app, tx, { ...caller }, contact, row, body.action)
    tx.afterCommit(() => void all(app, after))
    return transferRecord((await maybe(tx.query(findTransfer, { ...tenant, id: row.id }))) ?? row)
  },
})

export const transferRoutes: readonly Route[] = [transfer, decide]
