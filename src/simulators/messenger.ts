// SPDX-License-Identifier: Apache-2.0
// A messenger provider on a real port, with the routes of its Cloud API: messages, media, templates and the subscription of a
// webhook. Its users do as the last digits of their number say. It keeps no file: of media that it is given it counts bytes.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import {
  type GraphError,
  graphErrorBody,
  graphNoticeBody,
  graphProduct,
  graphSignature,
  graphSignatureHeader,
} from '../protocols/graph.ts'
import { membersOf, textOf } from '../protocols/json.ts'
import { keepAliveMs } from './provider-server.ts'

export interface MessengerOptions {
  host: string
  token: string
  appSecret: string
  timeScale: number
  now(): number
  /** Certificate authority of the called addresses. */
  ca(): string | undefined
}

/** Message of a user, as the provider reports it. */
export interface UserMessage {
  phoneNumberId: string
  displayNumber: string
  /** Digits only. */
  from: string
  name: string
  type: string
  content: object
  /** The provider's id of the message that it answers. */
  context: string | null
}

interface StoredMedia {
  type: string
  bytes: number
  sha256: string
  /** URL of the bytes, when they are hosted elsewhere. */
  url: string | null
}

interface Template {
  id: string
  name: string
  language: string
  status: string
  reason: string
  components: readonly unknown[]
}

interface Subscription {
  url: string
}

const maxBodyBytes = 256 * 1024
const maxRemembered = 10_000
const callTries = 6
const downMs = 10_000

export class MessengerSimulator {
  readonly #options: MessengerOptions
  readonly #server: Server
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #media = new Map<string, StoredMedia>()
  readonly #templates = new Map<string, Template>()
  /** Number of a user -> how often it was tried, or when it was first. */
  readonly #tries = new Map<string, { count: number; firstMs: number }>()
  #isStopped = false

  private constructor(options: MessengerOptions) {
    this.#options = options
    this.#server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
      this.#answer(request, response).catch(() => response.destroy())
    })
  }

  static async start(options: MessengerOptions): Promise<MessengerSimulator> {
    const simulator = new MessengerSimulator(options)
    simulator.#server.listen(0, options.host)
    await once(simulator.#server, 'listening')
    return simulator
  }

  get url(): string {
    const address = this.#server.address()
    return `http://${this.#options.host}:${typeof address === 'object' && address ? address.port : 0}`
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Has a user write; fulfilled when the business has taken it. Gives the provider's id of the message, or null when it did not. */
  async write(businessId: string, message: UserMessage): Promise<string | null> {
    const id = newMessageId()
    const value = {
      messaging_product: graphProduct,
      metadata: { display_phone_number: message.displayNumber, phone_number_id: message.phoneNumberId },
      contacts: [{ profile: { name: message.name }, wa_id: message.from }],
      messages: [
        {
          from: message.from,
          id,
          timestamp: this.#seconds(),
          type: message.type,
          [message.type]: message.content,
          ...(message.context === null ? {} : { context: { from: message.displayNumber, id: message.context } }),
        },
      ],
    }
    return (await this.#notify(businessId, 'messages', value)) ? id : null
  }

  /** Media that a user sends: its bytes stay where they are. */
  hold(media: StoredMedia): string {
    const id = newMediaId()
    remember(this.#media, id, media)
    return id
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const [path = '', query = ''] = url.split('?')
    const [, version = '', object = '', edge = ''] = path.split('/')
    if (headers.authorization !== `Bearer ${this.#options.token}`)
      return refuse(response, 401, {
        code: 190,
        title: 'Invalid OAuth access token',
        details: 'the token is not known',
      })
    if (!/^v\d+\.\d$/.test(version)) return refuse(response, 404, unknownPath)
    if (method === 'POST' && edge === 'media') return this.#takeMedia(request, response)
    const body = method === 'POST' ? await bodyOf(request) : {}
    if (body === null)
      return refuse(response, 400, { code: 100, title: 'Invalid parameter', details: 'the body is no JSON object' })
    if (method === 'POST' && edge === 'messages') return this.#takeMessage(object, body, response)
    if (method === 'POST' && edge === 'subscribed_apps') return this.#subscribe(object, body, response)
    if (method === 'POST' && edge === 'message_templates') return this.#takeTemplate(object, body, response)
    if (method === 'DELETE' && edge === 'message_templates')
      return this.#forgetTemplate(object, new URLSearchParams(query).get('hsm_id') ?? '', response)
    if (method === 'POST' && edge === '') return this.#changeTemplate(object, body, response)
    if (method === 'GET' && edge === 'message_templates') return say(response, { data: this.#templatesOf(object) })
    if (method === 'GET' && edge === '') return this.#giveMedia(object, response)
    refuse(response, 404, unknownPath)
  }

  #takeMessage(phoneNumberId: string, body: Record<string, unknown>, response: ServerResponse): void {
    if (body.status === 'read') return say(response, { success: true })
    const to = textOf(body.to)
    const type = textOf(body.type)
    if (body.messaging_product !== graphProduct || !/^[1-9]\d{1,14}$/.test(to) || type === '')
      return refuse(response, 400, { code: 100, title: 'Invalid parameter', details: 'to, type or messaging_product' })
    const problem = this.#refusalOf(to, type, membersOf(body[type]))
    if (problem === 'down') return void response.writeHead(503).end()
    if (problem !== null) return refuse(response, problem.code === 130429 ? 429 : 400, problem)
    const id = newMessageId()
    say(response, {
      messaging_product: graphProduct,
      contacts: [{ input: to, wa_id: to }],
      messages: [{ id, message_status: 'accepted' }],
    })
    this.#live(phoneNumberId, to, id, body)
  }

  #refusalOf(to: string, type: string, content: Record<string, unknown>): GraphError | 'down' | null {
    const files = type === 'template' ? parameterFiles(content) : [textOf(content.id)]
    const hasFiles = ['image', 'video', 'audio', 'document', 'template'].includes(type)
    if (hasFiles && files.some((id) => id !== '' && !this.#media.has(id)))
      return { code: 131053, title: 'Media upload error', details: 'there is no media with this id' }
    const tried = this.#tries.get(to) ?? { count: 0, firstMs: this.#options.now() }
    remember(this.#tries, to, { ...tried, count: tried.count + 1 })
    switch (scenarioOf(to)) {
      case '03':
        return { code: 131026, title: 'Message undeliverable', details: 'The recipient is not a user: no account' }
      case '04':
        return { code: 131050, title: 'User has stopped marketing messages', details: 'the user opted out' }
      case '05':
        return tried.count < 2
          ? { code: 130429, title: 'Rate limit hit', details: 'too many messages from this number' }
          : null
      case '10':
        return this.#options.now() - tried.firstMs < downMs * this.#options.timeScale ? 'down' : null
      default:
        return null
    }
  }

  /** Play the life of an accepted message. */
  #live(phoneNumberId: string, to: string, id: string, body: Record<string, unknown>): void {
    const scenario = scenarioOf(to)
    const opaque = textOf(body.biz_opaque_callback_data)
    // In order: `read` is reported only once `delivered` was acknowledged.
    let told: Promise<void> = Promise.resolve()
    const tell = (afterMs: number, status: string, errors: readonly GraphError[] = []): void =>
      this.#later(afterMs, () => {
        told = told.then(() => this.#tellStatus(phoneNumberId, { id, to, status, opaque, errors }))
      })
    tell(100, 'sent')
    if (scenario === '02')
      return tell(1_000, 'failed', [
        { code: 131026, title: 'Message undeliverable', details: 'the phone is not reachable' },
      ])
    if (scenario === '07') {
      tell(1_000, 'read')
      return tell(2_000, 'delivered')
    }
    tell(1_000, 'delivered')
    if (scenario !== '06') tell(2_000, 'read')
    if (scenario === '08') this.#later(3_000, () => void this.#reply(phoneNumberId, to, 'text', { body: 'Hello' }, id))
    if (scenario === '09') {
      const pressed = pressFirst(textOf(body.type), body)
      if (pressed) this.#later(3_000, () => void this.#reply(phoneNumberId, to, pressed.type, pressed.content, id))
    }
  }

  #reply(phoneNumberId: string, from: string, type: string, content: object, context: string): Promise<string | null> {
    const business = businessOf(phoneNumberId)
    const message = { phoneNumberId, displayNumber: '254700000000', from, name: 'Amina', type, content, context }
    return this.write(business, message)
  }

  async #tellStatus(
    phoneNumberId: string,
    told: { id: string; to: string; status: string; opaque: string; errors: readonly GraphError[] },
  ): Promise<void> {
    const { id, to, status, opaque, errors } = told
    const value = {
      messaging_product: graphProduct,
      metadata: { display_phone_number: '254700000000', phone_number_id: phoneNumberId },
      statuses: [
        {
          id,
          status,
          timestamp: this.#seconds(),
          recipient_id: to,
          biz_opaque_callback_data: opaque,
          ...(errors.length === 0
            ? {}
            : {
                errors: errors.map(({ code, title, details }) => ({
                  code,
                  title,
                  message: title,
                  error_data: { details },
                })),
              }),
        },
      ],
    }
    await this.#notify(businessOf(phoneNumberId), 'messages', value)
  }

  async #takeMedia(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const hash = createHash('sha256')
    let bytes = 0
    let head = Buffer.alloc(0)
    for await (const chunk of request) {
      const piece = Buffer.from(chunk)
      if (head.length < 2048) head = Buffer.concat([head, piece])
      hash.update(piece)
      bytes += piece.length
    }
    if (!/^multipart\/form-data/.test(request.headers['content-type'] ?? '') || bytes === 0)
      return refuse(response, 400, { code: 131053, title: 'Media upload error', details: 'there is no file' })
    const type = /name="file"[\s\S]*?content-type: ([\w./+-]+)/i.exec(head.toString('latin1'))?.[1] ?? ''
    const id = newMediaId()
    remember(this.#media, id, { type, bytes, sha256: hash.digest('hex'), url: null })
    say(response, { id })
  }

  #giveMedia(id: string, response: ServerResponse): void {
    const media = this.#media.get(id)
    if (!media) return refuse(response, 404, { code: 100, title: 'Unsupported get request', details: 'no such media' })
    const { type: mime_type, sha256, bytes: file_size, url } = media
    say(response, { messaging_product: graphProduct, url, mime_type, sha256, file_size, id })
  }

  /** Asks the webhook for the challenge before anything is told there. */
  async #subscribe(businessId: string, body: Record<string, unknown>, response: ServerResponse): Promise<void> {
    const url = textOf(body.override_callback_uri)
    const challenge = String(1_000_000_000 + Math.floor(Math.random() * 1_000_000_000))
    const query = new URLSearchParams({
      'hub.mode': 'subscribe',
      'hub.verify_token': textOf(body.verify_token),
      'hub.challenge': challenge,
    })
    const answer = URL.canParse(url) ? await this.#call('GET', `${url}?${query}`, null, {}) : null
    if (answer?.status !== 200 || answer.body !== challenge)
      return refuse(response, 400, {
        code: 2200,
        title: 'Callback verification failed',
        details: 'no challenge came back',
      })
    remember(this.#subscriptions, businessId, { url })
    say(response, { success: true })
  }

  #takeTemplate(businessId: string, body: Record<string, unknown>, response: ServerResponse): void {
    const [name, language] = [textOf(body.name), textOf(body.language)]
    const id = newMediaId()
    const verdict = name.endsWith('_pending') ? 'PENDING' : name.endsWith('_reject') ? 'REJECTED' : 'APPROVED'
    const reason = verdict === 'REJECTED' ? 'INVALID_FORMAT' : 'NONE'
    const components = Array.isArray(body.components) ? body.components : []
    const template = { id, name, language, status: verdict, reason, components }
    remember(this.#templates, `${businessId} ${id}`, template)
    say(response, { id, status: 'PENDING', category: textOf(body.category) })
    this.#decide(businessId, template)
  }

  #decide(businessId: string, { id, name, language, status, reason }: Template): void {
    if (status === 'PENDING') return
    const told = { event: status, message_template_id: id, message_template_name: name, reason }
    const value = { ...told, message_template_language: language }
    this.#later(1_000, () => void this.#notify(businessId, 'message_template_status_update', value))
  }

  /** A template that is changed is decided on anew. */
  #changeTemplate(id: string, body: Record<string, unknown>, response: ServerResponse): void {
    const [key, template] = [...this.#templates].find(([, one]) => one.id === id) ?? []
    if (key === undefined || !template || !Array.isArray(body.components))
      return refuse(response, 400, { code: 100, title: 'Invalid parameter', details: 'no such template' })
    remember(this.#templates, key, { ...template, components: body.components })
    say(response, { success: true })
    const [businessId = ''] = key.split(' ')
    this.#decide(businessId, template)
  }

  #forgetTemplate(businessId: string, id: string, response: ServerResponse): void {
    if (!this.#templates.delete(`${businessId} ${id}`))
      return refuse(response, 404, { code: 100, title: 'Invalid parameter', details: 'no such template' })
    say(response, { success: true })
  }

  #templatesOf(businessId: string): object[] {
    return [...this.#templates]
      .filter(([key]) => key.startsWith(`${businessId} `))
      .map(([, { reason: rejected_reason, ...template }]) => ({ ...template, rejected_reason }))
  }

  /** Report with retries for a while, as providers do; false when it was not acknowledged. */
  async #notify(businessId: string, field: string, value: object): Promise<boolean> {
    const subscription = this.#subscriptions.get(businessId) ?? this.#subscriptions.get('*')
    if (!subscription) return false
    const body = graphNoticeBody(businessId, field, value)
    const headers = {
      'content-type': 'application/json',
      [graphSignatureHeader]: graphSignature(this.#options.appSecret, body),
    }
    for (let tries = 1; !this.#isStopped; tries++) {
      const answer = await this.#call('POST', subscription.url, body, headers)
      if (answer !== null && answer.status >= 200 && answer.status < 300) return true
      if (tries === callTries) return false
      await new Promise<void>((resolve) => this.#later(1_000 * tries, resolve))
    }
    return false
  }

  #call(
    method: 'GET' | 'POST',
    url: string,
    body: string | null,
    headers: Record<string, string>,
  ): Promise<{ status: number; body: string } | null> {
    const ca = this.#options.ca()
    return new Promise((resolve) => {
      const call = httpsRequest(url, { method, headers, timeout: 5_000, ...(ca === undefined ? {} : { ca }) })
      call.on('response', (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (piece: string) => {
          if (text.length < 4_096) text += piece
        })
        answer.once('close', () => resolve({ status: answer.statusCode ?? 0, body: text }))
      })
      call.on('timeout', () => call.destroy())
      call.on('error', () => resolve(null))
      call.end(body ?? undefined)
    })
  }

  #later(ms: number, what: () => void): void {
    if (this.#isStopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      what()
    }, ms * this.#options.timeScale)
    this.#timers.add(timer)
  }

  #seconds(): string {
    return String(Math.floor(this.#options.now() / 1000))
  }
}

const unknownPath: GraphError = { code: 2500, title: 'Unknown path components', details: 'there is no such route' }

/** Business of a number; each number has its own here. */
export function businessOf(phoneNumberId: string): string {
  return `business-${phoneNumberId}`
}

/** The two digits that say what a user does; others do the usual. */
function scenarioOf(to: string): string {
  return /0000(\d\d)$/.exec(to)?.[1] ?? ''
}

/** Ids of the media in the parameters of a template. */
function parameterFiles({ components }: Record<string, unknown>): string[] {
  const parameters = listIn(components).flatMap((component) => listIn(membersOf(component).parameters))
  return parameters.map((one) => textOf(membersOf(membersOf(one)[textOf(membersOf(one).type)]).id))
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function pressFirst(type: string, body: Record<string, unknown>): { type: string; content: object } | null {
  if (type !== 'interactive') return null
  const { type: kind, action } = membersOf(body.interactive)
  const { buttons, sections } = membersOf(action)
  if (kind === 'button' && Array.isArray(buttons)) {
    const { id, title } = membersOf(membersOf(buttons[0]).reply)
    return { type: 'interactive', content: { type: 'button_reply', button_reply: { id, title } } }
  }
  if (kind === 'list' && Array.isArray(sections)) {
    const { rows } = membersOf(sections[0])
    const { id, title, description } = membersOf(Array.isArray(rows) ? rows[0] : null)
    const picked = { id, title, ...(description === undefined ? {} : { description }) }
    return { type: 'interactive', content: { type: 'list_reply', list_reply: picked } }
  }
  return null
}

function newMessageId(): string {
  return `wamid.${randomBytes(24).toString('base64url')}`
}

function newMediaId(): string {
  return String(10 ** 14 + randomBytes(6).readUIntBE(0, 6))
}

/** Bounded: the oldest is forgotten first. */
function remember<T>(book: Map<string, T>, key: string, value: T): void {
  book.delete(key)
  book.set(key, value)
  const [oldest] = book.size > maxRemembered ? book.keys() : []
  if (oldest !== undefined) book.delete(oldest)
}

function say(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refuse(response: ServerResponse, status: number, error: GraphError): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(graphErrorBody(error)))
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown> | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const piece = Buffer.from(chunk)
    size += piece.length
    if (size > maxBodyBytes) return null
    chunks.push(piece)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString())
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}
