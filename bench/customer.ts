// SPDX-License-Identifier: Apache-2.0
// A customer who is called back over plain HTTP and only counts: by us with POST and the event, by Kannel with GET. It shares
// the machine with what is measured, so it reads no more of a request than where it ends and what it is about.
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

export interface Customer {
  url: string
  /** Different messages that it heard were delivered. */
  readonly delivered: number
  /** Called whenever it has heard of one more. */
  onDelivered(heard: () => void): void
  reset(): void
  stop(): Promise<void>
}

const answer = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok')

/** Kannel's call that the message centre has taken a message, as our `sent`. */
const takenByCentre = 'GET /told?told=8&'

export async function startCustomer(): Promise<Customer> {
  let delivered = new Set<string>()
  let heard = (): void => undefined
  const sockets = new Set<Socket>()
  const note = (request: string): void => {
    const before = delivered.size
    if (request.startsWith(takenByCentre)) return
    if (request.startsWith('GET ')) delivered.add(request.slice(0, request.indexOf(' HTTP/')))
    else if (request.includes('"status":"delivered"')) delivered.add(deliveryOf(request))
    if (delivered.size > before) heard()
  }
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // One that is cut while it is answered is the caller's own business.
    socket.on('error', () => socket.destroy())
    // Latin-1 keeps one character per byte, so that lengths are those of Content-Length.
    socket.setEncoding('latin1')
    let received = ''
    socket.on('data', (chunk: string) => {
      received += chunk
      for (let end = endOfRequest(received); end !== -1; end = endOfRequest(received)) {
        note(received.slice(0, end))
        received = received.slice(end)
        socket.write(answer)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the customer has no port')
  return {
    url: `http://127.0.0.1:${address.port}/told`,
    get delivered() {
      return delivered.size
    },
    onDelivered(then) {
      heard = then
    },
    reset() {
      delivered = new Set()
    },
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** End of the first request in what was received, or -1. */
function endOfRequest(text: string): number {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return -1
  if (text.startsWith('GET ')) return head + 4
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
  const end = head + 4 + Number(length ?? 0)
  return text.length >= end ? end : -1
}

function deliveryOf(request: string): string {
  const id = /\r\nx-service-delivery-id: *([^\r]+)/i.exec(request)?.[1]
  if (id === undefined) throw new Error('a callback does not say which it is')
  return id
}
