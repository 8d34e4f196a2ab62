// SPDX-License-Identifier: Apache-2.0
// A customer in a hurry: any number of requests in one write on one connection that stands already, so that how many reach a
// node at once is not decided by how fast a client makes requests and connections.
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'

export interface Answered {
  status: number
  retryAfterSeconds: number | null
  /** Time at which the answer was here, by performance.now(). */
  atMs: number
}

export class Pipeline {
  readonly #socket: TLSSocket
  readonly #host: string
  readonly #key: string
  #unread = Buffer.alloc(0)

  private constructor(socket: TLSSocket, host: string, key: string) {
    this.#socket = socket
    this.#host = host
    this.#key = key
  }

  static async open(origin: string, ca: string, key: string): Promise<Pipeline> {
    const { hostname, port, host } = new URL(origin)
    const socket = connect({ host: hostname, port: Number(port), ca, servername: 'localhost' })
    await once(socket, 'secureConnect')
    return new Pipeline(socket, host, key)
  }

  /** Asks so many times at once; gives the answers in their order. */
  async ask(method: 'GET' | 'POST', path: string, times: number): Promise<Answered[]> {
    const body = method === 'POST' ? 'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}' : '\r\n'
    const one = `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\nauthorization: Bearer ${this.#key}\r\n${body}`
    const answers: Answered[] = []
    this.#socket.write(one.repeat(times))
    while (answers.length < times) {
      const [chunk]: Buffer[] = await once(this.#socket, 'data')
      this.#unread = Buffer.concat([this.#unread, chunk ?? Buffer.alloc(0)])
      answers.push(...this.#whole())
    }
    return answers
  }

  /** The answers that are there from their first byte to their last. */
  #whole(): Answered[] {
    const answers: Answered[] = []
    for (;;) {
      const end = this.#unread.indexOf('\r\n\r\n')
      if (end < 0) return answers
      const head = this.#unread.subarray(0, end).toString('latin1')
      const next = end + 4 + Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
      if (this.#unread.length < next) return answers
      this.#unread = this.#unread.subarray(next)
      const retryAfter = /^retry-after: (\d+)$/im.exec(head)?.[1]
      answers.push({
        status: Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)),
        retryAfterSeconds: retryAfter === undefined ? null : Number(retryAfter),
        atMs: performance.now(),
      })
    }
  }

  close(): void {
    this.#socket.destroy()
  }
}
