// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import '../../areas.ts'
import { allows, isScope } from '../../platform/auth/scopes.ts'
import { type Role, roles, scopesOf } from './roles.ts'

test('every role has scopes that exist, and none of them operates the installation', () => {
  for (const role of roles)
    for (const environment of ['test', 'live'] as const) {
      const scopes = scopesOf(role, environment)
      assert.deepEqual(
        scopes.filter((scope) => !isScope(scope)),
        [],
        role,
      )
      assert.ok(!allows(new Set(scopes), 'operator'))
    }
})

const may = (role: Role, environment: 'test' | 'live', scope: string): boolean =>
  allows(new Set(scopesOf(role, environment)), scope)

test('a developer sends in both environments, and makes keys in test only', () => {
  assert.ok(may('developer', 'live', 'sms:write'))
  assert.ok(may('developer', 'test', 'keys:write'))
  assert.ok(may('developer', 'live', 'keys:read'))
  assert.ok(!may('developer', 'live', 'keys:write'))
  assert.ok(!may('developer', 'test', 'payouts:write'))
})

test('a viewer changes nothing, and a reviewer reviews', () => {
  for (const environment of ['test', 'live'] as const)
    assert.ok(scopesOf('viewer', environment).every((scope) => scope.endsWith(':read')))
  assert.ok(may('viewer', 'live', 'sms:read') && !may('viewer', 'live', 'keys:read'))
  assert.ok(may('reviewer', 'live', 'identity:review') && !may('developer', 'live', 'identity:review'))
  assert.ok(may('reviewer', 'live', 'identity:write') && !may('reviewer', 'live', 'sms:read'))
})

test('finance pays out and sends nothing', () => {
  assert.ok(may('finance', 'live', 'payouts:write'))
  assert.ok(!may('finance', 'test', 'sms:write'))
  assert.ok(!may('finance', 'test', 'keys:read'))
})

test('a supervisor tries calls in test, and an agent does not', () => {
  assert.ok(may('supervisor', 'test', 'sandbox:write') && !may('supervisor', 'live', 'sandbox:write'))
  assert.ok(!may('agent', 'test', 'sandbox:write'))
})

test('an agent texts callers and asks them for money, and does nothing else with either', () => {
  for (const role of ['agent', 'supervisor'] as const) {
    assert.ok(may(role, 'live', 'sms:send') && may(role, 'live', 'payments:request'))
    assert.ok(!may(role, 'live', 'sms:write') && !may(role, 'live', 'sms:read'))
    assert.ok(!may(role, 'live', 'payments:write') && !may(role, 'live', 'payments:read'))
  }
  assert.ok(may('finance', 'live', 'payments:request') && may('developer', 'live', 'sms:send'))
})
