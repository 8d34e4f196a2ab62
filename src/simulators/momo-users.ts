// SPDX-License-Identifier: Apache-2.0
// API users that a client of the MoMo sandbox makes for itself, each with keys of its own, under a subscription key of either
// product.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type Asked, say } from './provider-server.ts'

const maxUsers = 10_000
const usersPath = '/v1_0/apiuser'

export class MomoUsers {
  readonly #products: readonly { readonly subscriptionKey: string; readonly targetEnvironment: string }[]
  /** User -> its host for callbacks, and its key once it has one. */
  readonly #users = new Map<string, { host: string; key: string | null }>()

  constructor(products: readonly { readonly subscriptionKey: string; readonly targetEnvironment: string }[]) {
    this.#products = products
  }

  /** Whether a header of Basic authentication is that of a user. */
  admits(authorization = ''): boolean {
    const [user = '', key = ''] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
      .toString()
      .split(':')
    return key !== '' && this.#users.get(user)?.key === key
  }

  answer({ method, path, headers, body }: Asked, response: ServerResponse): void {
    const product = this.#products.find((one) => one.subscriptionKey === headers['ocp-apim-subscription-key'])
    if (!product)
      return say(response, 401, { statusCode: 401, message: 'Access denied due to invalid subscription key.' })
    if (method === 'POST' && path === usersPath) return this.#create(String(headers['x-reference-id']), body, response)
    const [, id = '', part = ''] = path.slice(usersPath.length).split('/')
    const user = this.#users.get(id)
    if (!user) return say(response, 404, { code: 'NOT_FOUND', message: 'Requested resource was not found.' })
    if (method === 'POST' && part === 'apikey') {
      user.key = randomBytes(16).toString('hex')
      return say(response, 201, { apiKey: user.key })
    }
    say(response, 200, { providerCallbackHost: user.host, targetEnvironment: product.targetEnvironment })
  }

  #create(id: string, body: Asked['body'], response: ServerResponse): void {
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) || typeof body?.providerCallbackHost !== 'string')
      return say(response, 400, { code: 'BAD_REQUEST', message: 'X-Reference-Id or providerCallbackHost' })
    if (this.#users.has(id))
      return say(response, 409, { code: 'RESOURCE_ALREADY_EXIST', message: 'Duplicated reference id.' })
    const [oldest] = this.#users.size >= maxUsers ? this.#users.keys() : []
    if (oldest !== undefined) this.#users.delete(oldest)
    this.#users.set(id, { host: body.providerCallbackHost, key: null })
    say(response, 201)
  }
}
