// SPDX-License-Identifier: Apache-2.0
// Numbers that moved to another network, as operators note them one by one.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { placeOf, resolveNetwork } from '../../../kernel/phone.ts'
import { record } from '../../../platform/api/audit.ts'
import { type Route, read, writeAcross } from '../../../platform/api/route.ts'
import { maybe, one, statement } from '../../../platform/db.ts'
import { At, Nullable, Phone } from '../../../platform/schema/fields.ts'
import { PhoneParam } from '../schema.ts'
import { findPorted, type PortedRow, portedTopic } from './number-network.ts'

const putPorted = statement.home<{ phone: string; network: string; mccMnc: string | null; at: Date }, PortedRow>(
  'sms.put_ported',
  `insert into sms.ported_numbers (phone, network, mcc_mnc, updated_at) values ($phone, $network, $mccMnc, $at)
   on conflict (phone) do update
     set network = excluded.network, mcc_mnc = excluded.mcc_mnc, updated_at = excluded.updated_at
   returning phone, network, mcc_mnc, updated_at`,
)

const removePorted = statement.home<{ phone: string }, PortedRow>(
  'sms.remove_ported',
  'delete from sms.ported_numbers where phone = $phone returning phone, network, mcc_mnc, updated_at',
)

const PortedNumber = Type.Object({
  phone: Phone({ description: 'Number that was ported' }),
  network: Type.String({
    minLength: 1,
    maxLength: 60,
    rule: 'must be the name of a network, or its mobile country and network code',
    description: 'Current network: a name such as Safaricom, or a code such as 63902',
  }),
})

const PortedRecord = Type.Object(
  {
    phone: Type.String({ description: 'Number that was ported' }),
    network: Type.String({ description: 'Current network' }),
    mcc_mnc: Nullable(
      Type.String({ description: 'Mobile country and network code of that network; null if not known' }),
    ),
    original_network: Nullable(Type.String({ description: 'Network of the number range' })),
    updated_at: At({ description: 'Time of entry' }),
  },
  { title: 'SmsPortedNumber' },
)

const put = writeAcross({
  method: 'POST',
  path: '/v1/operator/sms/ported-numbers',
  operation: 'operator.portSmsNumber',
  summary: 'Record a ported number',
  description: 'Records one number. `npm start -- mnp import <file>` imports the list of a registry.',
  scope: 'operator',
  body: PortedNumber,
  reply: {
    status: 201,
    schema: PortedRecord,
    location: ({ phone }) => `/v1/operator/sms/ported-numbers/${phone}`,
  },
  errors: ['INVALID_PHONE', 'VALIDATION_ERROR'],
  examples: [{ name: 'A ported number', body: { phone: '+254711000031', network: '63903' } }],
  handle: async (app, tx, { body }, caller) => {
    const { phone } = body
    const { network, code } = resolveNetwork(phone, body.network)
    const row = await one(tx.query(putPorted, { phone, network, mccMnc: code, at: new Date(caller.receivedMs) }))
    await record(tx, caller, 'sms.port_number', `phone:${phone}`, { after: { network } })
    await app.signals.send(tx, 'sms', portedTopic)
    return recordOf(row)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/operator/sms/ported-numbers/:phone',
  operation: 'operator.getPortedSmsNumber',
  summary: 'Get a ported number',
  scope: 'operator',
  params: PhoneParam,
  reply: { status: 200, schema: PortedRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }) => {
    const row = await maybe(app.db.query(findPorted, { phones: [params.phone] }))
    if (!row) throw notPorted()
    return recordOf(row)
  },
})

const remove = writeAcross({
  method: 'DELETE',
  path: '/v1/operator/sms/ported-numbers/:phone',
  operation: 'operator.unportSmsNumber',
  summary: 'Delete a ported number',
  scope: 'operator',
  params: PhoneParam,
  reply: { status: 200, schema: PortedRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params }, caller) => {
    const row = await maybe(tx.query(removePorted, { phone: params.phone }))
    if (!row) throw notPorted()
    await record(tx, caller, 'sms.unport_number', `phone:${params.phone}`, { before: { network: row.network } })
    await app.signals.send(tx, 'sms', portedTopic)
    return recordOf(row)
  },
})

function recordOf({ phone, network, mcc_mnc, updated_at }: PortedRow) {
  return { phone, network, mcc_mnc, original_network: placeOf(phone).network, updated_at }
}

function notPorted(): AppError {
  return new AppError('NOT_FOUND', 'this number is not recorded as ported')
}

export const portedNumberRoutes: readonly Route[] = [put, get, remove]
