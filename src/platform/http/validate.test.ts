// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Type } from 'typebox'
import { runs } from '../../../test/properties.ts'
import { AppError, type ErrorCode } from '../../kernel/errors.ts'
import {
  AmountIn,
  CountryCode,
  CurrencyCode,
  Day,
  JudgedApart,
  Metadata,
  Moment,
  Nullable,
  OneOf,
} from '../schema/fields.ts'
import { bodyChecker, queryChecker, shown, strictRefusal } from './validate.ts'

const Phone = Type.String({
  pattern: '^\\+[1-9]\\d{1,14}$',
  rule: 'must be E.164, such as +254711000001',
  errorCode: 'INVALID_PHONE',
})
const Order = Type.Object({
  to: Phone,
  text: Type.String({ minLength: 1, maxLength: 5, rule: 'must have 1 to 5 characters' }),
  units: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, rule: 'must be 1 to 10' })),
  cc: Type.Optional(Type.Array(Phone, { maxItems: 3 })),
  kind: Type.Optional(OneOf(['sms', 'email'])),
  reply_to: Type.Optional(Nullable(Type.String())),
  address: Type.Optional(Type.Object({ street: Type.String(), zip: Type.Optional(Type.String()) })),
  items: Type.Optional(Type.Array(Type.Object({ name: Type.String(), note: Type.Optional(Type.String()) }))),
  metadata: Type.Optional(Metadata),
  amount: Type.Optional(AmountIn()),
})
const checkOrder = bodyChecker(Order)
const order = { to: '+254711000001', text: 'Hi' }

test('a body that keeps the rules passes as it is', () => {
  const body = {
    ...order,
    units: 10,
    cc: ['+254711000002'],
    kind: 'sms',
    reply_to: null,
    metadata: { a: 1, b: true, c: 'x' },
    amount: '0.5',
  }
  assert.deepEqual(checkOrder(body), { value: body, unknown: [] })
})

test('each rule that is broken is named with its field, in the words of the rule', () => {
  for (const [change, field, message] of [
    [{ text: '' }, 'text', 'must have 1 to 5 characters'],
    [{ text: '123456' }, 'text', 'must have 1 to 5 characters'],
    [{ text: 5 }, 'text', 'must be text of 1 to 5 characters'],
    [{ text: null }, 'text', 'must be text of 1 to 5 characters'],
    [{ units: 0 }, 'units', 'must be 1 to 10'],
    [{ units: 11 }, 'units', 'must be 1 to 10'],
    [{ units: '1' }, 'units', 'must be 1 to 10'],
    [{ units: 1.5 }, 'units', 'must be 1 to 10'],
    [{ kind: 'fax' }, 'kind', 'must be one of sms, email'],
    [{ address: {} }, 'address.street', 'is required'],
    [{ address: { street: 1 } }, 'address.street', 'must be text'],
    [{ items: [{ name: 'a' }, { name: 2 }] }, 'items[1].name', 'must be text'],
    [{ items: [{ name: 'a' }, {}] }, 'items[1].name', 'is required'],
    [{ items: 'x' }, 'items', 'must be a list'],
    [{ amount: true }, 'amount', 'must be an amount in major units, such as 100 or 0.5'],
  ] as const) {
    const { code, fields } = refusalOf(() => checkOrder({ ...order, ...change }))
    assert.equal(code, 'VALIDATION_ERROR', JSON.stringify(change))
    assert.deepEqual(
      fields.map((problem) => problem.field),
      [field],
      JSON.stringify(change),
    )
    if (typeof message === 'string') assert.equal(fields[0]?.message, message)
    else assert.match(fields[0]?.message ?? '', message)
  }
})

test('notes have names of 1 to 40 characters and short plain values; one that is null is none', () => {
  const free = bodyChecker(Type.Object({ payload: Type.Record(Type.String(), Type.Unknown()) }))
  assert.deepEqual(free({ payload: { a: null } }).value, { payload: { a: null } })
  assert.deepEqual(checkOrder({ ...order, metadata: { a: null, b: 1 } }).value, { ...order, metadata: { b: 1 } })
  const name = 'n'.repeat(40)
  assert.ok(passes({ ...order, metadata: { [name]: 'x'.repeat(500), n: 1.5, 'a\nb': false } }))
  const value = 'must be text of at most 500 characters, a number, true or false'
  for (const [metadata, field, message] of [
    [{ '': 1 }, 'metadata.', 'must have a name of 1 to 40 characters'],
    [{ [`${name}n`]: 1 }, `metadata.${name}n`, 'must have a name of 1 to 40 characters'],
    [{ a: 'x'.repeat(501) }, 'metadata.a', value],
    [{ a: {} }, 'metadata.a', value],
    [{ a: [null] }, 'metadata.a', value],
    [{ 'a\nb': { c: 1 } }, 'metadata.a\nb', value],
  ] as const) {
    const { code, fields } = refusalOf(() => checkOrder({ ...order, metadata }))
    assert.equal(code, 'VALIDATION_ERROR')
    assert.deepEqual([fields[0]?.field, fields[0]?.message], [field, message])
  }
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 1]))
  assert.equal(refusalOf(() => checkOrder({ ...order, metadata: many })).fields[0]?.field, 'metadata')
})

test('a field that must be there is asked for', () => {
  assert.deepEqual(refusalOf(() => checkOrder({ to: order.to })).fields, [
    { field: 'text', code: 'VALIDATION_ERROR', message: 'is required' },
  ])
  assert.deepEqual(
    refusalOf(() => checkOrder({})).fields.map(({ field }) => field),
    ['to', 'text'],
  )
})

test('limits hold exactly: one less and one more decide', () => {
  for (const [units, fine] of [
    [0, false],
    [1, true],
    [10, true],
    [11, false],
  ] as const)
    assert.equal(passes({ ...order, units }), fine, `units ${units}`)
  for (const [length, fine] of [
    [0, false],
    [1, true],
    [5, true],
    [6, false],
  ] as const)
    assert.equal(passes({ ...order, text: 'x'.repeat(length) }), fine, `text of ${length}`)
  for (const [length, fine] of [
    [3, true],
    [4, false],
  ] as const)
    assert.equal(passes({ ...order, cc: new Array(length).fill(order.to) }), fine, `cc of ${length}`)
})

test('a more precise code is used when it describes every problem, and only then', () => {
  assert.equal(refusalOf(() => checkOrder({ ...order, to: 'nobody' })).code, 'INVALID_PHONE')
  assert.equal(refusalOf(() => checkOrder({ ...order, to: 'nobody', cc: ['x', order.to] })).code, 'INVALID_PHONE')
  const mixed = refusalOf(() => checkOrder({ to: 'nobody', text: '' }))
  assert.equal(mixed.code, 'VALIDATION_ERROR')
  assert.deepEqual(mixed.fields.map(({ field, code }) => [field, code]).sort(), [
    ['text', 'VALIDATION_ERROR'],
    ['to', 'INVALID_PHONE'],
  ])
  assert.deepEqual(refusalOf(() => checkOrder({ ...order, cc: [order.to, 'x'] })).fields, [
    { field: 'cc[1]', code: 'INVALID_PHONE', message: 'must be E.164, such as +254711000001' },
  ])
})

test('all problems are reported together, up to a bound', () => {
  const { fields, details } = refusalOf(() =>
    checkOrder({ to: 1, text: 2, units: 'x', kind: 'y', address: { street: 3 } }),
  )
  assert.deepEqual(fields.map(({ field }) => field).sort(), ['address.street', 'kind', 'text', 'to', 'units'])
  assert.match(details, /to must be E\.164/)
  const many = refusalOf(() => checkOrder({ ...order, items: new Array(500).fill({}) }))
  assert.ok(many.fields.length > 1 && many.fields.length <= 50, String(many.fields.length))
})

test('what is wrong inside a field that may have another form too is told alone', () => {
  const check = bodyChecker(
    Type.Object({ limits: Nullable(Type.Object({ sms: Type.Integer({ minimum: 0, rule: 'must be 0 or more' }) })) }),
  )
  const fieldsOf = (limits: unknown) => refusalOf(() => check({ limits })).fields
  const field = { code: 'VALIDATION_ERROR' as const }
  assert.deepEqual(fieldsOf({ sms: -1 }), [{ ...field, field: 'limits.sms', message: 'must be 0 or more' }])
  assert.deepEqual(fieldsOf({}), [{ ...field, field: 'limits.sms', message: 'is required' }])
  assert.deepEqual(fieldsOf('x'), [{ ...field, field: 'limits', message: 'does not have one of the accepted forms' }])
})

test('a body of another shape altogether is refused in words', () => {
  for (const body of [[], 'text', 5, true, null]) {
    const { code, details } = refusalOf(() => checkOrder(body))
    assert.equal(code, 'VALIDATION_ERROR')
    assert.match(details, /^(body|to|text) /)
  }
})

test('null stands for absent where a field is optional, and for itself where null is allowed', () => {
  const { value } = checkOrder({
    ...order,
    units: null,
    kind: null,
    reply_to: null,
    address: { street: 'x', zip: null },
    items: [{ name: 'a', note: null }],
  })
  assert.deepEqual(value, { ...order, reply_to: null, address: { street: 'x' }, items: [{ name: 'a' }] })
  assert.deepEqual(
    refusalOf(() => checkOrder({ ...order, to: null })).fields.map(({ field }) => field),
    ['to'],
  )
})

test('unknown fields are named, with what may have been meant', () => {
  assert.deepEqual(checkOrder({ ...order, txet: 'x' }).unknown.map(shown), ['"txet" (did you mean "text"?)'])
  assert.deepEqual(checkOrder({ ...order, tixes: 'x' }).unknown.map(shown), ['"tixes"'])
  assert.deepEqual(checkOrder({ ...order, unit: 1 }).unknown.map(shown), ['"unit" (did you mean "units"?)'])
  assert.deepEqual(checkOrder({ ...order, address: { street: 'x', stret: 'y' } }).unknown.map(shown), [
    '"address.stret" (did you mean "street"?)',
  ])
  assert.deepEqual(checkOrder({ ...order, items: [{ name: 'a', nam: 'b' }] }).unknown.map(shown), [
    '"items[0].nam" (did you mean "name"?)',
  ])
  assert.deepEqual(checkOrder({ ...order, metadata: { anything: 'goes' } }).unknown, [])
  assert.deepEqual(checkOrder({ ...order, constructor: null, toString: 1 }).unknown.length, 2)
  const many = checkOrder({ ...order, ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`zzzzzz${i}`, 1])) })
  assert.equal(many.unknown.length, 10)
})

test('a field that is missing is told together with those that nobody knows', () => {
  const { to, ...rest } = order
  const { details } = refusalOf(() => checkOrder({ ...rest, recipient: to, too: 1 }))
  assert.match(details, /^to is required; unknown field "recipient"; unknown field "too" \(did you mean "to"\?\)$/)
  assert.doesNotMatch(refusalOf(() => checkOrder({ ...order, to: 5, recipient: 1 })).details, /recipient/)
  for (const text of ['Your code is 123456', '123456', 'x'.repeat(41)])
    assert.equal(refusalOf(() => checkOrder({ ...rest, [text]: 1 })).details, 'to is required')
})

test('unknown fields are found in every entry of a list, and ten of them named', () => {
  const items = (count: number, strange: (i: number) => boolean) =>
    Array.from({ length: count }, (_, i) => ({ name: 'a', ...(strange(i) ? { nam: 'b' } : {}) }))
  for (const at of [5, 199]) {
    const { value, unknown } = checkOrder({ ...order, items: items(200, (i) => i === at) })
    assert.deepEqual(unknown.map(shown), [`"items[${at}].nam" (did you mean "name"?)`])
    assert.deepEqual(
      value.items,
      items(200, () => false),
    )
  }
  const { unknown } = checkOrder({ ...order, items: items(200, () => true), nobody: 1 })
  assert.deepEqual(
    unknown.map(({ field }) => field),
    Array.from({ length: 10 }, (_, i) => `items[${i}].nam`),
  )
})

test('whatever a field is called, its name can stand in a header', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
      fc.pre(name !== '__proto__' && !(name in Order.properties))
      for (const unknown of checkOrder({ ...order, [name]: 1 }).unknown)
        assert.match(shown(unknown), /^[\x20-\x7e]{1,160}$/)
    }),
  )
  assert.deepEqual(checkOrder({ ...order, 'a"b\r\nSet-Cookie: x': 1 }).unknown.map(shown), ['"a?b??Set-Cookie: x"'])
})

test('no body whatever makes the check itself fail', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.anything({ withNullPrototype: true }),
        fc.record({ to: fc.anything(), text: fc.anything(), items: fc.anything(), address: fc.anything() }),
      ),
      (body) => {
        try {
          checkOrder(body)
        } catch (error) {
          assert.ok(error instanceof AppError, String(error))
        }
      },
    ),
    { numRuns: runs(500) },
  )
})

const checkQuery = queryChecker(
  Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, rule: 'must be a whole number from 1 to 200' })),
    share: Type.Optional(Type.Number()),
    live: Type.Optional(Type.Boolean()),
    status: Type.Optional(Type.Array(OneOf(['sent', 'failed']))),
    q: Type.Optional(Type.String({ maxLength: 10 })),
  }),
)

test('the texts of a query become numbers, booleans and lists', () => {
  for (const [given, read] of [
    [{ limit: '50' }, { limit: 50 }],
    [{ share: '-0.5' }, { share: -0.5 }],
    [{ live: 'true' }, { live: true }],
    [{ live: '1' }, { live: true }],
    [{ live: 'false' }, { live: false }],
    [{ live: '0' }, { live: false }],
    [{ status: 'sent' }, { status: ['sent'] }],
    [{ status: 'sent,failed' }, { status: ['sent', 'failed'] }],
    [{ status: ['sent', 'failed'] }, { status: ['sent', 'failed'] }],
    [{ q: '1' }, { q: '1' }],
    [{ q: ['first', 'last'] }, { q: 'last' }],
    [{ q: '+254 7' }, { q: '+254 7' }],
  ] as const)
    assert.deepEqual({ ...checkQuery(given).value }, read, JSON.stringify(given))
})

test('a query that breaks a rule is a bad request, whatever the rule', () => {
  for (const query of [
    { limit: '0' },
    { limit: '201' },
    { limit: 'many' },
    { limit: '' },
    { limit: '1e2' },
    { limit: '0x10' },
    { limit: ' 5' },
    { limit: '5.5' },
    { limit: '9'.repeat(400) },
    { live: 'yes' },
    { live: 'TRUE' },
    { live: 'constructor' },
    { share: 'NaN' },
    { share: 'Infinity' },
    { status: 'sent,lost' },
    { status: '' },
    { q: 'x'.repeat(11) },
  ]) {
    const { code, fields } = refusalOf(() => checkQuery(query))
    assert.equal(code, 'INVALID_REQUEST', JSON.stringify(query))
    assert.equal(fields.length, 1)
  }
  assert.deepEqual(checkQuery({ limt: '5' }).unknown.map(shown), ['"limt" (did you mean "limit"?)'])
  assert.deepEqual(checkQuery({ 'a/b': '5', 'limit/type': 'x' }).unknown.length, 2)
})

test('what a query has beside its schema is named, and not handed on', () => {
  const { value, unknown } = checkQuery({ order: 'asc', limit: '5', status: 'sent,failed' })
  assert.deepEqual({ ...value }, { limit: 5, status: ['sent', 'failed'] })
  assert.deepEqual(unknown.map(shown), ['"order"'])
})

test('a strict caller hears of every unknown field', () => {
  const unknown = [
    { field: 'a', meant: null },
    { field: 'b', meant: 'c' },
  ]
  const { code, details, extras } = strictRefusal(unknown, 'VALIDATION_ERROR')
  assert.equal(code, 'VALIDATION_ERROR')
  assert.equal(details, 'unknown field "a"; unknown field "b" (did you mean "c"?)')
  assert.deepEqual(extras.fields, [
    { field: 'a', code, message: 'is unknown' },
    { field: 'b', code, message: 'is unknown (did you mean "c"?)' },
  ])
})

test('dates, moments, currencies and countries are held to the calendar and the catalogue', () => {
  for (const [schema, right, wrong] of [
    [
      Day(),
      ['2024-02-29', '2026-12-31'],
      ['2023-02-29', '2026-13-01', '2026-00-10', '2026-1-1', '20260101', '2026-01-01T00:00:00Z', ''],
    ],
    [
      Moment(),
      ['2026-03-01T09:15:30Z', '2026-03-01T12:15:30.123456+03:00', '2026-03-01T12:15:30-11:30'],
      [
        '2026-03-01T09:15:30',
        '2026-03-01',
        '2026-02-30T09:15:30Z',
        '2026-03-01T24:00:00Z',
        '2026-03-01T09:60:00Z',
        '2026-03-01 09:15:30Z',
        'now',
      ],
    ],
    [CurrencyCode(), ['KES', 'UGX'], ['kes', 'XXX', 'KE', 'KESS', 'constructor', '']],
    [CountryCode(), ['KE', 'XK'], ['ke', 'KEN', 'K', 'XX', 'UK', '']],
  ] as const) {
    const check = bodyChecker(Type.Object({ value: schema }))
    for (const value of right) assert.equal(check({ value }).value.value, value)
    for (const value of wrong) assert.throws(() => check({ value }), AppError, value)
  }
})

test('fields nobody knows are named, and not handed on, however deep they lie', () => {
  const check = bodyChecker(
    Type.Object({
      name: Type.String(),
      settings: Type.Optional(Type.Object({ sender: Type.Optional(Type.String()) })),
      items: Type.Optional(Type.Array(Type.Object({ price: Type.Integer() }))),
      notes: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      open: Type.Optional(Type.Object({ known: Type.Integer() }, { additionalProperties: true })),
    }),
  )
  const items = Array.from({ length: 8 }, (_, price) => ({ price, prise: 1 }))
  const free = { notes: { any: { thing: 1 } }, open: { known: 1, other: 2 } }
  const { value, unknown } = check({ name: 'a', constructor: 1, settings: { sendr: 'x' }, items, ...free })
  assert.deepEqual(value, { name: 'a', settings: {}, items: items.map(({ price }) => ({ price })), ...free })
  const told = unknown.map(shown)
  assert.ok(told.includes('"settings.sendr" (did you mean "sender"?)'), told.join())
  const known = { name: 'a', items: [{ price: 1 }], ...free }
  assert.equal(check(known).value, known, 'what holds nothing else is handed on as it came')
})

test('the name of a field is told as far as it helps', () => {
  const check = bodyChecker(Type.Object({ notes: Type.Record(Type.String(), Type.Integer()) }))
  const [problem] = refusalOf(() => check({ notes: { ['n'.repeat(10_000)]: 'x' } })).fields
  assert.equal(problem?.field.length, 200)
})

function refusalOf(check: () => unknown): {
  code: ErrorCode
  details: string
  fields: readonly { field: string; code: ErrorCode; message: string }[]
} {
  try {
    check()
  } catch (error) {
    assert.ok(error instanceof AppError, String(error))
    return { code: error.code, details: error.details, fields: error.extras.fields ?? [] }
  }
  return assert.fail('it was taken')
}

function passes(body: unknown): boolean {
  try {
    checkOrder(body)
    return true
  } catch {
    return false
  }
}

test('what is judged apart passes whatever it is, and is still known: nulls and strange fields in it are seen', () => {
  const check = bodyChecker(
    Type.Object({ entries: Type.Array(JudgedApart(Type.Object({ to: Phone, note: Type.Optional(Type.String()) }))) }),
  )
  const strange = [5, null, 'x', {}, { to: 7 }]
  assert.deepEqual(check({ entries: strange }), { value: { entries: strange }, unknown: [] })
  const { value, unknown } = check({ entries: [{ to: 'x', note: null, notee: 1 }] })
  assert.deepEqual(value, { entries: [{ to: 'x' }] })
  assert.deepEqual(unknown.map(shown), ['"entries[0].notee" (did you mean "note"?)'])
  assert.throws(() => check({ entries: 5 }), /entries must be a list/)
})
