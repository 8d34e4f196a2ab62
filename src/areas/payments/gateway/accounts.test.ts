// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kinds } from '../carriers/kinds.ts'
import { identityOf } from './accounts.ts'

for (const kind of kinds) {
  const names = Object.keys({ ...kind.open, ...kind.secret, ...kind.outgoing.open, ...kind.outgoing.secret })
  const settings = Object.fromEntries(names.map((name) => [name, `${name} 1`]))

  test(`${kind.facts.provider}: an account is known by its names, and is the same with other keys`, () => {
    for (const name of names) {
      const isOther = identityOf(kind, { ...settings, [name]: 'other' }) !== identityOf(kind, settings)
      assert.equal(isOther, kind.identity.includes(name), name)
    }
    for (const name of kind.identity) assert.ok(names.includes(name), name)
  })
}
