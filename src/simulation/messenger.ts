// SPDX-License-Identifier: Apache-2.0
// A messenger provider on a free port of this machine. Its secrets are made anew at every start.
import { randomBytes } from 'node:crypto'
import { simulatedMessenger as simulator } from '../areas/messenger/carriers/sandbox.ts'
import { MessengerSimulator } from '../simulators/messenger.ts'
import { starter } from './starter.ts'

export const simulatedMessenger = starter(simulator, async ({ clock, sharedHost: host, timeScale, ca }) => {
  const secret = (): string => randomBytes(16).toString('hex')
  const [token, appSecret, verifyToken] = [secret(), secret(), secret()]
  const running = await MessengerSimulator.start({
    host,
    token,
    appSecret,
    timeScale,
    now: () => clock.nowMs(),
    ca: () => ca,
  })
  return {
    gives: {
      url: running.url,
      token,
      appSecret,
      verifyToken,
      own: (name) => running.own(name),
      write: (businessId, message) => running.write(businessId, message),
      hold: (media) => running.hold(media),
    },
    address: running.url,
    stop: () => running.stop(),
  }
})
