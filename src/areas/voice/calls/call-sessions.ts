// SPDX-License-Identifier: Apache-2.0
// Calls that belong to a node, and their recovery when it died: they end, are charged until it was last seen, and the other side
// is told.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { type SessionKind, sessionsOf } from '../../../platform/nodes/live-sessions.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { One } from '../../../platform/tenant.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { salvageRecordings } from '../recordings/salvage.ts'
import { type CallRow, findCall, findDialog, takeCall } from '../store.ts'
import { telephoneNetworkOf } from '../trunks/telephone-network.ts'
import { CallRecord } from './call-record.ts'

export const callSessions: SessionKind = {
  name: 'call',
  async orphaned(app: App, session: One, lastSeen: Date): Promise<void> {
    const row = await maybe(app.db.query(findCall, session))
    if (!row) return
    // The call had ended, and its recordings were being stored.
    if (row.ended_at !== null) return salvageRecordings(app, session)
    const offset = await clockOffsetOf(app, session.account, session.environment)
    // End time: the node's last heartbeat, by the account's clock.
    const lostMs = app.clock.nowMs() - lastSeen.getTime()
    const record = new CallRecord(app, row, offset - lostMs)
    await record.recall()
    await record.cover(record.nowMs)
    const isAnswered = row.status === 'answered'
    record.end({ status: isAnswered ? 'completed' : 'failed', cause: 'network_error', by: 'system' })
    await record.settled()
    // The session stays, and the next round retries.
    if (record.isLost) throw new Error('the end of a call could not be stored')
    await salvageRecordings(app, session)
    const { dialog = null } = (await maybe(app.db.query(findDialog, session))) ?? {}
    if (isAnswered && dialog) telephoneNetworkOf(app).hangUp(dialog)
    app.log.warn(
      { call: idOf('call', row.id), account: tenantOf(row).account },
      'call ended because its node died: the caller was disconnected; check why the node stopped',
    )
  },
}

/** Calls that this node is taking: the row tells nodes apart, and not the job that places a call from who ends it. */
const takings = onePerApp(() => new Map<string, Promise<unknown>>())

/** `isAgain`: one that this node has taken before, and not begun, may be had too. */
type Taking = One & { readonly isAgain: boolean }

/**
 * Makes a queued call this node's and begins or ends it; null when it cannot be had. A node that dies with it leaves a
 * session, by which the others find and end it.
 */
export async function takeHere<T>(app: App, call: Taking, use: (row: CallRow) => T | Promise<T>): Promise<T | null> {
  const here = takings(app)
  while (here.has(call.id)) await here.get(call.id)
  if (telephoneNetworkOf(app).sessions.has(call.id)) return null
  const taking = taken(app, call, use)
  const over = taking.catch(() => undefined).finally(() => here.delete(call.id))
  here.set(call.id, over)
  return taking
}

async function taken<T>(
  app: App,
  { isAgain, ...call }: Taking,
  use: (row: CallRow) => T | Promise<T>,
): Promise<T | null> {
  const row = await app.db.tx(call, async (tx) => {
    const row = await maybe(tx.query(takeCall, { ...call, node: app.nodeId, isAgain }))
    if (row) await sessionsOf(app).register(tx, callSessions, call)
    return row
  })
  return row && use(row)
}

/** Legs of a conference are calls and recovered as such. */
export const conferenceSessions: SessionKind = { name: 'conference', orphaned: salvageRecordings }
