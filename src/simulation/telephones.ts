// SPDX-License-Identifier: Apache-2.0
// A telephone network on a free port of this machine, which test calls go to and come from.
import { simulatedCarrier } from '../areas/voice/trunks/sandbox-carrier.ts'
import { TelephoneSimulator } from '../simulators/telephones.ts'
import { host, starter } from './starter.ts'

export const simulatedTelephones = starter(simulatedCarrier, async ({ clock, timeScale, onProblem }) => {
  const simulator = await TelephoneSimulator.start({ host, nowMs: () => clock.nowMs(), timeScale })
  return {
    gives: {
      host,
      port: simulator.port,
      call: (from, to, at, token) => void simulator.call(from, to, at, token).catch(onProblem),
      rename: (token, name) => simulator.rename(token, name),
      press: (call, digits) => simulator.press(call, digits),
      say: (call, samples, loop) => simulator.speak(call, samples, loop),
      hangup: (call) => simulator.hangup(call),
      answer: (call) => simulator.pickUp(call),
      heard: (call) => simulator.heard(call),
      attend: (number, attendant) => simulator.attend(number, attendant),
      join: (call, person) => simulator.join(call, person),
    },
    address: `sip:${host}:${simulator.port}`,
    stop: () => simulator.stop(),
  }
})
