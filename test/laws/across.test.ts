// SPDX-License-Identifier: Apache-2.0
// Transactions that may be in several databases: each file that begins one says what it spans, and what is so while one of them is
// away. Whatever else is written is of one account, or of none.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sourceFiles } from './sources.ts'

const rules: Readonly<Record<string, string>> = {
  'src/platform/api/route.ts':
    'Routes made by writeAcross: the verbs of operators, and of keys and members, whose rows are at home beside their account’s audit log. 503 while the database of the account is away.',
  'src/platform/nodes/maintenance.ts':
    'Partitions, one transaction for each database, fenced by the lease at home. The others go on while one is away.',
  'src/platform/operator/any-account.ts':
    'The audit entries of an operator who read an account: in the operator’s account and in that one. Nothing is shown unless both are written.',
  'src/platform/operator/troubles.ts':
    'A mail to the operator, in the database of the operator’s account. Tried again.',
  'src/areas/accounts/credentials.ts': 'A key that was exposed is revoked at home, and its account is told.',
  'src/areas/accounts/first-account.ts':
    'The first account: its row and keys at home, its wallet and audit log where its bucket lives.',
  'src/areas/accounts/members/oidc.ts': 'A sign-in: session at home, audit entry in the account.',
  'src/areas/accounts/members/passkeys.ts': 'Passkeys and sessions at home, audit entry in the account.',
  'src/areas/accounts/members/reset.ts':
    'A new password and ended sessions at home, the mail and audit entry in the account.',
  'src/areas/accounts/members/sign-in.ts': 'A session at home, audit entry in the account.',
  'src/areas/accounts/members/totp.ts': 'A second factor at home, audit entry in the account.',
  'src/areas/accounts/reminders.ts':
    'Keys at home are marked as reminded of with an event in each account. None is marked while one of the databases is away: tried again in an hour.',
  'src/areas/email/domains/check.ts':
    'A verified domain: one row at home decides whose it is, the account has its status and event.',
  'src/areas/operator/price-file.ts': 'Prices at home, audit entry in the operator’s account.',
  'src/areas/payments/collect/accept-batch.ts':
    'Payments of several accounts of one database that were asked for together. Gathered by database, so that one that is away fails none of another.',
  'src/areas/payments/reconciliation/import.ts':
    'The lines of a provider’s statement in the database of the house, and the audit entry of the operator.',
  'src/areas/payments/reconciliation/match.ts':
    'Lines of the house against payments, payouts and refunds of all databases: each is asked for those that lines may mean, and gets the receipts of its own. Not done while one is away: tried again.',
  'src/areas/sandbox/clock.ts': 'The clock of a test account at home, what it moves in the account.',
  'src/areas/sms/inbound/join.ts': 'A text that came, for its owner and for those who listen.',
  'src/areas/sms/inbound/take.ts':
    'A text that came, for its owner and for those who listen, each in a database of its own. The carrier repeats it while one is away.',
}

test('a file that begins transactions over several databases says what they span', () => {
  const found = sourceFiles(['src']).filter(
    (file) =>
      !file.endsWith('.test.ts') &&
      !file.startsWith('src/platform/db') &&
      /\.acrossTx\(/.test(readFileSync(file, 'utf8')),
  )
  assert.deepEqual(
    found.sort(),
    Object.keys(rules).sort(),
    'say in test/laws/across.test.ts what it spans, or use db.tx',
  )
})
