// SPDX-License-Identifier: Apache-2.0
// PDUs in the timeline of a message: in hex, with the text masked where only the recipient may read it.
import type { Frame } from '../../../platform/timeline.ts'
import { type DeliverSm, encode, type ShortMessage, type SubmitSm } from '../../../protocols/smpp/pdu.ts'
import type { SubmitAnswer } from '../../../protocols/smpp/session.ts'
import { statusName } from '../../../protocols/smpp/status.ts'

const star = 0x2a

export function submitFrame(
  bind: string,
  pdu: SubmitSm,
  answer: SubmitAnswer | { problem: string },
  durationMs: number,
  isMasked: boolean,
): Frame {
  const isAnswered = 'status' in answer
  const sequence = isAnswered ? (answer.sequence ?? 0) : 0
  const common = { kind: 'smpp', direction: 'out', title: 'submit_sm', peer: bind, durationMs } as const
  const request = hexOf(encode({ command: 'submit_sm', status: 0, sequence, body: shown(pdu, isMasked) }))
  if (!isAnswered) return { ...common, request, status: answer.problem, isOk: false, answer: null }
  const { status, messageId } = answer
  const said = hexOf(encode({ command: 'submit_sm_resp', status, sequence, body: { messageId } }))
  return { ...common, request, status: statusName(status), isOk: status === 0, answer: said }
}

/** Frame of a receipt, or of a text from a handset: then `state` is null. */
export function deliverFrame(
  bind: string,
  pdu: DeliverSm,
  sequence: number,
  state: string | null,
  isOk: boolean | null,
  isMasked: boolean,
): Frame {
  const request = hexOf(encode({ command: 'deliver_sm', status: 0, sequence, body: shown(pdu, isMasked) }))
  const answer = hexOf(encode({ command: 'deliver_sm_resp', status: 0, sequence, body: { messageId: '' } }))
  return {
    kind: 'smpp',
    direction: 'in',
    title: 'deliver_sm',
    peer: bind,
    status: state,
    isOk,
    durationMs: null,
    request,
    answer,
  }
}

/** Masked, every octet of the text is a star: the length stays, the words go. Receipts quote the beginning of the text. */
function shown(pdu: ShortMessage, isMasked: boolean): ShortMessage {
  if (!isMasked) return pdu
  const { messagePayload } = pdu.tlvs
  const payload = messagePayload ? { messagePayload: Buffer.alloc(messagePayload.length, star) } : {}
  return {
    ...pdu,
    shortMessage: Buffer.alloc(pdu.shortMessage.length, star),
    tlvs: { ...pdu.tlvs, ...payload },
  }
}

function hexOf(octets: unknown): string | null {
  return Buffer.isBuffer(octets) ? octets.toString('hex') : null
}
