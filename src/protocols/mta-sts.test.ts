// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowsServer, parsePolicy, policyIdOf } from './mta-sts.ts'

const records: [string[], string | null][] = [
  // The example of RFC 8461 §3.1.
  [['v=STSv1; id=20160831085700Z;'], '20160831085700Z'],
  [['v=STSv1;id=1'], '1'],
  [['v=STSv1 ; id=1 ; more=x.y ;'], '1'],
  [['v=STSv1; more=x; id=1; id=2'], '1'],
  [['v=spf1 -all', 'v=STSv1; id=7;'], '7'],
  [[], null],
  [['v=STSv1; id=1', 'v=STSv1; id=1'], null],
  [['v=STSv1;'], null],
  [['v=STSv1'], null],
  [['V=STSv1; id=1'], null],
  [['v=stsv1; id=1'], null],
  [['v=STSv10; id=1'], null],
  [['id=1; v=STSv1'], null],
  [[' v=STSv1; id=1'], null],
  [['v=STSv1; ID=1'], null],
  [['v=STSv1; id='], null],
  [['v=STSv1; id=2026-01'], null],
  [[`v=STSv1; id=${'1'.repeat(32)}`], '1'.repeat(32)],
  [[`v=STSv1; id=${'1'.repeat(33)}`], null],
  [['v=STSv1; id=1;; a=b'], null],
  [['v=STSv1; id=1; a b=c'], null],
  [['v=STSv1; id=1; a=b=c'], null],
]
for (const [texts, id] of records)
  test(`the records ${JSON.stringify(texts).slice(0, 60)} name the policy ${id}`, () =>
    assert.equal(policyIdOf(texts), id))

const head = 'version: STSv1\nmode: enforce\nmax_age: 86400\n'
const good: [string, string, unknown][] = [
  [
    'the example of RFC 8461 §3.2',
    'version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.example.net\r\nmx: backupmx.example.com\r\nmax_age: 604800\r\n',
    {
      mode: 'enforce',
      mx: ['mail.example.com', '*.example.net', 'backupmx.example.com'],
      maxAgeSeconds: 604_800,
    },
  ],
  [
    'lines that end in LF, the last in nothing',
    `${head}mx: A.example`,
    { mode: 'enforce', mx: ['a.example'], maxAgeSeconds: 86_400 },
  ],
  [
    'no space, or tabs, around a value',
    'version:STSv1\nmode:\tnone\t\nmax_age:  5 \n',
    { mode: 'none', mx: [], maxAgeSeconds: 5 },
  ],
  [
    'an age beyond a year',
    'version: STSv1\nmode: none\nmax_age: 9999999999\n',
    { mode: 'none', mx: [], maxAgeSeconds: 31_557_600 },
  ],
  [
    'empty lines at its end',
    `${head}mx: a.example\r\n\r\n`,
    { mode: 'enforce', mx: ['a.example'], maxAgeSeconds: 86_400 },
  ],
  [
    'fields from elsewhere',
    `${head}mx: a.example\ncolour: grün and blue\n`,
    { mode: 'enforce', mx: ['a.example'], maxAgeSeconds: 86_400 },
  ],
  [
    'a field twice: the first counts',
    `${head}mode: none\nmx: a.example\n`,
    { mode: 'enforce', mx: ['a.example'], maxAgeSeconds: 86_400 },
  ],
]
for (const [what, text, policy] of good)
  test(`a policy may have ${what}`, () => assert.deepEqual(parsePolicy(text), policy))

const bad: [string, string][] = [
  ['is empty', ''],
  ['is a page', '<html><body>Not found</body></html>'],
  ['has no version', 'mode: none\nmax_age: 5\n'],
  ['has another version', 'version: STSv2\nmode: none\nmax_age: 5\n'],
  ['has no mode', 'version: STSv1\nmax_age: 5\n'],
  ['has another mode', 'version: STSv1\nmode: Enforce\nmax_age: 5\n'],
  ['has no age', 'version: STSv1\nmode: none\n'],
  ['has an age below zero', 'version: STSv1\nmode: none\nmax_age: -1\n'],
  ['has an age of eleven digits', 'version: STSv1\nmode: none\nmax_age: 12345678901\n'],
  ['allows nobody', head],
  ['has a star in the middle', `${head}mx: a.*.example\n`],
  ['has a star alone', `${head}mx: *\n`],
  ['has two stars', `${head}mx: *.*.example\n`],
  ['has part of a label', `${head}mx: mx*.example\n`],
  ['has an address with a port', `${head}mx: a.example:25\n`],
  ['has an empty line', `${head}\nmx: a.example\n`],
  ['has a line of spaces', `${head}   \nmx: a.example\n`],
  ['has a field without a value', `${head}mx:\n`],
  ['has a space before the colon', `${head}mx : a.example\n`],
  ['has control characters', `${head}mx: a.example\nx: a\u0000b\n`],
  ['has lines that end in CR', `${head.replaceAll('\n', '\r')}mx: a.example\r`],
  ['names more servers than anybody has', `${head}${'mx: a.example\n'.repeat(501)}`],
]
for (const [what, text] of bad) test(`a policy that ${what} is none`, () => assert.ok('problem' in parsePolicy(text)))

test('policies and records that are made to be slow are read at once', () => {
  const spaces = ' '.repeat(60_000)
  assert.ok('problem' in parsePolicy(`${head}mx: a.example\nx:${spaces}\u0001\n`))
  assert.ok(!('problem' in parsePolicy(`${head}mx: a.example${spaces}\n`)))
  assert.equal(policyIdOf([`v=STSv1; a${spaces}y; id=1`]), null)
})

const servers: [string, string, boolean][] = [
  ['mail.example.com', 'mail.example.com', true],
  ['mail.example.com', 'Mail.Example.com.', true],
  ['mail.example.com', 'x.mail.example.com', false],
  ['*.example.com', 'mail.example.com', true],
  ['*.example.com', 'example.com', false],
  ['*.example.com', 'a.mail.example.com', false],
  ['*.example.com', 'mail.example.com.evil.test', false],
  ['*.com', 'com', false],
]
for (const [mx, server, isAllowed] of servers)
  test(`${mx} ${isAllowed ? 'allows' : 'does not allow'} ${server}`, () =>
    assert.equal(allowsServer({ mx: [mx] }, server), isAllowed))
