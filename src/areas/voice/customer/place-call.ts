// SPDX-License-Identifier: Apache-2.0
// Job that places an accepted call, on the accepting node or, if that died, on another. A call is placed at most once;
// one taken and then lost ends as failed.
import { Type } from 'typebox'
import type { App } from '../../../platform/app.ts'
import type { Job } from '../../../platform/work.ts'
import { CallRecord } from '../calls/call-record.ts'
import { takeHere } from '../calls/call-sessions.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { CallSession } from '../live/session.ts'
import { telephoneNetworkOf } from '../trunks/telephone-network.ts'

const Payload = Type.Object({ call: Type.String() })

export const placeJob: Job<App, typeof Payload> = {
  lane: 'voice.place',
  role: 'carriers',
  payload: Payload,
  concurrency: 200,
  retrySeconds: [1, 5, 15],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a call belongs to an account')
    const network = telephoneNetworkOf(app)
    // Without media capacity, or while this node stops, the job waits and is retried, here or on another node.
    if (!network.isOpen || network.isDraining || !network.media.admits) return { kind: 'again', afterMs: 500 }
    const offset = await clockOffsetOf(app, tenant.account, tenant.environment)
    const session = await takeHere(app, { ...tenant, id: payload.call, isAgain: true }, (row) => {
      const begun = new CallSession(network, new CallRecord(app, row, offset))
      begun.begin()
      return begun
    })
    if (!session) return { kind: 'done' }
    const { environment, to_number } = session.record.row
    await session.place(network.waysTo(environment, to_number))
    return { kind: 'done' }
  },
}
