// SPDX-License-Identifier: Apache-2.0
// Name server (RFC 1035) over UDP and TCP on one port, answering from its zone. Anything but a query gets no answer, so
// that it cannot be used to flood others.
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { type Answer, encodeAnswer, parseQuestion, type Question } from './wire.ts'

export type Zone = (question: Pick<Question, 'name' | 'type'>) => Promise<Answer>

const maxConnections = 100
const maxPending = 1_000
const tcpIdleMs = 5_000

export class DnsServer {
  readonly #zone: Zone
  readonly #udp: UdpSocket
  readonly #tcp: Server
  readonly #connections = new Set<Socket>()
  #pending = 0
  readonly port: number

  private constructor(zone: Zone, udp: UdpSocket, tcp: Server) {
    this.#zone = zone
    this.#udp = udp
    this.#tcp = tcp
    this.port = udp.address().port
    udp.on('message', (message, { port, address }) => {
      void this.#answer(message, null).then((bytes) => bytes && udp.send(bytes, port, address, () => undefined))
    })
    udp.on('error', () => undefined)
    tcp.on('connection', (socket) => this.#serve(socket))
  }

  /** Port 0 takes one that is free for both. */
  static async start(zone: Zone, { host, port }: { host: string; port: number }): Promise<DnsServer> {
    for (let tries = 0; ; tries++) {
      const tcp = createServer()
      tcp.maxConnections = maxConnections
      tcp.listen(port, host)
      await once(tcp, 'listening')
      const address = tcp.address()
      const taken = address !== null && typeof address === 'object' ? address.port : port
      const udp = createSocket(host.includes(':') ? 'udp6' : 'udp4')
      try {
        udp.bind(taken, host)
        await once(udp, 'listening')
        return new DnsServer(zone, udp, tcp)
      } catch (error) {
        udp.close()
        tcp.close()
        if (port !== 0 || tries >= 9) throw error
      }
    }
  }

  async stop(): Promise<void> {
    for (const socket of this.#connections) socket.destroy()
    await Promise.all([
      new Promise<void>((resolve) => this.#udp.close(() => resolve())),
      new Promise<void>((resolve) => this.#tcp.close(() => resolve())),
    ])
  }

  async #answer(message: Buffer, maxBytes: number | null): Promise<Buffer | null> {
    const question = parseQuestion(message)
    if (!question || this.#pending >= maxPending) return null
    this.#pending += 1
    try {
      const answer = await this.#zone(question).catch((): Answer => ({ code: 'failure', answers: [] }))
      return encodeAnswer(question, answer, maxBytes ?? question.udpBytes)
    } finally {
      this.#pending -= 1
    }
  }

  #serve(socket: Socket): void {
    this.#connections.add(socket)
    let input: Buffer = Buffer.alloc(0)
    socket.setTimeout(tcpIdleMs, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#connections.delete(socket))
    socket.on('data', (chunk: Buffer) => {
      input = Buffer.concat([input, chunk])
      if (input.length > 8_192) socket.destroy()
      while (input.length >= 2 && input.length >= 2 + input.readUInt16BE(0)) {
        const end = 2 + input.readUInt16BE(0)
        const message = input.subarray(2, end)
        input = input.subarray(end)
        void this.#answer(message, 65_535).then((bytes) => {
          if (!bytes || socket.destroyed) return void socket.destroy()
          const length = Buffer.alloc(2)
          length.writeUInt16BE(bytes.length)
          socket.write(Buffer.concat([length, bytes]))
        })
      }
    })
  }
}
