// SPDX-License-Identifier: Apache-2.0
// A message centre as a process of its own, which delivers at once. Says its port to its parent, and when asked which of
// the texts marked as watched reached a handset, and when.
import { SmscSimulator } from '../src/simulators/smsc.ts'

const [, , accounts = '{}', watched = ''] = process.argv
let arrivals: [string, number][] = []
const smsc = await SmscSimulator.start({
  accounts: JSON.parse(accounts),
  delayMs: 0,
  onMessage: ({ text }) => {
    if (watched !== '' && text.startsWith(watched)) arrivals.push([text, performance.timeOrigin + performance.now()])
  },
})
process.send?.({ port: smsc.port })
process.on('message', () => {
  process.send?.({ arrivals })
  arrivals = []
})
process.once('disconnect', () => process.exit(0))
