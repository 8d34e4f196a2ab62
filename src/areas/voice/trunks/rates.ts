// SPDX-License-Identifier: Apache-2.0
// Call rates per minute by number prefix; the longest match wins and precedes the price list of countries and networks.
import { Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { currencies, isCurrency, parseAmount } from '../../../kernel/money.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, writeAcross } from '../../../platform/api/route.ts'
import { maybe, one } from '../../../platform/db.ts'
import { Amount, AmountIn, At, Deleted, wholeListQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import { deleteRate, type RateRow, selectRates, setRate, trunkTopic } from './store.ts'

const Prefix = Type.String({
  pattern: '^\\+[1-9]\\d{0,14}$',
  rule: 'must be a plus and 1 to 15 digits, such as +2547',
  description: 'Prefix of the called numbers; the longest match counts',
})
const Currency = Type.String({
  pattern: '^[A-Z]{3}$',
  rule: 'must be a currency, such as KES',
  description: 'Currency of the price',
})
/** Decimals of a rate, finer than the currency's minor unit. */
const decimals = 6
/** Most that a minute may cost, in major units; a long call must not come to more than a wallet can have. */
const maxMinute = 10_000_000n

const RateRecord = Type.Object(
  {
    prefix: Type.String({ description: 'First digits of the called numbers, such as +2547' }),
    currency: Type.String({ description: 'Currency of the price; the rate applies to accounts in this currency' }),
    minute: Amount({ description: 'Price per minute in major units, to a millionth' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'VoiceRate' },
)

const listRates = list({
  path: '/v1/operator/voice/rates',
  operation: 'operator.listVoiceRates',
  summary: 'List call rates by prefix',
  scope: 'operator',
  query: Type.Object(wholeListQuery),
  row: RateRecord,
  examples: [{ name: 'All rates' }],
  handle: async (app, { query }) => {
    const rows = (await app.db.query(selectRates, {})).map(rateRecord)
    return pageOfWhole(query, rows, ({ prefix, currency }) => `${prefix} ${currency}`)
  },
})

const set = writeAcross({
  method: 'POST',
  path: '/v1/operator/voice/rates',
  operation: 'operator.setVoiceRate',
  summary: 'Set the call rate of a prefix',
  scope: 'operator',
  body: Type.Object({
    prefix: Prefix,
    currency: Currency,
    minute: AmountIn({ description: 'Price per minute in major units; at most 10000000' }),
  }),
  reply: { status: 200, schema: RateRecord },
  errors: ['VALIDATION_ERROR'],
  examples: [{ name: 'Mobiles of Kenya', body: { prefix: '+2547', currency: 'KES', minute: 2.5 } }],
  handle: async (app, tx, { body }, caller) => {
    const { prefix, currency } = body
    if (!isCurrency(currency)) throw invalid('currency', `must be one of ${Object.keys(currencies).join(', ')}`)
    const minute = parseAmount(body.minute, decimals)
    if (typeof minute !== 'bigint') throw invalid('minute', minute.problem)
    if (minute > maxMinute * 1_000_000n) throw invalid('minute', `must be at most ${maxMinute}`)
    const row = await one(tx.query(setRate, { prefix, currency, minute, at: new Date(caller.receivedMs) }))
    await record(tx, caller, 'voice.set_rate', `${prefix} ${currency}`, { after: { minute: body.minute } })
    await app.signals.send(tx, trunkTopic, prefix)
    return rateRecord(row)
  },
})

const remove = writeAcross({
  method: 'DELETE',
  path: '/v1/operator/voice/rates/:prefix/:currency',
  operation: 'operator.removeVoiceRate',
  summary: 'Delete the call rate of a prefix',
  scope: 'operator',
  params: Type.Object({
    prefix: Type.String({ description: 'Prefix, with the plus written %2B' }),
    currency: Type.String({ description: 'Currency of the price, such as KES' }),
  }),
  needs: 'nothing',
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params }, caller) => {
    const { prefix, currency } = params
    if (!(await maybe(tx.query(deleteRate, { prefix, currency }))))
      throw new AppError('NOT_FOUND', 'there is no price for this prefix in this currency')
    await record(tx, caller, 'voice.remove_rate', `${prefix} ${currency}`, { after: {} })
    await app.signals.send(tx, trunkTopic, prefix)
    return { id: `${prefix} ${currency}`, deleted: true as const }
  },
})

function rateRecord({ prefix, currency, minute_micros: minute, updated_at }: RateRow) {
  return { prefix, currency, minute, updated_at }
}

export const rateRoutes: readonly Route[] = [listRates, set, remove]
