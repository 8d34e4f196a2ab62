// SPDX-License-Identifier: Apache-2.0
// DNS client (RFC 1035): asks one recursive resolver, over UDP from a port of its own for each question, and over TCP
// when the answer is too long for that. Unlike Node's, it tells whether the resolver vouches for the answer (the AD flag),
// which means something only where nobody can change packets between the two.
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { type AskedType, encodeQuery, parseResponse, type Response } from './response.ts'

const tryMs = 3_000
const tries = 2

export interface ResolverAddress {
  readonly host: string
  readonly port: number
}

export class DnsClient {
  readonly #resolver: ResolverAddress
  readonly #tryMs: number

  constructor(resolver: ResolverAddress, options: { tryMs?: number } = {}) {
    this.#resolver = resolver
    this.#tryMs = options.tryMs ?? tryMs
  }

  /** The resolver's response, or null when none came. */
  async ask(name: string, type: AskedType): Promise<Response | null> {
    for (let i = 0; i < tries; i++) {
      const response = await this.#overUdp(name, type)
      if (response?.isTruncated) return this.#overTcp(name, type)
      if (response) return response
    }
    return null
  }

  #overUdp(name: string, type: AskedType): Promise<Response | null> {
    const { host, port } = this.#resolver
    const id = randomInt(0x10000)
    return new Promise((resolve) => {
      const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
      const end = (response: Response | null): void => {
        clearTimeout(timer)
        socket.removeAllListeners()
        socket.on('error', () => undefined)
        socket.close()
        resolve(response)
      }
      const timer = setTimeout(() => end(null), this.#tryMs)
      socket.on('error', () => end(null))
      socket.on('message', (bytes) => {
        const response = answerTo(bytes, id, name, type)
        if (response) end(response)
      })
      // Connected, so that only the resolver is heard, and a closed port is noticed.
      // Without a route Node tells the callback, and emits no error.
      socket.connect(port, host, (problem?: Error) => {
        if (problem) end(null)
        else socket.send(encodeQuery(id, name, type))
      })
    })
  }

  #overTcp(name: string, type: AskedType): Promise<Response | null> {
    const id = randomInt(0x10000)
    return new Promise((resolve) => {
      let input: Buffer = Buffer.alloc(0)
      const socket = connect({ ...this.#resolver })
      const end = (response: Response | null): void => {
        clearTimeout(timer)
        socket.destroy()
        resolve(response)
      }
      const timer = setTimeout(() => end(null), this.#tryMs)
      socket.on('error', () => end(null))
      socket.on('close', () => end(null))
      socket.once('connect', () => {
        const query = encodeQuery(id, name, type)
        const length = Buffer.alloc(2)
        length.writeUInt16BE(query.length)
        socket.write(Buffer.concat([length, query]))
      })
      socket.on('data', (chunk: Buffer) => {
        // At most 65,537 bytes are kept: the length of the first message bounds what is waited for.
        input = Buffer.concat([input, chunk])
        if (input.length < 2 || input.length < 2 + input.readUInt16BE(0)) return
        const response = answerTo(input.subarray(2, 2 + input.readUInt16BE(0)), id, name, type)
        end(response?.isTruncated ? null : response)
      })
    })
  }
}

function answerTo(bytes: Buffer, id: number, name: string, type: AskedType): Response | null {
  const response = parseResponse(bytes)
  const isOurs = response?.id === id && response.name === name.toLowerCase() && response.type === type
  return response && isOurs ? response : null
}
