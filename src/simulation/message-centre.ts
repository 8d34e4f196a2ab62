// SPDX-License-Identifier: Apache-2.0
// A message centre on a free port of this machine, which takes test messages. Its password is made anew at every start.
import { randomBytes } from 'node:crypto'
import { messageCentre } from '../areas/sms/sandbox/message-centre.ts'
import { SmscSimulator } from '../simulators/smsc.ts'
import { host, starter } from './starter.ts'

/** Account for trying out how a carrier is connected: the centre is reachable from this machine only. */
const forOperators = { carrier: 'carrier' }

export const simulatedMessageCentre = starter(messageCentre, async ({ clock, journalOf, onProblem }) => {
  // Short, because SMPP allows no more than eight characters.
  const password = randomBytes(4).toString('hex')
  const simulator = await SmscSimulator.start({
    host,
    accounts: { 'sandbox-1': password, 'sandbox-2': password, ...forOperators },
    now: () => clock.nowMs(),
    journalFile: journalOf('message-centre'),
    onProblem,
  })
  return {
    gives: {
      host,
      port: simulator.port,
      password,
      inbound: (from, to, text) => simulator.inbound(from, to, text),
      recover: (account, stillOut) => simulator.recover(account, stillOut),
      waitsFor: (account) => simulator.waitsFor(account),
      moveClock: (account, offsetMs) => simulator.moveClock(account, offsetMs),
    },
    address: `smpp://${host}:${simulator.port}`,
    stop: () => simulator.stop(),
  }
})
