// SPDX-License-Identifier: Apache-2.0
// What a payment carrier gets from the house when it is tried on its own: the clock, and a door that leads to this machine.
import { systemClock } from '../src/platform/clock.ts'
import { hostLookup, Outbound } from '../src/platform/outbound.ts'

const policy = {
  production: false,
  allowPrivate: true,
  allowHttp: true,
  allowCidrs: ['127.0.0.0/8'],
  denyCidrs: [],
  extraCa: null,
  proxy: null,
}

export function carrierSurroundings(stops: (() => unknown)[]) {
  const http = new Outbound({ policy, lookup: hostLookup })
  stops.push(() => http.close())
  return { clock: systemClock, http }
}
