// SPDX-License-Identifier: Apache-2.0
// Operator routes of channels: business numbers, each for one live account.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { bucketOf, idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, list, noContent, type Route, writeAcross } from '../../../platform/api/route.ts'
import { maybe, statement } from '../../../platform/db.ts'
import { At, wholeListQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import { numbersFor } from '../../numbers/area.ts'
import { sealPlace } from '../channels.ts'

const Secret = (description: string) => Type.String({ minLength: 1, maxLength: 1024, sensitive: true, description })

const ChannelCreate = Type.Object(
  {
    account_id: Type.String({ maxLength: 64, description: 'Id of the account that gets the number' }),
    name: Type.String({ minLength: 1, maxLength: 100, description: 'Label' }),
    base_url: Type.String({
      pattern: '^https?://[^/?#\\s]+$',
      maxLength: 200,
      rule: 'must be a URL without a path, such as https://graph.facebook.com',
      description: 'Base URL of the provider’s API',
    }),
    phone_number_id: Type.String({
      pattern: '^[\\w.-]{1,64}$',
      rule: 'must be the id that the provider gave the number',
      description: 'Id of the number in the provider’s API',
    }),
    business_id: Type.String({
      pattern: '^[\\w.-]{1,64}$',
      rule: 'must be the id of the business account',
      description: 'Id of the business account that templates are registered under',
    }),
    display_number: Type.String({
      pattern: '^[1-9]\\d{1,14}$',
      rule: 'must be the digits of the number',
      description: 'Number shown to users, without a plus: 254711000001',
    }),
    token: Secret('Access token for sending messages'),
    app_secret: Secret('Secret that the provider signs its calls with'),
    verify_token: Secret('Token that the provider sends with the challenge'),
  },
  { title: 'MessengerChannelCreate' },
)

const ChannelRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the channel, such as `mch_…`' }),
    account_id: Type.String({ description: 'Id of the channel’s account, such as `acc_…`' }),
    name: Type.String({ description: 'Label of the channel' }),
    base_url: Type.String({ description: 'Base URL of the provider’s API' }),
    phone_number_id: Type.String({ description: 'Id of the number at the provider' }),
    business_id: Type.String({ description: 'Id of the business account that templates are registered under' }),
    display_number: Type.String({ description: 'Number shown to users, digits without a plus' }),
    ingress_url: Type.String({ description: 'URL to enter as the webhook at the provider' }),
    created_at: At({ description: 'Time of connection' }),
  },
  { title: 'MessengerChannel' },
)

interface Row {
  id: string
  account_id: string
  name: string
  base_url: string
  phone_number_id: string
  business_id: string
  display_number: string
  created_at: Date
}

const columns = 'id, account_id, name, base_url, phone_number_id, business_id, display_number, created_at'

/** Ownership of numbers; the channel holds the provider settings. */
const numbers = numbersFor<null>('messenger')

const insert = statement.home<
  {
    id: string
    bucket: number
    account: string
    name: string
    baseUrl: string
    number: string
    business: string
    display: string
    sealed: Buffer
    at: Date
  },
  Row
>(
  'messenger.add_channel',
  `insert into messenger.channels (id, bucket, account_id, environment, name, base_url, phone_number_id, business_id,
     display_number, sealed, created_at)
   values ($id, $bucket, $account, 'live', $name, $baseUrl, $number, $business, $display, $sealed, $at)
   on conflict do nothing returning ${columns}`,
)

const selectAll = statement.home<Record<never, never>, Row>(
  'messenger.list_channels',
  `select ${columns} from messenger.channels order by id`,
)

const deleteOne = statement.home<{ id: string }, Row>(
  'messenger.delete_channel',
  `delete from messenger.channels where id = $id returning ${columns}`,
)

const connect = writeAcross({
  method: 'POST',
  path: '/v1/operator/messenger/channels',
  operation: 'operator.connectMessengerChannel',
  summary: 'Connect a messenger number',
  scope: 'operator',
  body: ChannelCreate,
  reply: { status: 201, schema: ChannelRecord },
  errors: ['CONFLICT', 'NOT_FOUND'],
  async handle(app, tx, { body }, caller) {
    const account = uuidOf('account', body.account_id)
    if (!account) throw new AppError('NOT_FOUND', 'there is no account with this id')
    const id = newUuid(caller.receivedMs)
    const secrets = JSON.stringify([body.token, body.app_secret, body.verify_token])
    const row = await maybe(
      tx.query(insert, {
        id,
        bucket: bucketOf(account),
        account,
        name: body.name,
        baseUrl: body.base_url,
        number: body.phone_number_id,
        business: body.business_id,
        display: body.display_number,
        sealed: app.secrets.sealForInstallation(sealPlace(id), secrets),
        at: new Date(caller.nowMs),
      }),
    )
    const tenant = { bucket: bucketOf(account), account, environment: 'live' as const }
    const owned = row && (await numbers.own(tx, tenant, caller, { number: `+${row.display_number}`, settings: null }))
    if (!owned) throw new AppError('CONFLICT', 'the number is connected already, or the account has another one')
    await record(tx, caller, 'messenger_channel.create', idOf('messengerChannel', id))
    return recordOf(row, app.publicUrl)
  },
})

const listAll = list({
  path: '/v1/operator/messenger/channels',
  operation: 'operator.listMessengerChannels',
  summary: 'List messenger numbers',
  scope: 'operator',
  query: Type.Object(wholeListQuery),
  row: ChannelRecord,
  handle: async (app, { query }) => {
    const rows = (await app.db.query(selectAll, {})).map((row) => recordOf(row, app.publicUrl))
    return pageOfWhole(query, rows, ({ id }) => id)
  },
})

const disconnect = writeAcross({
  method: 'DELETE',
  path: '/v1/operator/messenger/channels/:id',
  operation: 'operator.disconnectMessengerChannel',
  summary: 'Disconnect a messenger number',
  scope: 'operator',
  params: IdParam,
  reply: noContent,
  errors: ['NOT_FOUND'],
  async handle(_app, tx, { params }, caller) {
    const id = uuidOf('messengerChannel', params.id)
    const gone = id === null ? null : await maybe(tx.query(deleteOne, { id }))
    if (!gone) throw new AppError('NOT_FOUND', 'there is no channel with this id')
    await numbers.release(tx, 'live', `+${gone.display_number}`, gone.account_id)
    await record(tx, caller, 'messenger_channel.delete', params.id)
    return {}
  },
})

function recordOf({ id: uuid, account_id, ...row }: Row, publicUrl: string): Static<typeof ChannelRecord> {
  const id = idOf('messengerChannel', uuid)
  return { ...row, id, account_id: idOf('account', account_id), ingress_url: `${publicUrl}/v1/messenger/ingress/${id}` }
}

export const channelRoutes: readonly Route[] = [connect, listAll, disconnect]
