// SPDX-License-Identifier: Apache-2.0
// `npm start -- listen`: reads the account's deliveries from a stream and prints each, or posts it to a server on this
// machine, which has no public address. A broken stream is resumed where it broke; a delivery that was passed on is not
// repeated.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { type Config, ConfigError } from '../config.ts'
import { backoffMs } from '../kernel/backoff.ts'
import { StartError, UnreachableError } from '../kernel/start-error.ts'
import { trustedBy, writtenCredentials } from './credentials-file.ts'
import { plain } from './plain.ts'

const retrySeconds = [0.5, 1, 2, 5, 10]
/** Three heartbeats of the stream. */
const silenceMs = 45_000
const forwardTimeoutMs = 30_000
/** Ids of events that were handed on, to tell repeats after the line broke. */
const maxRemembered = 10_000
const maxMessageLength = 2 * 1024 * 1024
const maxErrorLength = 64 * 1024

interface ListenWishes {
  forwardTo: string | undefined
  events: string | undefined
  apiKey: string | undefined
}

interface Listening {
  url: string
  key: string
  ca: string | null
  /** Address that events are passed on to; null when they are only shown. */
  forwardTo: URL | null
  /** Whether events are shown to a person, in short, rather than whole. */
  isReadable: boolean
  /** Prints a line for an event. */
  say(line: string): void
  /** Prints anything else. */
  tell(sentence: string): void
}

/** Address and key to listen with: as asked, else as the platform wrote them when it started here. */
export async function listeningOf(
  config: Config,
  { forwardTo, events, apiKey }: ListenWishes,
): Promise<Omit<Listening, 'say' | 'tell' | 'isReadable'>> {
  const known = await writtenCredentials(config)
  const key = apiKey ?? known?.api_key
  if (!key) throw new ConfigError('No API key found: set --api-key or PAMOJA_API_KEY.')
  const base = config.PAMOJA_PUBLIC_URL ?? known?.base_url ?? `https://localhost:${config.PAMOJA_PORT}`
  const query = events === undefined ? '' : `?${new URLSearchParams({ events })}`
  return {
    url: `${base.replace(/\/$/, '')}/api/v1/webhooks/listen${query}`,
    key,
    ca: await trustedBy(known),
    forwardTo: forwardTo === undefined ? null : localUrl(forwardTo),
  }
}

function localUrl(text: string): URL {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new ConfigError(
      '--forward-to must be an http:// or https:// URL, such as --forward-to http://localhost:3000/hook.',
    )
  return new URL(text)
}

/** Hands on events until it is stopped. Throws a sentence when it cannot begin, or may not go on. */
export async function listen(listening: Listening, stop: AbortSignal): Promise<void> {
  const told = new Told()
  let failures = 0
  let hasBegun = false
  while (!stop.aborted) {
    const problem = await follow(listening, told, stop, () => {
      failures = 0
      if (hasBegun) listening.tell('Listening again.')
      else listening.tell(`Listening to ${new URL(listening.url).origin}; ${whereTo(listening)}.`)
      hasBegun = true
    })
    if (stop.aborted) return
    if (!hasBegun && problem.isFirst) throw new UnreachableError(problem.sentence)
    failures = Math.min(failures + 1, retrySeconds.length)
    const waitMs = Math.max(backoffMs(retrySeconds, failures, 0.2, Math.random()) ?? 0, problem.retryAfterMs)
    listening.tell(`${problem.sentence} Trying again in ${(waitMs / 1000).toFixed(1)} s.`)
    await pause(waitMs, undefined, { signal: stop }).catch(() => undefined)
  }
}

function whereTo({ forwardTo }: Listening): string {
  return forwardTo
    ? `events go to ${forwardTo.href}, signed with the callback secret (GET /v1/webhooks/callback-secret)`
    : 'events are shown here (--forward-to <url> posts them too)'
}

/** Reason why a connection ended; `isFirst`: a reason not to begin at all. */
interface Problem {
  sentence: string
  isFirst: boolean
  retryAfterMs: number
}

/** Deliveries passed on, and the position to resume from. */
class Told {
  readonly #ids = new Set<string>()
  /** Start of the first stream. */
  firstId: string | null = null
  lastId: string | null = null

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  add(id: string): void {
    this.#ids.add(id)
    if (this.#ids.size <= maxRemembered) return
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest)
      break
    }
  }
}

async function follow(listening: Listening, told: Told, stop: AbortSignal, begun: () => void): Promise<Problem> {
  const { url } = listening
  const isResumed = told.lastId !== null
  try {
    const response = await connect(listening, told.lastId, stop)
    if (response.statusCode !== 200) return await refusal(response, url)
    begun()
    for await (const message of messagesOf(response)) {
      told.firstId ??= message.id
      // A stream that is resumed begins a little earlier: with what was handed on, and with what came before it all.
      const isNews = !told.has(message.id) && !(isResumed && message.id < told.firstId)
      if (message.data !== '' && isNews) {
        await handOn(listening, message, stop)
        if (stop.aborted) break
        told.add(message.id)
      }
      told.lastId = message.id
    }
    return { sentence: 'The platform ended the stream.', isFirst: false, retryAfterMs: 0 }
  } catch (error) {
    if (error instanceof StartError) throw error
    const { origin } = new URL(url)
    const sentence = `${origin} cannot be reached (${reasonOf(error)}): check that the platform runs there.`
    return { sentence, isFirst: true, retryAfterMs: 0 }
  }
}

function connect({ url, key, ca }: Listening, lastId: string | null, stop: AbortSignal): Promise<IncomingMessage> {
  return new Promise((done, failed) => {
    const sent = httpsRequest(url, {
      agent: false,
      signal: stop,
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'text/event-stream',
        ...(lastId === null ? {} : { 'last-event-id': lastId }),
      },
      ...(ca === null ? {} : { ca }),
    })
    sent.setTimeout(silenceMs, () => sent.destroy(new Error('no data was received for too long')))
    sent.on('response', done)
    sent.on('error', failed)
    sent.end()
  })
}

/** Refusal by the platform instead of a stream. Errors that do not pass by themselves end the program. */
async function refusal(response: IncomingMessage, url: string): Promise<Problem> {
  let text = ''
  for await (const chunk of response) {
    text += chunk
    if (text.length > maxErrorLength) break
  }
  const status = response.statusCode ?? 0
  const sentence = `${new URL(url).origin} answered ${status}: ${detailsIn(text)}.`
  if (status !== 429 && status < 500) throw new StartError(sentence)
  const seconds = Number(response.headers['retry-after'])
  return { sentence, isFirst: false, retryAfterMs: Number.isFinite(seconds) ? Math.min(seconds, 60) * 1000 : 0 }
}

function detailsIn(text: string): string {
  try {
    const { error }: { error?: { code?: unknown; details?: unknown } } = JSON.parse(text)
    if (error?.code) return `${error.details} (${error.code})`
  } catch {
    // Not one of our answers; a proxy's, perhaps.
  }
  return 'the response is not from this platform'
}

interface StreamMessage {
  id: string
  event: string
  /** Data of the message; empty when it only says where the stream stands. */
  data: string
}

/** The messages of a stream of server-sent events. */
async function* messagesOf(response: IncomingMessage): AsyncGenerator<StreamMessage> {
  response.setEncoding('utf8')
  let rest = ''
  let message: StreamMessage = { id: '', event: '', data: '' }
  for await (const chunk of response) {
    rest += chunk
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (message.id !== '') yield message
        message = { id: '', event: '', data: '' }
        continue
      }
      const [, field = '', value = ''] = /^(\w*): ?(.*)$/s.exec(line) ?? []
      if (field === 'id') message.id = value
      else if (field === 'event') message.event = value
      else if (field === 'data') message.data += message.data === '' ? value : `\n${value}`
    }
    if (rest.length + message.data.length > maxMessageLength)
      throw new StartError('The stream contains a message that exceeds the maximum length.')
  }
}

async function handOn(listening: Listening, { id, event, data }: StreamMessage, stop: AbortSignal): Promise<void> {
  const { headers, body }: { headers: Record<string, string>; body: string } = JSON.parse(data)
  if (!listening.forwardTo)
    return listening.say(plain(listening.isReadable ? shortLine(event, body) : `${event}  ${id}  ${body}`))
  const startedAt = performance.now()
  const outcome = await post(listening.forwardTo, headers, body, stop).catch((error) => `failed: ${reasonOf(error)}`)
  if (stop.aborted) return
  const ms = Math.round(performance.now() - startedAt)
  listening.say(`${event}  ${id}  ${typeof outcome === 'number' ? `${outcome}  ${ms} ms` : outcome}`)
}

/** Fields that tell a person most, in this order. */
const telling = [
  'status',
  'from',
  'to',
  'phone',
  'amount',
  'currency',
  'subject',
  'message',
  'error_code',
  'failure_reason',
]

/** `09:15:30  sms.status  delivered  PAMOJA  +254711000001  sms_…`. */
function shortLine(event: string, body: string): string {
  const fields: Readonly<Record<string, unknown>> = Object(JSON.parse(body))
  const told = telling.map((name) => fields[name]).filter((value) => ['string', 'number'].includes(typeof value))
  const [, id = fields.event_id] =
    Object.entries(fields).find(([name]) => /_id$/.test(name) && name !== 'event_id') ?? []
  const time = String(fields.timestamp ?? '').slice(11, 19)
  return [time, event.padEnd(20), ...told, id].join('  ').trimEnd()
}

function post(url: URL, headers: Record<string, string>, body: string, stop: AbortSignal): Promise<number> {
  return new Promise((done, failed) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const sent = send(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      signal: AbortSignal.any([stop, AbortSignal.timeout(forwardTimeoutMs)]),
    })
    sent.on('response', (response) => {
      response.on('error', () => undefined)
      response.resume()
      done(response.statusCode ?? 0)
    })
    sent.on('error', failed)
    sent.end(body)
  })
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'no answer in time'
  // An attempt at several addresses fails without words of its own.
  return error.message || ('code' in error ? String(error.code) : error.name)
}
