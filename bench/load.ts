// SPDX-License-Identifier: Apache-2.0
// A load generator that costs as little as possible: raw sockets, ready-made requests, one in flight on each, and a
// parser that only looks for the status and the end of the body. It shares the machine with what it measures.
import { connect as connectPlain, type Socket } from 'node:net'
import { connect } from 'node:tls'
import { type Cpu, cpuMeter } from './cpu.ts'

export interface LoadOptions {
  port: number
  /** Certificate authority; null for plain HTTP. */
  ca: string | null
  connections: number
  durationMs: number
  /** Requests a second over all connections; as fast as possible when absent. */
  rate?: number
  /** The bytes of the next request. */
  next(): Buffer
  /** Whether a request may be sent now, where there is no rate; and whom to call when that may have changed. */
  mayGo?(): boolean
  onMayGo?(go: () => void): void
}

export interface LoadResult {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Replies by status; anything but 200 is worth a look. */
  statuses: Record<string, number>
  /** Of each request, by process. */
  cpu: Cpu
}

export async function load(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const sockets = await Promise.all(Array.from({ length: options.connections }, () => open(options)))
  const meter = cpuMeter()
  const startedAt = performance.now()
  const endsAt = startedAt + options.durationMs
  /** Connections that may not go on yet, the first of them first. */
  const held: (() => void)[] = []
  options.onMayGo?.(() => {
    if (options.mayGo?.() !== false) held.shift()?.()
  })
  // A timer may fire a moment early; what it finds too soon would be held for ever.
  const over = setTimeout(() => {
    for (const goOn of held.splice(0)) goOn()
  }, options.durationMs + 10)
  const intervalMs = options.rate ? (options.connections / options.rate) * 1000 : 0
  await Promise.all(sockets.map((socket, i) => drive(socket, (intervalMs * i) / sockets.length)))
  clearTimeout(over)
  const seconds = (performance.now() - startedAt) / 1000
  latencies.sort((a, b) => a - b)
  const percentile = (part: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0
  return {
    requests: latencies.length,
    perSecond: latencies.length / seconds,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    statuses,
    cpu: meter.per(latencies.length),
  }

  /** Sends on one connection until the time is over. With a rate, latency counts from when the request was due. */
  function drive(socket: Socket, offsetMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let dueAt = startedAt + offsetMs
      let sentAt = 0
      let received = ''
      socket.on('error', reject)
      socket.on('data', (chunk: string) => {
        received = received === '' ? chunk : received + chunk
        const end = endOfReply(received)
        if (end === -1) return
        const status = received.slice(9, 12)
        statuses[status] = (statuses[status] ?? 0) + 1
        received = received.slice(end)
        latencies.push(performance.now() - sentAt)
        proceed()
      })
      if (intervalMs === 0) send()
      else proceed()

      function proceed(): void {
        const now = performance.now()
        const waitMs = dueAt - now
        if (now >= endsAt) {
          socket.destroy()
          resolve()
        } else if (intervalMs === 0 && options.mayGo?.() === false) held.push(proceed)
        else if (intervalMs === 0) send()
        else if (waitMs <= 0) send(dueAt)
        else setTimeout(() => send(dueAt), waitMs)
      }

      function send(due = performance.now()): void {
        dueAt = due + intervalMs
        // A timer may fire a moment early.
        sentAt = Math.min(due, performance.now())
        socket.write(options.next())
      }
    })
  }
}

export interface Answer {
  status: string
  body: string
  tookMs: number
}

/** Connections that requests take in turns, for a load that is made of conversations and not of single requests. */
export class Lines {
  readonly #sockets: readonly Socket[]
  readonly #free: Socket[]
  readonly #waiting: ((socket: Socket) => void)[] = []

  private constructor(sockets: readonly Socket[]) {
    this.#sockets = sockets
    this.#free = [...sockets]
  }

  static async open(options: Pick<LoadOptions, 'port' | 'ca' | 'connections'>): Promise<Lines> {
    return new Lines(await Promise.all(Array.from({ length: options.connections }, () => open(options))))
  }

  /** Sends a request and waits for the whole reply; the time counts from now, a wait for a free connection with it. */
  async ask(request: Buffer): Promise<Answer> {
    const beganMs = performance.now()
    // The one that waited longest: a server closes connections on which nothing comes.
    const socket = this.#free.shift() ?? (await new Promise<Socket>((resolve) => this.#waiting.push(resolve)))
    const text = await exchanged(socket, request)
    const next = this.#waiting.shift()
    if (next) next(socket)
    else this.#free.push(socket)
    const tookMs = performance.now() - beganMs
    return { status: text.slice(9, 12), body: text.slice(text.indexOf('\r\n\r\n') + 4), tookMs }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

function exchanged(socket: Socket, request: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const over = (): void => {
      socket.off('data', take)
      socket.off('error', reject)
    }
    const take = (chunk: string): void => {
      received += chunk
      if (endOfReply(received) === -1) return
      over()
      resolve(received)
    }
    socket.on('data', take)
    socket.once('error', reject)
    socket.write(request)
  })
}

/** End of the first reply in what was received, or -1. */
function endOfReply(text: string): number {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return -1
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1]
  const end = head + 4 + Number(length ?? 0)
  return text.length >= end ? end : -1
}

function open({ port, ca }: Pick<LoadOptions, 'port' | 'ca'>): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket =
      ca === null
        ? connectPlain({ port, host: '127.0.0.1' })
        : connect({ port, host: '127.0.0.1', servername: 'localhost', ca })
    socket.setNoDelay()
    // Latin-1 keeps one character per byte, so that lengths are those of Content-Length.
    socket.setEncoding('latin1')
    socket.once('error', reject)
    socket.once(ca === null ? 'connect' : 'secureConnect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

/** A POST as bytes. */
export function post(path: string, key: string, body: string, headers = ''): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
