// SPDX-License-Identifier: Apache-2.0
// Desk commands, run through the API's own routes with the agent's token: same checks, same errors.
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { performing } from '../../../platform/http/perform.ts'
import { callRoutes } from '../agent/call-routes.ts'
import { transferRoutes } from '../agent/transfer-routes.ts'
import type { AgentRow } from '../agents/store.ts'
import type { TransferRow } from '../contact/transfer-store.ts'
import { agentRoutes } from '../routes/agents.ts'
import type { DeskMessage } from './message.ts'

/** Default call of a desk command. */
export interface CommandContext {
  readonly agent: AgentRow
  readonly transfer: TransferRow | null
}

type Asked = Exclude<
  DeskMessage,
  {
    type:
      | 'ping'
      | 'colleagues'
      | 'webrtc.answer'
      | 'webrtc.candidate'
      | 'call.accept'
      | 'call.reject'
      | 'call.hangup'
      | 'call.mute'
  }
>

const verb = (operation: string) => {
  const route = [...agentRoutes, ...callRoutes, ...transferRoutes].find((one) => one.operation === operation)
  if (!route) throw new Error(`there is no ${operation}`)
  return performing(route)
}

const setStatus = verb('callcenter.setAgentStatus')
const changeCall = verb('callcenter.changeCall')
const startTransfer = verb('callcenter.transfer')
const decideTransfer = verb('callcenter.decideTransfer')

export async function runCommand(
  app: App,
  caller: Caller,
  { type, body }: Asked,
  work: CommandContext,
): Promise<unknown> {
  const { agent_id } = work.agent
  switch (type) {
    case 'status.set':
      return setStatus(app, caller, { body: { agent_id, ...body } })
    case 'call.hold':
      return changeCall(app, caller, { params: callOf(work), body: { hold: body.hold } })
    case 'call.dtmf':
      return changeCall(app, caller, { params: callOf(work), body: { send_dtmf: body.digits } })
    case 'wrap_up':
      return changeCall(app, caller, { params: callOf(work), body: { wrap_up: body } })
    case 'transfer.start':
      return startTransfer(app, caller, { body: { transfer_type: 'cold', ...body, ...callOf(work) } })
    case 'transfer.complete':
    case 'transfer.merge':
    case 'transfer.cancel': {
      const transfer_id = body.transfer_id ?? (work.transfer && idOf('transfer', work.transfer.id)) ?? ''
      return decideTransfer(app, caller, { params: { transfer_id }, body: { action: type.slice('transfer.'.length) } })
    }
  }
}

function callOf({ agent }: CommandContext): { call_id: string } {
  if (agent.call_id === null) throw new AppError('CALL_NOT_ACTIVE', 'there is no call')
  return { call_id: idOf('call', agent.call_id) }
}
