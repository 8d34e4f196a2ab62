// SPDX-License-Identifier: Apache-2.0
// Routes of providers' statements, for operators: import one, read what was found for each line, and assign money
// where nothing else can tell.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { currencies, formatMicros, isCurrency, microDecimals, parseAmount } from '../../../kernel/money.ts'
import { parseMoment } from '../../../kernel/time.ts'
import { houseOf } from '../../../ledger/house.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, list, type Route, read, upload, writeAcross } from '../../../platform/api/route.ts'
import { maybe, one, type Queryable } from '../../../platform/db.ts'
import {
  Amount,
  AmountIn,
  At,
  CountryCode,
  EnvironmentName,
  listQuery,
  Moment,
  Nullable,
  OneOf,
} from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { kinds } from '../carriers/kinds.ts'
import { offered } from '../methods/mobile-money-providers.ts'
import { assign } from './assign.ts'
import { Columns, maxAmount, utcOffsetOf } from './columns.ts'
import { countClasses, type GapRow, listGaps } from './gaps.ts'
import { importFile } from './import.ts'
import { accountOf, houseKey, settleLines, statementId } from './match.ts'
import {
  classes,
  covers,
  findStatement,
  insertStatement,
  type LineObject,
  type LineRow,
  listLines,
  listStatements,
  lockLine,
  type StatementRow,
} from './store.ts'

const providers = kinds.flatMap(({ facts }) => (facts.statement ? [facts.provider] : []))

const StatementCreate = Type.Object({
  provider: OneOf(providers, { description: 'Provider of the statement' }),
  environment: EnvironmentName({ description: 'Environment of the provider account' }),
  country: Type.Optional(
    CountryCode({ description: 'Country of the account; required if the provider is in several' }),
  ),
  covers: Type.Optional(
    OneOf(covers, {
      description:
        'Movements that the statement covers; `everything` unless the provider has a separate account for payouts',
    }),
  ),
  columns: Type.Optional(Columns),
  utc_offset: Type.Optional(
    Type.String({
      pattern: '^[+-](0\\d|1[0-4]):[0-5]\\d$',
      rule: 'must be an offset such as +03:00',
      description: 'UTC offset of times without one; default: that of the country',
    }),
  ),
  closing_balance: Type.Optional(
    AmountIn({ description: 'Closing balance, for files without one; requires closing_at' }),
  ),
  closing_at: Type.Optional(Moment({ description: 'Time of `closing_balance`' })),
})

const counted = (description: string) =>
  Type.Object(
    {
      lines: Type.Integer({ description: 'Number of lines' }),
      amount: Amount({ description: 'Total amount, in either direction' }),
      net: Amount({ description: 'Money in minus money out' }),
    },
    { description },
  )

const StatementRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the statement, such as `stm_…`' }),
    provider: Type.String({ description: 'Provider of the statement, such as `mpesa`' }),
    environment: EnvironmentName({ description: '`test` or `live`' }),
    country: Type.String({ description: 'Country of the account, ISO 3166' }),
    currency: Type.String({ description: 'Currency of all amounts, ISO 4217' }),
    covers: OneOf(covers, { description: 'Movements that the statement covers' }),
    status: OneOf(['open', 'matching', 'matched'], {
      description: 'Status; `open` until a file is uploaded, `matching` while its lines are matched',
    }),
    lines: Type.Integer({ description: 'Number of new lines' }),
    known_lines: Type.Integer({ description: 'Lines known from an earlier file' }),
    skipped_lines: Type.Integer({ description: 'Lines that were incomplete or moved no money' }),
    first_at: Nullable(At({ description: 'Time of the earliest line; null until a file is uploaded' })),
    last_at: Nullable(At({ description: 'Time of the latest line; null until a file is uploaded' })),
    closing_balance: Nullable(Amount({ description: 'Balance according to the provider' })),
    closing_at: Nullable(At({ description: 'Time of `closing_balance`; null if it is not known' })),
    float_balance: Nullable(Amount({ description: 'Balance in the ledger at `closing_at`' })),
    difference: Nullable(Amount({ description: 'Balance of the provider less that in the ledger; 0 if they agree' })),
    created_at: At({ description: 'Time at which the account was created' }),
    matched_at: Nullable(At({ description: 'Time at which its lines were matched; null until then' })),
  },
  { title: 'PaymentStatement' },
)

const StatementWhole = Type.Object(
  {
    ...StatementRecord.properties,
    classes: Type.Object(
      {
        matched: counted('Lines that match a payment, payout or refund of the same amount'),
        theirs_only: counted('Lines without a match'),
        amount_differs: counted('Lines that match an object with another amount'),
        booked: counted('Fees of the provider, and settlements to the bank, as the ledger has them'),
        ours_only: counted('Payments, payouts and refunds that are on no statement'),
      },
      {
        description: 'New lines by result; `ours_only` are payments, payouts and refunds that are on no statement',
      },
    ),
  },
  { title: 'PaymentStatementWhole' },
)

const LineRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the line; for `ours_only`, of the unmatched object' }),
    class: Nullable(OneOf(classes, { description: 'Result of the matching; null until then' })),
    kind: OneOf(['collection', 'payout', 'refund', 'fee', 'settlement', 'other'], { description: 'Kind of line' }),
    direction: OneOf(['in', 'out'], { description: 'Direction of the money: `in` or `out`' }),
    receipt: Nullable(Type.String({ description: 'Receipt code of the provider; null if none is known' })),
    amount: Amount({ description: 'Amount in major units' }),
    currency: Type.String({ description: 'Currency of the amount, ISO 4217' }),
    occurred_at: At({ description: 'Time at which the money moved' }),
    phone: Nullable(
      Type.String({
        description: 'Phone number of the payer or receiver, masked if the provider masks it; null if not given',
      }),
    ),
    details: Nullable(Type.String({ description: 'Details as given by the provider; null if none' })),
    matched_by: Nullable(
      OneOf(['receipt', 'payer', 'hand'], {
        description: 'Basis of the match: the receipt, payer and amount, or an operator; null if not matched',
      }),
    ),
    account_id: Nullable(Type.String({ description: 'Id of the account concerned' })),
    payment_id: Nullable(Type.String({ description: 'Id of the matching payment, else null' })),
    payout_id: Nullable(Type.String({ description: 'Id of the matching payout, else null' })),
    refund_id: Nullable(Type.String({ description: 'Id of the matching refund, else null' })),
    booking: Nullable(
      OneOf(['suspense', 'fee', 'bank'], { description: 'Booking in the ledger, for lines that are no payment' }),
    ),
  },
  { title: 'PaymentStatementLine' },
)

const house = houseKey(houseOf('live'))

const create = writeAcross({
  method: 'POST',
  path: '/v1/operator/payments/statements',
  operation: 'operator.createPaymentStatement',
  summary: 'Create a provider statement',
  description: 'Upload its file afterwards to `/v1/operator/payments/statements/:id/lines`.',
  scope: 'operator',
  body: StatementCreate,
  reply: { status: 201, schema: StatementWhole, location: ({ id }) => `/v1/operator/payments/statements/${id}` },
  errors: ['VALIDATION_ERROR'],
  examples: [
    { name: 'M-Pesa', body: { provider: 'mpesa', environment: 'test' as const } },
    {
      name: 'A file with other column names',
      body: {
        provider: 'mtn_momo',
        environment: 'live' as const,
        country: 'UG',
        columns: { receipt: 'Ref', time: 'When', amount: 'Sum', phone: 'Who' },
        closing_balance: 125_000,
        closing_at: '2026-03-01T21:00:00Z',
      },
    },
  ],
  handle: async (_app, tx, { body }, caller) => {
    const { provider, environment, closing_balance, closing_at } = body
    const { country, currency } = marketOf(provider, body.country)
    if ((closing_balance === undefined) !== (closing_at === undefined))
      throw new AppError('VALIDATION_ERROR', 'closing_balance and closing_at must be given together')
    const row = await one(
      tx.query(insertStatement, {
        ...houseOf(environment),
        id: newUuid(caller.receivedMs),
        provider,
        country,
        currency,
        columns: JSON.stringify(body.columns ?? {}),
        utcOffset: body.utc_offset ?? utcOffsetOf(country),
        covers: body.covers ?? 'everything',
        closingBalance: closing_balance === undefined ? null : balanceOf(closing_balance, currency),
        closingAt: closing_at === undefined ? null : parseMoment(closing_at),
        at: new Date(caller.receivedMs),
      }),
    )
    await record(tx, caller, 'payments.create_statement', statementId(row), {
      after: { provider, environment, country },
    })
    return wholeOf(tx, row)
  },
})

const listAll = list({
  path: '/v1/operator/payments/statements',
  operation: 'operator.listPaymentStatements',
  summary: 'List provider statements',
  scope: 'operator',
  query: Type.Object({
    ...listQuery,
    environment: Type.Optional(EnvironmentName({ description: 'Filter by environment; default both' })),
    provider: Type.Optional(OneOf(providers, { description: 'Filter by provider; default all' })),
  }),
  row: StatementRecord,
  examples: [{ name: 'Statements of M-Pesa', query: { provider: 'mpesa', limit: 10 } }],
  handle: async (app, { query }) => {
    const window = windowOf(query)
    const { environment = null, provider = null } = query
    return pageOf(window, await app.db.query(listStatements, { ...house, ...window, environment, provider }), recordOf)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/operator/payments/statements/:id',
  operation: 'operator.getPaymentStatement',
  summary: 'Get a provider statement and its reconciliation',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: StatementWhole },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }) => wholeOf(app.db, await known(app.db, params.id)),
})

const send = upload({
  path: '/v1/operator/payments/statements/:id/lines',
  operation: 'operator.importPaymentStatement',
  summary: 'Upload the file of a provider statement',
  description:
    'CSV in UTF-8, at most 512 MiB and 2,000,000 lines, accepted as a whole or refused. Known lines are skipped, so a file can be sent again. Lines are matched in the background: read the statement until it is `matched`.',
  scope: 'operator',
  params: IdParam,
  file: 'text/csv',
  reply: { status: 200, schema: StatementWhole },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'PAYLOAD_TOO_LARGE'],
  handle: async (app, { params }, caller, file) => {
    const statement = await known(app.db, params.id)
    return wholeOf(app.db, await importFile(app, caller, statement, file))
  },
})

const lines = list({
  path: '/v1/operator/payments/statements/:id/lines',
  operation: 'operator.listPaymentStatementLines',
  summary: 'List the lines of a provider statement',
  scope: 'operator',
  params: IdParam,
  query: Type.Object({
    ...listQuery,
    class: Type.Optional(
      OneOf(classes, {
        description:
          'Filter by class; default all lines. `ours_only` lists payments, payouts and refunds that are on no statement',
      }),
    ),
  }),
  row: LineRecord,
  errors: ['NOT_FOUND'],
  handle: async (app, { params, query }) => {
    const { environment, id } = await known(app.db, params.id)
    const [window, tenant] = [windowOf(query), houseOf(environment)]
    if (query.class === 'ours_only') return pageOf(window, await listGaps(app.db, tenant, id, window), gapOf)
    const wanted = { ...tenant, ...window, id, class: query.class ?? null }
    return pageOf(window, await app.db.query(listLines, wanted), lineOf)
  },
})

const assignPayment = writeAcross({
  method: 'POST',
  path: '/v1/operator/payments/statements/:id/lines/:line/assign',
  operation: 'operator.assignPaymentStatementLine',
  summary: 'Assign a statement line to a payment',
  description:
    'For a line of the class `theirs_only`: moves its money out of suspense, and completes the payment as if the provider had reported it in time.',
  scope: 'operator',
  params: Type.Object({ ...IdParam.properties, line: Type.String({ description: 'Id of the line, such as `stl_…`' }) }),
  body: Type.Object({
    account_id: Type.String({ maxLength: 40, description: 'Id of the account of the payment' }),
    payment_id: Type.String({ maxLength: 40, description: 'Id of the payment that the line belongs to' }),
  }),
  reply: { status: 200, schema: LineRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'INVALID_STATE'],
  handle: async (app, tx, { params, body }, caller) => {
    const statement = await known(tx, params.id)
    const line = await assign(app, tx, statement, params.line, body)
    await record(tx, caller, 'payments.assign_statement_line', params.line, { after: { payment: body.payment_id } })
    return lineOf({ ...line, booking: null })
  },
  follow: async (app, { params }, _caller, reply) => {
    const line = await one(app.db.query(lockLine, { ...house, id: uuidOf('statementLine', params.line) ?? '' }))
    await settleLines(app, accountOf(line))
    return reply
  },
})

function marketOf(provider: string, given: string | undefined): { country: string; currency: string } {
  const markets = offered({}).filter((one) => one.provider === provider)
  const [only] = markets
  const found = given === undefined && markets.length === 1 ? only : markets.find(({ country }) => country === given)
  if (!found)
    throw new AppError('VALIDATION_ERROR', `country: ${provider} is in ${markets.map((one) => one.country).join(', ')}`)
  return found
}

function balanceOf(given: number | string, currency: string): bigint {
  const micros = parseAmount(given, isCurrency(currency) ? currencies[currency] : microDecimals)
  if (typeof micros !== 'bigint')
    throw new AppError('VALIDATION_ERROR', `closing_balance: ${currency} ${micros.problem}`)
  if (micros > maxAmount)
    throw new AppError('VALIDATION_ERROR', `closing_balance: must be at most ${formatMicros(maxAmount)}`)
  return micros
}

async function known(queryable: Queryable, id: string): Promise<StatementRow> {
  const uuid = uuidOf('paymentStatement', id)
  const row = uuid && (await maybe(queryable.query(findStatement, { ...house, id: uuid })))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such statement; the ids of statements begin with stm_')
  return row
}

async function wholeOf(queryable: Queryable, row: StatementRow): Promise<Static<typeof StatementWhole>> {
  const counts = await countClasses(queryable, houseOf(row.environment), row.id)
  const of = (name: (typeof classes)[number]) => {
    const { lines = 0, micros = 0n, net = 0n } = counts.find((count) => count.class === name) ?? {}
    return { lines, amount: micros, net }
  }
  return {
    ...recordOf(row),
    classes: {
      matched: of('matched'),
      theirs_only: of('theirs_only'),
      amount_differs: of('amount_differs'),
      booked: of('booked'),
      ours_only: of('ours_only'),
    },
  }
}

function recordOf(row: StatementRow): Static<typeof StatementRecord> {
  const { columns: _, utc_offset: __, id: ___, ...shown } = row
  return { ...shown, id: statementId(row) }
}

function lineOf(row: LineRow): Static<typeof LineRecord> {
  const { payment_account, payment_id, object } = row
  return {
    id: idOf('statementLine', row.id),
    class: row.class,
    kind: row.kind === 'other' && payment_id !== null && object !== 'payment' ? object : row.kind,
    direction: row.kind === 'collection' ? 'in' : 'out',
    receipt: row.receipt,
    amount: row.amount,
    currency: row.currency,
    occurred_at: row.occurred_at,
    phone: row.phone?.replaceAll('_', '*') ?? null,
    details: row.details,
    matched_by: row.matched_by,
    account_id: payment_account === null ? null : idOf('account', payment_account),
    ...idsOf(object, payment_id),
    booking: row.booking,
  }
}

function gapOf(row: GapRow): Static<typeof LineRecord> {
  return {
    id: idOf(row.object, row.id),
    class: 'ours_only',
    kind: row.object === 'payment' ? 'collection' : row.object,
    direction: row.object === 'payment' ? 'in' : 'out',
    receipt: row.provider_reference,
    amount: row.amount,
    currency: row.currency,
    occurred_at: row.completed_at,
    phone: row.phone,
    details: null,
    matched_by: null,
    account_id: idOf('account', row.payment_account),
    ...idsOf(row.object, row.id),
    booking: null,
  }
}

function idsOf(object: LineObject, id: string | null) {
  const named = (kind: LineObject) => (id !== null && object === kind ? idOf(kind, id) : null)
  return { payment_id: named('payment'), payout_id: named('payout'), refund_id: named('refund') }
}

export const statementRoutes: readonly Route[] = [create, listAll, get, send, lines, assignPayment]
