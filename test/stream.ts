// SPDX-License-Identifier: Apache-2.0
// A reader of server-sent events, as a customer would write one.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { eventually } from './eventually.ts'

interface StreamMessage {
  id: string
  event: string
  data: string
}

interface StreamOptions {
  key: string
  ca: string | null
  headers?: Readonly<Record<string, string>>
}

export class StreamReader {
  readonly response: IncomingMessage
  /** Resolves when the other side ends the stream, or cuts it. */
  readonly ended: Promise<unknown>
  readonly messages: StreamMessage[] = []
  /** The last id that was given, also without a message. */
  lastId = ''
  text = ''
  #rest = ''

  constructor(response: IncomingMessage) {
    this.response = response
    this.ended = once(response, 'close').catch(() => undefined)
    response.setEncoding('utf8')
    response.on('error', () => undefined)
    response.on('data', (chunk: string) => this.#take(chunk))
  }

  get status(): number {
    return this.response.statusCode ?? 0
  }

  get ids(): string[] {
    return this.messages.map(({ id }) => id)
  }

  /** Waits for a message. */
  has(id: string): Promise<StreamMessage> {
    return eventually(async () => this.messages.find((message) => message.id === id), `the event ${id} in the stream`)
  }

  close(): void {
    this.response.destroy()
  }

  #take(chunk: string): void {
    this.text += chunk
    const parts = (this.#rest + chunk).split('\n\n')
    this.#rest = parts.pop() ?? ''
    for (const part of parts) {
      const message: StreamMessage = { id: '', event: '', data: '' }
      for (const line of part.split('\n')) {
        const [, field, value = ''] = /^(id|event|data): (.*)$/.exec(line) ?? []
        if (field === 'id') this.lastId = value
        if (field === 'id' || field === 'event' || field === 'data') message[field] = value
      }
      if (message.data !== '') this.messages.push(message)
    }
  }
}

/** Opens a stream. Refusals have a status too; their body is in `text`. */
export function openStream(url: string, { key, ca, headers = {} }: StreamOptions): Promise<StreamReader> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent: false,
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...(ca ? { ca } : {}),
    })
    sent.on('response', (response) => resolve(new StreamReader(response)))
    sent.on('error', reject)
    sent.end()
  })
}
