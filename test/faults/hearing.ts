// SPDX-License-Identifier: Apache-2.0
// A customer's server that hears of every note of some accounts, and what it must have heard whatever was killed.
import type { ServerResponse } from 'node:http'
import { type Receiver, startReceiver } from '../receiver.ts'
import type { Account, Installation } from './harness.ts'
import type { Write } from './load.ts'

const path = '/heard'

export class Hearing {
  readonly receiver: Receiver
  /** Events whose request ended before it was answered. */
  readonly cut = new Set<string>()
  /** Answers kept back; null while they are given at once. */
  #held: ServerResponse[] | null = null

  private constructor(receiver: Receiver) {
    this.receiver = receiver
    receiver.answer(({ headers }, response) => {
      response.once('close', () => {
        if (!response.writableFinished) this.cut.add(String(headers['x-service-event-id']))
      })
      if (this.#held) this.#held.push(response)
      else response.end('ok')
    })
  }

  static async start(): Promise<Hearing> {
    return new Hearing(await startReceiver())
  }

  /** Registers this server for the notes of an account; gives the webhook's id. */
  async subscribe(installation: Installation, { key }: Account): Promise<string> {
    const [node = 0] = installation.runningNodes()
    const { status, body, text } = await installation
      .client(node, key)
      .post('/v1/webhooks', { url: this.receiver.url(path), events: ['note.published'] })
    if (status !== 201) throw new Error(`the webhook was not registered: ${text}`)
    return body.id
  }

  /** Takes requests and answers none from now on. */
  hold(): void {
    this.#held ??= []
  }

  get held(): number {
    return this.#held?.length ?? 0
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = null
    for (const response of held) response.end('ok')
  }

  /** Events with how often each was heard, and of which note it tells. */
  events(): Map<string, { note: string; times: number }> {
    const events = new Map<string, { note: string; times: number }>()
    for (const { body, headers } of this.receiver.received) {
      const id = String(headers['x-service-event-id'])
      const known = events.get(id)
      if (known) known.times++
      else events.set(id, { note: JSON.parse(body).note_id, times: 1 })
    }
    return events
  }

  /** Acknowledged notes that it has not heard of, or heard of as two events. */
  missed(writes: readonly Write[]): string[] {
    const heard = new Map<string, number>()
    for (const { note } of this.events().values()) heard.set(note, (heard.get(note) ?? 0) + 1)
    return writes
      .filter(({ noteId }) => noteId !== null && heard.get(noteId) !== 1)
      .map(({ key, noteId }) => `${key} ${noteId}: ${heard.get(noteId ?? '') ?? 0} events`)
  }

  stop(): Promise<void> {
    this.release()
    return this.receiver.stop()
  }
}

/** Deliveries that are not over. */
export async function unfinished(installation: Installation): Promise<string[]> {
  const rows = await installation.sql<{ id: string; status: string }>(
    `select id, status from webhooks.deliveries where status in ('pending', 'delivering')
     union all select id, key from work.jobs where lane = 'webhooks.deliver' and key = 'callback'`,
  )
  return rows.map(({ id, status }) => `${id} ${status}`)
}
