// SPDX-License-Identifier: Apache-2.0
// A messenger provider on a real port, with the routes of its Cloud API: messages, media, templates and the subscription of a
// webhook. Its users do as the last digits of their number say. Beside the platform, clients of test accounts can use it, each
// with a number of its own.
import { createHash, createHmac, randomBytes } from 'node:crypto'
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
  simulatedBusinessOf,
} from '../protocols/graph.ts'
import { membersOf, textOf } from '../protocols/json.ts'
import { readUpload, type StoredMedia } from './messenger-media.ts'
import { messageProblem, parameterFiles, pressFirst } from './messenger-messages.ts'
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

interface Template {
  id: string
  name: string
  language: string
  status: string
  reason: string
  components: readonly unknown[]
}

/** Keys of a client that is not the platform. */
export interface OwnAccount {
  token: string
  appSecret: string
  phoneNumberId: string
  businessId: string
}

interface Caller {
  /** Number of a client that is not the platform; null for the platform, which has all others. */
  phoneNumberId: string | null
  owns(object: string): boolean
}

interface Subscription {
  url: string
}

const maxBodyBytes = 256 * 1024
const maxRemembered = 10_000
const callTries = 6
const downMs = 10_000
/** Uploaded files whose bytes are kept. */
const maxKeptFiles = 50

export class MessengerSimulator {
  readonly #options: MessengerOptions
  readonly #server: Server
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #media = new Map<string, StoredMedia>()
  readonly #templates = new Map<string, Template>()
  /** Numbers of clients that are not the platform, from their first call on. */
  readonly #owners = new Map<string, true>()
  readonly #profiles = new Map<string, Readonly<Record<string, unknown>>>()
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

  /** Account of a client that is not the platform: keys, and a number that only they can use. */
  own(name: string): OwnAccount {
    const phoneNumberId = `9${BigInt(`0x${this.#derived('number', name).slice(0, 12)}`)}`.padEnd(16, '0')
    return {
      token: `own-${phoneNumberId}-${this.#derived('token', phoneNumberId)}`,
      appSecret: this.#derived('app secret', phoneNumberId),
      phoneNumberId,
      businessId: simulatedBusinessOf(phoneNumberId),
    }
  }

  #derived(what: string, from: string): string {
    return createHmac('sha256', this.#options.appSecret).update(`${what} ${from}`).digest('hex').slice(0, 32)
  }

  #isOwn(phoneNumberId: string): boolean {
    return this.#owners.has(phoneNumberId)
  }

  #appSecretOf(businessId: string): string {
    const phoneNumberId = businessId.replace(/^business-/, '')
    return this.#isOwn(phoneNumberId) ? this.#derived('app secret', phoneNumberId) : this.#options.appSecret
  }

  #callerOf(authorization = ''): Caller | null {
    if (authorization === `Bearer ${this.#options.token}`) return { phoneNumberId: null, owns: () => true }
    const [, phoneNumberId, mac] = /^Bearer own-(\d+)-([0-9a-f]{32})$/.exec(authorization) ?? []
    if (phoneNumberId === undefined || mac !== this.#derived('token', phoneNumberId)) return null
    remember(this.#owners, phoneNumberId, true)
    return { phoneNumberId, owns: (id) => id === phoneNumberId || id === simulatedBusinessOf(phoneNumberId) }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const [path = '', query = ''] = url.split('?')
    const [, version = '', object = '', edge = ''] = path.split('/')
    const caller = this.#callerOf(headers.authorization)
    if (caller === null)
      return refuse(response, 401, {
        code: 190,
        title: 'Invalid OAuth access token',
        details: 'the token is not known',
      })
    if (version === 'files' && method === 'GET') return this.#giveFile(object, response)
    if (!/^v\d+\.\d$/.test(version)) return refuse(response, 404, unknownPath)
    if (edge !== '' && !caller.owns(object))
      return refuse(response, 400, { code: 100, title: 'Invalid parameter', details: `${object} is not yours` })
    if (method === 'POST' && edge === 'media') return this.#takeMedia(request, response)
    const body = method === 'POST' ? await bodyOf(request) : {}
    if (body === null)
      return refuse(response, 400, { code: 100, title: 'Invalid parameter', details: 'the body is no JSON object' })
    if (method === 'POST' && edge === 'messages') return this.#takeMessage(object, body, response)
    if (method === 'POST' && edge === 'subscribed_apps') return this.#subscribe(object, body, response)
    if (method === 'POST' && edge === 'message_templates') return this.#takeTemplate(object, body, response)
    if (method === 'DELETE' && edge === 'message_templates')
      return this.#forgetTemplates(object, new URLSearchParams(query), response)
    if (edge === 'subscribed_apps') return this.#subscription(method, object, response)
    if (edge === 'whatsapp_business_profile') return this.#profile(method, object, body, response)
    if (method === 'GET' && edge === 'phone_numbers')
      return say(response, { data: [numberOf(object.replace(/^business-/, ''))] })
    if (method === 'DELETE' && edge === '') return this.#forgetMedia(object, response)
    if (method === 'POST' && edge === '') return this.#changeTemplate(object, body, response)
    if (method === 'GET' && edge === 'message_templates') return say(response, { data: this.#templatesOf(object) })
    if (method === 'GET' && edge === '') return this.#give(object, caller, response)
    refuse(response, 404, unknownPath)
  }

  #takeMessage(phoneNumberId: string, body: Record<string, unknown>, response: ServerResponse): void {
    if (body.status === 'read') return say(response, { success: true })
    // A number may be written with + and what people put between digits.
    const to = textOf(body.to).replace(/[+() -]/g, '')
    const type = textOf(body.type) || 'text'
    const wrong = messageProblem(body, to, type)
    if (wrong !== null) return refuse(response, 400, { code: 100, title: 'Invalid parameter', details: wrong })
    if (
      type === 'template' &&
      this.#isOwn(phoneNumberId) &&
      !this.#hasTemplate(phoneNumberId, membersOf(body.template))
    )
      return refuse(response, 400, {
        code: 132001,
        title: 'Template name does not exist in the translation',
        details: 'there is no approved template with this name and language',
      })
    const problem = this.#refusalOf(to, type, membersOf(body[type]))
    if (problem === 'down') return void response.writeHead(503).end()
    if (problem !== null) return refuse(response, problem.code === 130429 ? 429 : 400, problem)
    const id = newMessageId()
    say(response, {
      messaging_product: graphProduct,
      contacts: [{ input: textOf(body.to), wa_id: to }],
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

  /** Plays the life of an accepted message. */
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
    const business = simulatedBusinessOf(phoneNumberId)
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
          ...(status === 'failed' ? {} : this.#billing(to, status)),
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
    await this.#notify(simulatedBusinessOf(phoneNumberId), 'messages', value)
  }

  async #takeMedia(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const media = await readUpload(request)
    if (media === null)
      return refuse(response, 400, { code: 131053, title: 'Media upload error', details: 'there is no file' })
    const id = newMediaId()
    remember(this.#media, id, { ...media, url: `${this.url}/files/${id}` })
    const [oldest] = [...this.#media].filter(([, one]) => one.content).slice(0, -maxKeptFiles)
    if (oldest) oldest[1].content = null
    say(response, { id })
  }

  /** Gives what an id names: a file, a template, or a number of the caller's. */
  #give(id: string, caller: Caller, response: ServerResponse): void {
    const media = this.#media.get(id)
    if (media) {
      const { type: mime_type, sha256, bytes: file_size, url } = media
      return say(response, { messaging_product: graphProduct, url, mime_type, sha256, file_size, id })
    }
    const template = [...this.#templates.values()].find((one) => one.id === id)
    if (template) return say(response, shownTemplate(template))
    if (id === caller.phoneNumberId) return say(response, numberOf(id))
    refuse(response, 404, { code: 100, title: 'Unsupported get request', details: 'no such media, template or number' })
  }

  #giveFile(id: string, response: ServerResponse): void {
    const media = this.#media.get(id)
    if (!media?.content)
      return refuse(response, 404, { code: 100, title: 'Unsupported get request', details: 'no such file' })
    response.writeHead(200, { 'content-type': media.type }).end(media.content)
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

  /** Forgets a template by its id, or all languages of a name. */
  #forgetTemplates(businessId: string, query: URLSearchParams, response: ServerResponse): void {
    const [id, name] = [query.get('hsm_id'), query.get('name')]
    const keys = [...this.#templates]
      .filter(([key, one]) => key.startsWith(`${businessId} `) && (id === null ? one.name === name : one.id === id))
      .map(([key]) => key)
    for (const key of keys) this.#templates.delete(key)
    if (keys.length > 0) return say(response, { success: true })
    refuse(response, 404, { code: 100, title: 'Invalid parameter', details: 'no such template' })
  }

  #forgetMedia(id: string, response: ServerResponse): void {
    if (this.#media.delete(id)) return say(response, { success: true })
    refuse(response, 404, { code: 100, title: 'Unsupported delete request', details: 'no such media' })
  }

  #hasTemplate(phoneNumberId: string, { name, language }: Record<string, unknown>): boolean {
    const code = textOf(membersOf(language).code)
    const own = [...this.#templates].filter(([key]) => key.startsWith(`${simulatedBusinessOf(phoneNumberId)} `))
    return own.some(([, one]) => one.name === name && one.language === code && one.status === 'APPROVED')
  }

  #subscription(method: string, businessId: string, response: ServerResponse): void {
    if (method === 'DELETE') this.#subscriptions.delete(businessId)
    if (method === 'DELETE') return say(response, { success: true })
    const url = this.#subscriptions.get(businessId)?.url
    const app = { id: '1', name: 'Sandbox', link: 'https://example.com' }
    say(response, {
      data: url === undefined ? [] : [{ whatsapp_business_api_data: app, override_callback_uri: url }],
    })
  }

  #profile(method: string, phoneNumberId: string, body: Record<string, unknown>, response: ServerResponse): void {
    if (method === 'POST') {
      const { messaging_product: _, ...profile } = body
      remember(this.#profiles, phoneNumberId, { ...this.#profiles.get(phoneNumberId), ...profile })
      return say(response, { success: true })
    }
    const profile = this.#profiles.get(phoneNumberId) ?? { about: 'Sandbox' }
    say(response, { data: [{ messaging_product: graphProduct, ...profile }] })
  }

  /** Conversation and price of a message, as statuses tell them. */
  #billing(to: string, status: string): object {
    const expires = String(Math.floor(this.#options.now() / 1000) + 86_400)
    const id = createHash('sha256').update(to).digest('hex').slice(0, 32)
    return {
      conversation: {
        id,
        ...(status === 'sent' ? { expiration_timestamp: expires } : {}),
        origin: { type: 'service' },
      },
      pricing: { billable: false, pricing_model: 'PMP', type: 'free_customer_service', category: 'service' },
    }
  }

  #templatesOf(businessId: string): object[] {
    return [...this.#templates]
      .filter(([key]) => key.startsWith(`${businessId} `))
      .map(([, template]) => shownTemplate(template))
  }

  /** Reports with retries for a while, as providers do; false when it was not acknowledged. */
  async #notify(businessId: string, field: string, value: object): Promise<boolean> {
    const subscription = this.#subscriptions.get(businessId) ?? this.#subscriptions.get('*')
    if (!subscription) return false
    const body = graphNoticeBody(businessId, field, value)
    const headers = {
      'content-type': 'application/json',
      [graphSignatureHeader]: graphSignature(this.#appSecretOf(businessId), body),
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

function shownTemplate({ reason: rejected_reason, ...template }: Template): object {
  return { ...template, rejected_reason }
}

function numberOf(id: string): object {
  return {
    id,
    display_phone_number: '+254 700 000000',
    verified_name: 'Sandbox',
    quality_rating: 'GREEN',
    code_verification_status: 'VERIFIED',
    platform_type: 'CLOUD_API',
  }
}

/** The two digits that say what a user does; others do the usual. */
function scenarioOf(to: string): string {
  return /0000(\d\d)$/.exec(to)?.[1] ?? ''
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
