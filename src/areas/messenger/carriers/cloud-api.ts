// SPDX-License-Identifier: Apache-2.0
// Carrier of a Cloud API provider. It knows the wire format and maps replies to a few outcomes; all requests use the
// platform's outbound HTTP.
import { randomBytes } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { type ProviderAnswer, ProviderClient } from '../../../platform/outbound/provider-http.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import {
  type GraphMessage,
  graphMessageBody,
  graphProduct,
  graphVersion,
  readGraphAnswer,
  readGraphError,
} from '../../../protocols/graph.ts'
import { membersOf, textOf } from '../../../protocols/json.ts'
import { type Outcome, verdictOf } from './cloud-errors.ts'

/** Channel settings the carrier needs. */
interface Account {
  readonly baseUrl: string
  readonly phoneNumberId: string
  readonly businessId: string
  readonly token: string
  readonly verifyToken: string
}

interface FileToUpload {
  readonly type: string
  readonly name: string
  readonly bytes: number
  read(): AsyncIterable<Buffer>
}

interface FoundMedia {
  readonly type: string
  readonly bytes: AsyncIterable<Buffer>
}

interface ProviderTemplate {
  readonly id: string
  readonly status: string
  readonly reason: string | null
}

/** Why a provider did not accept a template; `refused`: a retry would not help. */
interface TemplateProblem {
  readonly problem: string
  readonly refused: boolean
}

const timeoutMs = 15_000
/** Slowest upload rate allowed for, in bytes per millisecond. */
const bytesPerMs = 50

export const providerOf = onePerApp((app) => new CloudApi(app))

class CloudApi {
  readonly #app: App
  readonly #client: ProviderClient

  constructor(app: App) {
    this.#app = app
    this.#client = new ProviderClient(app.carrierOutbound)
  }

  async send(account: Account, message: GraphMessage): Promise<Outcome> {
    const answer = await this.#post(account, `${account.phoneNumberId}/messages`, graphMessageBody(message))
    if (answer.kind === 'unsent') return { kind: 'retry', reason: answer.reason, throttled: false }
    if (answer.kind === 'unknown') return { kind: 'unknown', reason: answer.reason }
    const read = readGraphAnswer(answer.status, answer.body)
    if (read.kind === 'sent') return { kind: 'sent', providerId: read.id }
    if (read.kind === 'strange')
      return { kind: 'retry', reason: `the provider answered with ${answer.status}`, throttled: false }
    return verdictOf(read.error)
  }

  /** Uploads a file; returns the provider's id, or the failure. */
  async upload(account: Account, file: FileToUpload): Promise<{ id: string } | Outcome> {
    const boundary = randomBytes(16).toString('hex')
    const name = file.name.replace(/[^\w. -]/g, '_')
    const before = Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="messaging_product"\r\n\r\n${graphProduct}\r\n` +
        `--${boundary}\r\ncontent-disposition: form-data; name="type"\r\n\r\n${file.type}\r\n` +
        `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n` +
        `content-type: ${file.type}\r\n\r\n`,
    )
    const after = Buffer.from(`\r\n--${boundary}--\r\n`)
    async function* parts(): AsyncGenerator<Buffer> {
      yield before
      yield* file.read()
      yield after
    }
    const length = before.length + file.bytes + after.length
    const outcome = await this.#app.carrierOutbound.send({
      pool: 'messenger media',
      url: `${account.baseUrl}/${graphVersion}/${account.phoneNumberId}/media`,
      method: 'POST',
      headers: {
        authorization: `Bearer ${account.token}`,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': String(length),
      },
      body: parts(),
      use: 'callback',
      environment: 'live',
      timeoutMs: timeoutMs + length / bytesPerMs,
      connections: 8,
    })
    if (outcome.kind === 'failed') return { kind: 'retry', reason: outcome.reason, throttled: false }
    const body = parsed(outcome.body)
    const id = textOf(membersOf(body).id)
    if (outcome.status === 200 && id !== '') return { id }
    const error = readGraphError(membersOf(body).error)
    if (error) return verdictOf(error)
    return { kind: 'retry', reason: `the provider answered the file with ${outcome.status}`, throttled: false }
  }

  /** Downloads a user's file. Null when the provider has none; throws when the request fails. */
  async fetchMedia(account: Account, id: string): Promise<FoundMedia | null> {
    const answer = await this.#get(account, encodeURIComponent(id))
    if (answer.kind !== 'answered') throw new Error(`the provider could not be asked for media: ${answer.reason}`)
    if (answer.status >= 500) throw new Error(`the provider answered with ${answer.status}`)
    const { url, mime_type } = membersOf(answer.body)
    if (answer.status !== 200 || textOf(url) === '') return null
    const outcome = await this.#app.carrierOutbound.send({
      pool: 'messenger media',
      url: textOf(url),
      method: 'GET',
      headers: { authorization: `Bearer ${account.token}` },
      body: null,
      use: 'callback',
      environment: 'live',
      timeoutMs,
      isStreamed: true,
      connections: 8,
    })
    if (outcome.kind === 'failed') throw new Error(`media could not be fetched: ${outcome.reason}`)
    if (outcome.bytes === null) return null
    return { type: textOf(mime_type).split(';', 1)[0] ?? '', bytes: outcome.bytes }
  }

  async createTemplate(
    account: Account,
    template: { name: string; language: string; category: string; components: readonly unknown[] },
  ): Promise<{ id: string } | TemplateProblem> {
    const answer = await this.#post(account, `${account.businessId}/message_templates`, template)
    const id = answer.kind === 'answered' ? textOf(membersOf(answer.body).id) : ''
    const problem = templateProblem(answer)
    if (problem) return problem
    return id === '' ? { problem: 'it gave the template no id', refused: false } : { id }
  }

  /** Resubmits a changed template; null when accepted. */
  async changeTemplate(account: Account, id: string, components: readonly unknown[]): Promise<TemplateProblem | null> {
    return templateProblem(await this.#post(account, encodeURIComponent(id), { components }))
  }

  async deleteTemplate(account: Account, id: string, name: string): Promise<TemplateProblem | null> {
    const query = new URLSearchParams({ hsm_id: id, name })
    const path = `${account.businessId}/message_templates?${query}`
    return templateProblem(await this.#client.ask({ method: 'DELETE', ...this.#to(account, path), timeoutMs }))
  }

  async listTemplates(account: Account): Promise<readonly ProviderTemplate[]> {
    const answer = await this.#get(
      account,
      `${account.businessId}/message_templates?fields=id,status,rejected_reason&limit=500`,
    )
    if (answer.kind !== 'answered' || answer.status !== 200) return []
    const { data } = membersOf(answer.body)
    return (Array.isArray(data) ? data : []).map((one: unknown) => {
      const { id, status, rejected_reason } = membersOf(one)
      const reason = textOf(rejected_reason)
      return { id: textOf(id), status: textOf(status), reason: reason === '' || reason === 'NONE' ? null : reason }
    })
  }

  /** Marks a message as read; false when refused. */
  async markRead(account: Account, providerId: string, typing: boolean): Promise<boolean> {
    const answer = await this.#post(account, `${account.phoneNumberId}/messages`, {
      messaging_product: graphProduct,
      status: 'read',
      message_id: providerId,
      ...(typing ? { typing_indicator: { type: 'text' } } : {}),
    })
    return answer.kind === 'answered' && answer.status === 200
  }

  /** Subscribes our webhook URL; returns the problem or null. */
  async subscribe(account: Account, url: string): Promise<string | null> {
    const answer = await this.#post(account, `${account.businessId}/subscribed_apps`, {
      override_callback_uri: url,
      verify_token: account.verifyToken,
    })
    if (answer.kind !== 'answered') return `the provider cannot be reached: ${answer.reason}`
    if (answer.status === 200) return null
    return `the provider did not take the webhook: ${readGraphError(membersOf(answer.body).error)?.details ?? answer.status}`
  }

  #post(account: Account, path: string, body: object): Promise<ProviderAnswer> {
    return this.#client.ask({ method: 'POST', ...this.#to(account, path), body, timeoutMs })
  }

  #get(account: Account, path: string): Promise<ProviderAnswer> {
    return this.#client.ask({ method: 'GET', ...this.#to(account, path), timeoutMs })
  }

  #to({ baseUrl, token }: Account, path: string): { url: string; headers: Record<string, string> } {
    return { url: `${baseUrl}/${graphVersion}/${path}`, headers: { authorization: `Bearer ${token}` } }
  }
}

function templateProblem(answer: ProviderAnswer): TemplateProblem | null {
  if (answer.kind !== 'answered') return { problem: answer.reason, refused: false }
  if (answer.status === 200) return null
  const found = readGraphError(membersOf(answer.body).error)
  return { problem: found?.details ?? `it answered with ${answer.status}`, refused: answer.status < 500 }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
