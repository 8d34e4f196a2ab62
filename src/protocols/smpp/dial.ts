// SPDX-License-Identifier: Apache-2.0
// The connection to a message centre, plain or with TLS, and why there is none, in words that an operator can act upon.
import { isIP, connect as plainConnect, type Socket } from 'node:net'
import { type SecureContext, connect as tlsConnect } from 'node:tls'
import { SessionError } from './link.ts'

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

const unknownAuthority = 'its certificate is of no authority that is trusted here'
const notTls = 'the other side does not speak TLS'

const reasons: ReadonlyMap<string, string> = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', unknownAuthority],
  ['SELF_SIGNED_CERT_IN_CHAIN', unknownAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT', unknownAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', unknownAuthority],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', unknownAuthority],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', notTls],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', notTls],
])

/** With what the library says, where that adds something. */
function reasonOf(error: Error): string {
  const reason = 'code' in error && typeof error.code === 'string' ? reasons.get(error.code) : undefined
  if (reason === undefined || reason === notTls) return reason ?? error.message
  return `${reason} (${error.message})`
}
