// SPDX-License-Identifier: Apache-2.0
// The connection to a message centre, plain or with TLS.
import { isIP, connect as plainConnect, type Socket } from 'node:net'
import { type SecureContext, connect as tlsConnect } from 'node:tls'
import { SessionError } from './link.ts'
import { reasonOf } from './reasons.ts'

interface Target {
  host: string
  port: number
  tls?: SecureContext | null
  responseTimeoutMs: number
}

/** Rejects with a SessionError of kind connect. A certificate must be that of the host. */
export function dial({ host, port, tls = null, responseTimeoutMs }: Target): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = tls === null ? plainConnect({ host, port }) : secure(host, port, tls)
    socket.setNoDelay(true)
    let isConnected = false
    const fail = (message: string, cause?: unknown): void => {
      clearTimeout(timer)
      socket.destroy()
      const what = isConnected ? 'TLS with' : 'connect to'
      reject(new SessionError('connect', `${what} ${host}:${port}: ${message}`, { sent: false, cause }))
    }
    const timer = setTimeout(() => fail(`no answer within ${responseTimeoutMs} ms`), responseTimeoutMs)
    const refused = (error: Error): void => fail(reasonOf(error), error)
    socket.once('error', refused)
    socket.once('connect', () => {
      isConnected = true
    })
    socket.once(tls === null ? 'connect' : 'secureConnect', () => {
      clearTimeout(timer)
      socket.off('error', refused)
      resolve(socket)
    })
  })
}

function secure(host: string, port: number, secureContext: SecureContext): Socket {
  // An address is no name that a server could choose its certificate by.
  const servername = isIP(host) === 0 ? host.replace(/\.$/, '') : ''
  return tlsConnect({ host, port, secureContext, servername })
}
