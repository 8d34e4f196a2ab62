// SPDX-License-Identifier: Apache-2.0
// What journeys about USSD have in common: codes and phones of their own, a handset, and an application that says what it is
// told to.
import type { Client, Reply } from './client.ts'
import { eventually } from './eventually.ts'
import type { Receiver } from './receiver.ts'

let codes = 1_000
/** A shortcode that no other test of the process registers. */
export function newCode(): string {
  codes += 1
  return `*${codes}#`
}

let phones = 254_711_100_000
/** A phone that does nothing by itself. */
export function newPhone(): string {
  phones += 1
  return `+${phones}`
}

export function dial(client: Client, shortcode: string, phone = newPhone()): Promise<Reply> {
  return client.post('/v1/sandbox/ussd/dial', { phone, shortcode })
}

export function type(client: Client, session_id: string, input: string): Promise<Reply> {
  return client.post('/v1/sandbox/ussd/input', { session_id, input })
}

/** The session once it is over. */
export function ended(client: Client, session_id: string) {
  return eventually(async () => {
    const { body } = await client.get(`/v1/ussd/sessions/${session_id}`)
    return body.ended_at !== null && body.ended_at !== undefined && body
  }, `the end of ${session_id}`)
}

type Speak = (asked: Record<string, unknown>) => unknown

/** An application at a path of the receiver: gives a text, its bytes in ISO-8859-1, an object for JSON, or null to say nothing at all. */
export function application(receiver: Receiver, speaks: Readonly<Record<string, Speak>>): void {
  receiver.answer((request, response) => {
    const speak = speaks[request.url]
    if (!speak) return void response.end('ok')
    const isJson = request.headers['content-type'] === 'application/json'
    const said = speak(isJson ? JSON.parse(request.body) : Object.fromEntries(new URLSearchParams(request.body)))
    if (said === null) return
    if (typeof said === 'string') return void response.end(said)
    if (Buffer.isBuffer(said)) {
      response.setHeader('content-type', 'text/plain; charset=ISO-8859-1')
      return void response.end(said)
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(said))
  })
}
