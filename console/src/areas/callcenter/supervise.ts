// SPDX-License-Identifier: Apache-2.0
// Supervision from the wallboard: listening, whispering, joining and taking over, heard at the supervisor's own desk.
import {
  callcenterGetMonitor,
  callcenterSetAgentStatus,
  callcenterStartMonitor,
  callcenterStopMonitor,
  callcenterSwitchMonitor,
  callcenterTransfer,
} from '#sdk/operations.ts'
import type { CallMonitor } from '#sdk/schemas.ts'
import { api, type Session } from '../../api.ts'
import { allowSound } from '../../kit/sound.ts'
import { go } from '../../place.tsx'
import { store } from '../../store.ts'
import { answering, desk, keptMonitor, startWork, whenReady } from './connection.ts'

export type Mode = CallMonitor['mode']

/** What the supervisor listens to. */
export const monitor = store<CallMonitor | null>(null)

/** Opens the supervisor's desk, without calls of queues, unless it is open. */
async function atDesk(session: Session): Promise<string> {
  allowSound()
  const { member } = session
  if (desk.get().link === 'closed') await startWork(member, 'meeting')
  await whenReady()
  return member.id
}

/** Listens to a call, or changes how. */
export async function supervise(session: Session, call_id: string, mode: Mode): Promise<void> {
  const before = monitor.get()
  if (before?.call_id === call_id) {
    monitor.set(await callcenterSwitchMonitor(api, { monitor_id: before.monitor_id, body: { mode } }))
    return
  }
  if (before) await stopListening()
  const supervisor_id = await atDesk(session)
  const begun = await answering(() => callcenterStartMonitor(api, { body: { call_id, mode, supervisor_id } }), true)
  monitor.set(begun)
  await whenReady(({ call }) => call.state === 'connected')
  monitor.set(await callcenterGetMonitor(api, { monitor_id: begun.monitor_id }))
}

export async function stopListening(): Promise<void> {
  const before = monitor.get()
  monitor.set(null)
  if (before) await callcenterStopMonitor(api, { monitor_id: before.monitor_id })
  await whenReady(({ call }) => call.state === 'none')
}

/** Takes a call over: the agent leaves as soon as the supervisor's desk has it. */
export async function takeOver(session: Session, call_id: string): Promise<void> {
  if (monitor.get()) await stopListening()
  const destination = await atDesk(session)
  await callcenterSetAgentStatus(api, { body: { agent_id: destination, status: 'available' } })
  try {
    await answering(() => callcenterTransfer(api, { body: { call_id, transfer_type: 'cold', destination } }))
  } catch (error) {
    // Calls of queues are not for a supervisor whose takeover was refused.
    await callcenterSetAgentStatus(api, { body: { agent_id: destination, status: 'meeting' } })
    throw error
  }
  go('/desk')
}

/** A call that is over is listened to no more. */
let wasInCall = false
desk.listen(({ call }) => {
  const isOver = wasInCall && call.state === 'none'
  wasInCall = call.state !== 'none'
  if (isOver && monitor.get()?.status === 'active') monitor.set(null)
})

/** A page that was loaded anew listens on. */
monitor.listen((now) => {
  if (now) sessionStorage.setItem(keptMonitor, now.monitor_id)
  else sessionStorage.removeItem(keptMonitor)
})
const before = sessionStorage.getItem(keptMonitor)
if (before !== null)
  callcenterGetMonitor(api, { monitor_id: before }).then(
    (now) => (now.status === 'ended' ? sessionStorage.removeItem(keptMonitor) : monitor.set(now)),
    () => undefined,
  )
