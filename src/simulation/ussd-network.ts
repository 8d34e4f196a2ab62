// SPDX-License-Identifier: Apache-2.0
// A USSD network on a free port of this machine, in which test sessions take place. Its password is made anew at every start.
import { randomBytes } from 'node:crypto'
import { ussdNetwork } from '../areas/ussd/network/sandbox.ts'
import { UssdNetworkSimulator } from '../simulators/ussd-network.ts'
import { host, starter } from './starter.ts'

export const simulatedUssdNetwork = starter(ussdNetwork, async () => {
  // Short, because SMPP allows no more than eight characters.
  const password = randomBytes(4).toString('hex')
  const systemId = 'ussd'
  const simulator = await UssdNetworkSimulator.start({ host, systemId, password })
  return {
    gives: {
      host,
      port: simulator.port,
      systemId,
      password,
      dial: (phone, dialled) => simulator.dial(phone, dialled),
      input: (phone, text) => simulator.input(phone, text),
      cancel: (phone) => simulator.cancel(phone),
      screen: (phone, withinMs) => simulator.screen(phone, withinMs),
    },
    address: `smpp://${host}:${simulator.port}`,
    stop: () => simulator.stop(),
  }
})
