// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type TSchema, Type } from 'typebox'
import { runs } from '../../../test/properties.ts'
import { AppError } from '../../kernel/errors.ts'
import { formatMicros } from '../../kernel/money.ts'
import { Amount, At, JudgedApart, Metadata, Nullable, OneOf } from '../schema/fields.ts'
import { parseJson, redact, serialiser } from './json.ts'

// Out ----------------------------------------------------------------------------------------------------------------

const Record = Type.Object({
  id: Type.String(),
  status: OneOf(['queued', 'sent']),
  count: Type.Integer(),
  share: Type.Number(),
  ready: Type.Boolean(),
  cost: Amount(),
  refund: Nullable(Amount()),
  created_at: At(),
  ended_at: Nullable(At()),
  note: Type.Optional(Type.String()),
  reason: Nullable(Type.String()),
  tags: Type.Array(Type.String()),
  legs: Type.Array(Type.Object({ amount: Amount(), at: At(), to: Nullable(Type.String()) })),
  metadata: Type.Optional(Metadata),
  choice: Type.Union([Type.String(), Type.Integer(), Type.Array(Type.String())]),
  'odd "name"': Type.Optional(Type.String()),
})
const writeRecord = serialiser(Record)

const micros = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n })
const moment = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
const text = fc.string({ unit: 'binary' })
const record = fc.record(
  {
    id: text,
    status: fc.constantFrom('queued', 'sent'),
    count: fc.integer(),
    share: fc.double({ noNaN: true, noDefaultInfinity: true }),
    ready: fc.boolean(),
    cost: micros,
    refund: fc.option(micros),
    created_at: moment,
    ended_at: fc.option(moment),
    note: text,
    reason: fc.option(text),
    tags: fc.array(text),
    legs: fc.array(fc.record({ amount: micros, at: moment, to: fc.option(text) })),
    metadata: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean())),
    choice: fc.oneof(text, fc.integer(), fc.array(text)),
    'odd "name"': text,
  },
  {
    requiredKeys: [
      'id',
      'status',
      'count',
      'share',
      'ready',
      'cost',
      'refund',
      'created_at',
      'ended_at',
      'reason',
      'tags',
      'legs',
      'choice',
    ],
  },
)

test('whatever a record holds, what is written is JSON and means the same', () => {
  fc.assert(
    fc.property(record, (value) => {
      // Money as an exact number, times as ISO 8601; everything else like JSON.stringify.
      const expected = JSON.stringify(value, (_name, member) =>
        typeof member === 'bigint' ? Number(formatMicros(member)) : member,
      )
      assert.deepEqual(JSON.parse(writeRecord(value)), JSON.parse(expected))
    }),
    { numRuns: runs(500) },
  )
})

test('money is written to the last digit, which a floating-point number could not', () => {
  const write = serialiser(Type.Object({ cost: Amount() }))
  for (const [value, written] of [
    [0n, '0'],
    [1n, '0.000001'],
    [-1n, '-0.000001'],
    [800_000n, '0.8'],
    [12_500_000n, '12.5'],
    [100_000_000n, '100'],
    [9_007_199_254_740_993_000_001n, '9007199254740993.000001'],
  ] as const)
    assert.equal(write({ cost: value }), `{"cost":${written}}`)
  fc.assert(
    fc.property(micros, (value) => {
      const digits =
        /^\{"cost":(-?)(\d+)(?:\.(\d{1,6}))?\}$/.exec(write({ cost: value })) ?? assert.fail(write({ cost: value }))
      const read = BigInt(`${digits[2]}${(digits[3] ?? '').padEnd(6, '0')}`)
      assert.equal(digits[1] ? -read : read, value)
    }),
  )
})

test('fields are written in the order of the declaration, and unknown ones not at all', () => {
  const write = serialiser(
    Type.Object({ b: Type.Integer(), a: Type.Optional(Type.String()), c: Nullable(Type.String()) }),
  )
  assert.equal(write({ secret: 'x', c: null, a: 'y', b: 1, hash: Buffer.from('z') }), '{"b":1,"a":"y","c":null}')
  assert.equal(write({ b: 1, a: undefined, c: 'z' }), '{"b":1,"c":"z"}')
  assert.equal(serialiser(Type.Object({}))({ secret: 'x' }), '{}')
})

test('an object that takes further fields keeps them', () => {
  const write = serialiser(Type.Object({ a: Type.Integer() }, { additionalProperties: true }))
  assert.deepEqual(JSON.parse(write({ a: 1, b: [2], constructor: 'c' })), { a: 1, b: [2], constructor: 'c' })
  assert.equal(serialiser(Type.Object({ metadata: Metadata }))({ metadata: { k: 'v' } }), '{"metadata":{"k":"v"}}')
})

test('a list in a list, and an empty one, are written as they are', () => {
  const write = serialiser(Type.Array(Type.Array(Type.Integer())))
  assert.equal(write([]), '[]')
  assert.equal(write([[], [1, 2], [3]]), '[[],[1,2],[3]]')
})

// In -----------------------------------------------------------------------------------------------------------------

test('any JSON document is read as JSON.parse reads it', () => {
  const value = fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' })
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (given, indent) => {
      fc.pre(!hasOddities(given))
      const document = JSON.stringify(given, null, indent)
      assert.deepEqual(parseJson(Buffer.from(document)), { text: document, value: JSON.parse(document) })
    }),
    { numRuns: runs(500) },
  )
})

test('a document that was cut off is refused, wherever it was cut', () => {
  const document = '{"a": [1, -2.5e+3, true, null, "\\u00e9\\"x"], "b": {"c": "d"}}'
  for (let length = 1; length < document.length; length++)
    assert.ok(positionIn(document.slice(0, length)) <= length, document.slice(0, length))
})

test('what is not JSON is refused with the place where it stops being so', () => {
  for (const [document, position] of [
    ['x', 0],
    ['  x', 2],
    [`${' '.repeat(500)}x`, 500],
    ['{', 1],
    ['{"a"', 4],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ['{"a":1 "b":2}', 7],
    ['{a:1}', 1],
    ["{'a':1}", 1],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['[,1]', 1],
    ['[1', 2],
    ['{"a":[1,2}', 9],
    ['[1]]', 3],
    ['{} {}', 3],
    ['1 2', 2],
    ['01', 0],
    ['+1', 0],
    ['.5', 0],
    ['1.', 0],
    ['1e', 0],
    ['-', 0],
    ['NaN', 0],
    ['Infinity', 0],
    ['undefined', 0],
    ['tru', 0],
    ['truex', 0],
    ['"abc', 0],
    ['"a\nb"', 0],
    ['"\\x"', 0],
    ['"\\u12"', 0],
    ['[1, "\t"]', 4],
    ['// no\n1', 0],
    ['{"a":1,,}', 7],
    ['{:1}', 1],
    ['{"a"::1}', 5],
    ['{1:1}', 1],
    ['\u00a01', 0],
    ['\ufeff1', 0],
  ] as const)
    assert.equal(positionIn(document), position, JSON.stringify(document))
})

test('the place is found in a large document too', () => {
  const long = 'x'.repeat(1_000_000)
  assert.equal(positionIn(`{"a":"${long}",}`), long.length + 8)
  assert.equal(positionIn(`["${'\\"'.repeat(400_000)}"`), 800_003)
  assert.equal(positionIn(`[${'1,'.repeat(400_000)}]`), 800_001)
})

test('a document that means two things, or means harm, is refused', () => {
  for (const [document, reason] of [
    ['{"a":1,"a":1}', /same key twice at position 7$/],
    ['[{"b":{"a":1,"\\u0061":2}}]', /same key twice at position 13$/],
    ['{"a":[{"b":1}],"b":{"c":"b"},"b":2}', /same key twice at position 29$/],
    ['{"__proto__":{}}', /__proto__" is not allowed at position 1$/],
    ['{"a":{"__proto__":null}}', /__proto__" is not allowed at position 6$/],
    ['{"constructor": {"a":1,"prototype":{}}}', /constructor\.prototype" is not allowed at position 23$/],
    ['"\\u0000"', /U\+0000 at position 0$/],
    ['{"a":1, "\\u0000":1}', /U\+0000 at position 8$/],
    ['"\\ud800"', /surrogate pair at position 0$/],
    ['["x\\udc00"]', /surrogate pair at position 1$/],
    ['{"a":{"\\ud800":1}}', /surrogate pair at position 6$/],
    [`${'['.repeat(33)}${']'.repeat(33)}`, /deeper than 32 levels at position 32$/],
    [`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`, /deeper than 32 levels at position 160$/],
    [`${'['.repeat(100_000)}`, /unexpected input at position 100000/],
  ] as const)
    assert.throws(() => parseJson(Buffer.from(document)), isRefusal(reason), document.slice(0, 60))
  assert.throws(() => parseJson(Buffer.from([0x22, 0xff, 0x22])), isRefusal(/UTF-8/))
  assert.throws(() => parseJson(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), isRefusal(/UTF-8/))
})

test('what only looks dangerous is taken', () => {
  for (const document of [
    '{"constructor":"x"}',
    '{"constructor":{"name":"x"}}',
    '{"prototype":{}}',
    '{"constructor":{"a":{"prototype":{}}},"a":[{"b":1},{"b":2}]}',
    '{"a:b":":\\":"}',
    '"\\ud83d\\ude00"',
    `${'['.repeat(32)}${']'.repeat(32)}`,
  ])
    assert.deepEqual(parseJson(Buffer.from(document)), { text: document, value: JSON.parse(document) })
})

// Logs ---------------------------------------------------------------------------------------------------------------

const Request = Type.Object({
  to: Type.String(),
  text: Type.String({ sensitive: true }),
  card: Type.Optional(Type.Object({ number: Type.String(), cvv: Type.String() }, { sensitive: true })),
  code: Nullable(Type.String({ sensitive: true })),
  items: Type.Array(JudgedApart(Type.Object({ name: Type.String(), pin: Type.String({ sensitive: true }) }))),
  metadata: Type.Optional(Metadata),
})

test('a log keeps what the schema knows and masks what it calls sensitive', () => {
  const value = {
    to: '+254711000001',
    text: 'secret',
    card: { number: 'secret', cvv: 'secret' },
    code: 'secret',
    items: [{ name: 'a', pin: 'secret' }],
    metadata: { k: 'secret' },
    unknown: 'secret',
  }
  assert.deepEqual(redact(Request, value), {
    to: '+254711000001',
    text: '[redacted]',
    card: '[redacted]',
    code: '[redacted]',
    items: [{ name: 'a', pin: '[redacted]' }],
    metadata: '[object]',
  })
  assert.deepEqual(redact(Request, { to: 'x', text: null }), { to: 'x', text: null })
})

test('a refused request is shown as far as it fits, and its secrets are not', () => {
  const secret = 'secret-1f2e3d'
  const anywhere = fc.oneof(
    fc.constant(secret),
    fc.constant([secret]),
    fc.constant({ value: secret }),
    fc.constant([[{ deep: secret }]]),
  )
  fc.assert(
    fc.property(anywhere, anywhere, (one, two) => {
      for (const value of [
        one,
        { text: one, card: two, code: one },
        { items: one },
        { items: [{ pin: one }, two, one] },
        { to: { text: one } },
        { metadata: two, [secret]: one },
      ])
        assert.ok(!JSON.stringify(redact(Request, value) ?? null).includes(secret), JSON.stringify(value))
    }),
  )
})

test('long lists are cut and money is readable', () => {
  const shown = redact(Type.Object({ n: Type.Array(Type.Integer()), cost: Amount() }), {
    n: Array.from({ length: 100 }, (_, i) => i),
    cost: 12_500_000n,
  })
  assert.deepEqual(shown, { n: Array.from({ length: 20 }, (_, i) => i), cost: '12.5' })
})

test('what a schema of any kind lets through can be written down', () => {
  const schemas: TSchema[] = [
    Type.Unknown(),
    Type.Null(),
    Type.Literal('x'),
    Type.Record(Type.String(), Type.String()),
    Record,
  ]
  for (const schema of schemas) assert.doesNotThrow(() => JSON.stringify(redact(schema, { a: [1, { b: null }] })))
})

function positionIn(document: string): number {
  try {
    parseJson(Buffer.from(document))
  } catch (error) {
    assert.ok(error instanceof AppError, String(error))
    assert.equal(error.code, 'INVALID_REQUEST')
    return Number(/unexpected input at position (\d+)$/.exec(error.details)?.[1] ?? assert.fail(error.details))
  }
  return assert.fail(`${document.slice(0, 60)} was taken`)
}

function isRefusal(pattern: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof AppError, String(error))
    assert.equal(error.code, 'INVALID_REQUEST')
    assert.match(error.details, pattern)
    return true
  }
}

/** What parseJson refuses on purpose. */
function hasOddities(value: unknown): boolean {
  const document = JSON.stringify(value)
  return /\\u0000|\\ud[89a-f]|__proto__|"constructor"/i.test(document)
}
