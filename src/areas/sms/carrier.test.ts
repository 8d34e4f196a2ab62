// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inOrder, type Route, routeFor } from './carrier.ts'

const base: Route = {
  id: 'any',
  environment: 'live',
  account: null,
  country: null,
  network: null,
  tiers: [[{ bind: 'a', weight: 1 }]],
  onUnknown: 'maybe_twice',
  rerouteOnUndelivered: false,
  refundUndelivered: false,
  whenDown: 'queue',
}
const here = { environment: 'live', account: 'ada', country: 'KE', network: 'Safaricom' } as const

test('the most exact route wins, wherever it stands in the list', () => {
  const routes: Route[] = [
    { ...base, id: 'account', account: 'ada' },
    { ...base, id: 'country', country: 'KE' },
    { ...base, id: 'network', country: 'KE', network: 'Safaricom' },
    base,
  ]
  for (const list of [routes, [...routes].reverse()]) {
    assert.equal(routeFor(list, here)?.id, 'account')
    assert.equal(routeFor(list, { ...here, account: 'eve' })?.id, 'network')
    assert.equal(routeFor(list, { ...here, account: 'eve', network: 'Airtel' })?.id, 'country')
    assert.equal(routeFor(list, { ...here, account: 'eve', country: 'UG' })?.id, 'any')
    assert.equal(routeFor(list, { ...here, environment: 'test' }), null)
  }
})

test('tiers are asked in order, and the binds of a tier share by weight', () => {
  const route: Route = {
    ...base,
    tiers: [
      [
        { bind: 'a', weight: 3 },
        { bind: 'b', weight: 1 },
      ],
      [{ bind: 'c', weight: 1 }],
    ],
  }
  const first = { a: 0, b: 0 }
  for (let i = 0; i < 400; i++) {
    const order = [...inOrder(route, () => (i + 0.5) / 400)]
    assert.equal(order.length, 3)
    assert.equal(order[2], 'c')
    if (order[0] === 'a' || order[0] === 'b') first[order[0]]++
  }
  assert.deepEqual(first, { a: 300, b: 100 })
})
