// SPDX-License-Identifier: Apache-2.0
// Texts on the websocket of a call, both ways: JSON beside the binary audio.

export type SocketCommand = { action: 'clear' } | { action: 'notify'; payload: unknown } | { problem: string }

export type SocketNotice =
  | { event: 'websocket:dtmf'; digit: string }
  | { event: 'websocket:cleared' }
  | { event: 'websocket:notify'; payload: unknown }
  /** Audio that a bound pushed out: of the `call` when the socket is not read, of the `websocket` when it sent too much. */
  | { event: 'websocket:dropped'; from: 'call' | 'websocket'; milliseconds: number }
  | { event: 'websocket:error'; reason: string }
  | { event: 'websocket:disconnected' }

const maxTextBytes = 8_192

/** Command of a customer's program. */
export function readSocketCommand(text: string): SocketCommand {
  if (text.length > maxTextBytes) return { problem: `a text has at most ${maxTextBytes} characters` }
  const given = parsed(text)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { problem: notJson }
  const action = 'action' in given ? given.action : undefined
  if (action === 'clear') return { action }
  if (action !== 'notify') return { problem: 'action must be one of clear, notify' }
  return { action, payload: 'payload' in given ? given.payload : null }
}

const notJson = 'a text must be a JSON object; audio is sent as binary messages'

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
