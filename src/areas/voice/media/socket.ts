// SPDX-License-Identifier: Apache-2.0
// Opens the websocket of a customer, in the thread of its room: connects to the address that was checked, asks for the
// upgrade and gives the leg. Redirects are not followed.

import { connectTo } from '../../../platform/outbound/dial.ts'
import { maxMessageBytes, SocketLeg, type SocketLegOptions } from '../../../protocols/media/socket-leg.ts'
import type { SocketCall } from './command.ts'

/** Time for the connection, and again for the upgrade. */
const connectMs = 5_000

export async function openSocket(
  { destination, uri, rate, headers, hello }: SocketCall,
  options: Pick<SocketLegOptions, 'nowMs' | 'pingEveryMs' | 'closed'>,
): Promise<SocketLeg> {
  // Loaded with the first websocket: most calls have none.
  const { WebSocket } = await import('ws')
  const line = await connectTo(destination, connectMs)
  const socket = new WebSocket(uri, {
    createConnection: () => line,
    headers,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    // The leg answers pings, so that they are counted and nothing waits for a program that does not read.
    autoPong: false,
    // One message a turn, so that a flood of small ones delays nobody's audio.
    allowSynchronousEvents: false,
  })
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`The server did not answer the upgrade within ${connectMs / 1_000} seconds.`))
      socket.terminate()
    }, connectMs)
    socket.once('open', () => {
      clearTimeout(timer)
      resolve(new SocketLeg(socket, { ...options, rate, hello }))
    })
    socket.on('unexpected-response', (_request, { statusCode }) => {
      clearTimeout(timer)
      line.destroy()
      reject(new Error(`The server answered with status ${statusCode} instead of the upgrade.`))
    })
    socket.on('error', ({ message }) => {
      clearTimeout(timer)
      reject(new Error(`The upgrade failed: ${message}.`))
    })
  })
}
