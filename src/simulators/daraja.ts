// SPDX-License-Identifier: Apache-2.0
// A mobile-money provider that speaks Daraja on a real port: it takes STK pushes, plays the payer and calls back. The last
// four digits of the payer's number decide what happens; everybody else pays after about two seconds.
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { passwordOf, stkCallbackBody } from '../protocols/daraja.ts'

const maxBodyBytes = 64 * 1024
const maxPrompts = 100_000
const tokenSeconds = 3_599
/** How long a payer thinks, and how long a prompt stays open. */
const thinksMs = 2_000
const promptMs = 120_000
const lateMs = 90_000
const callbackTimeoutMs = 5_000

export interface DarajaOptions {
  host: string
  shortcode: string
  passkey: string
  consumerKey: string
  consumerSecret: string
  now(): number
  /** Waiting takes this part of the time it would. */
  timeScale: number
  /** The certificate authority of whoever is called back. */
  ca(): string | undefined
}

/** What happens to a prompt: a result after a while, and how often it is told. */
interface Play {
  code: string
  afterMs?: number
  callbacks?: number
  /** The callback tells another amount than was asked for. */
  amount?: (asked: string) => string
  /** Told afterwards, although it is not so. */
  thenCode?: string
  /** A stranger calls first, with a wrong token. */
  forged?: boolean
  /** The connection is cut although the prompt was sent. */
  cut?: boolean
  /** Nothing is accepted. */
  unavailable?: boolean
}

const plays: Readonly<Record<string, Play | null>> = {
  '0001': { code: '0' },
  '0002': { code: '1' },
  // The payer never looks at the phone.
  '0003': null,
  '0004': { code: '1032' },
  '0005': { code: '2001' },
  '0006': { code: '4' },
  '0007': { code: '1037' },
  '0008': { code: '0', afterMs: promptMs + lateMs },
  '0009': { code: '0', callbacks: 3 },
  '0010': { code: '0', callbacks: 0 },
  '0011': { code: '0', cut: true },
  '0012': { code: '', unavailable: true },
  '0013': { code: '0', amount: (asked) => String(Number(asked) + 1) },
  '0014': { code: '0', thenCode: '1032' },
  '0015': { code: '0', forged: true },
}

const descriptions: Readonly<Record<string, string>> = {
  '0': 'The service request is processed successfully.',
  '1': 'The balance is insufficient for the transaction.',
  '4': 'The daily limit of the payer is reached.',
  '1032': 'Request cancelled by user',
  '1037': 'DS timeout user cannot be reached',
  '2001': 'The initiator information is invalid.',
}

interface Prompt {
  merchantRequestId: string
  checkoutId: string
  phone: string
  amount: string
  callbackUrl: string
  /** Null while the payer thinks. */
  resultCode: string | null
  receipt: string | null
}

export class DarajaSimulator {
  readonly #options: DarajaOptions
  readonly #server: Server
  readonly #prompts = new Map<string, Prompt>()
  readonly #tokens = new Set<string>()
  readonly #timers = new Set<NodeJS.Timeout>()
  /** What was paid, by receipt: the provider's own books. */
  readonly paid = new Map<string, { phone: string; amount: string }>()

  private constructor(options: DarajaOptions) {
    this.#options = options
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  static async start(options: DarajaOptions): Promise<DarajaSimulator> {
    const simulator = new DarajaSimulator(options)
    simulator.#server.listen(0, options.host)
    await once(simulator.#server, 'listening')
    return simulator
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request)
    const path = (request.url ?? '').split('?', 1)[0]
    if (body === null) return say(response, 400, refusal('400.002.02', 'Bad Request - Invalid body'))
    if (request.method === 'GET' && path === '/oauth/v1/generate') return this.#giveToken(request, response)
    if (!this.#tokens.has(request.headers.authorization?.replace(/^Bearer /, '') ?? ''))
      return say(response, 404, refusal('404.001.03', 'Invalid Access Token'))
    if (path === '/mpesa/stkpush/v1/processrequest') return this.#push(body, response)
    if (path === '/mpesa/stkpushquery/v1/query') return this.#query(body, response)
    say(response, 404, refusal('404.001.01', 'Resource not found'))
  }

  #giveToken({ headers }: IncomingMessage, response: ServerResponse): void {
    const { consumerKey, consumerSecret } = this.#options
    const wanted = `Basic ${Buffer.from(`${consumerKey}:${consumerSecret}`).toString('base64')}`
    if (headers.authorization !== wanted)
      return say(response, 400, refusal('400.008.01', 'Invalid Authentication passed'))
    const token = randomBytes(21).toString('base64url')
    this.#tokens.add(token)
    say(response, 200, { access_token: token, expires_in: String(tokenSeconds) })
  }

  #push(body: Record<string, unknown>, response: ServerResponse): void {
    const problem = this.#problemOf(body)
    if (problem) return say(response, 400, refusal('400.002.02', `Bad Request - Invalid ${problem}`))
    const phone = String(body.PhoneNumber)
    const play = playOf(phone)
    if (play?.unavailable) return say(response, 503, refusal('500.003.02', 'System is busy. Please try again'))
    if (this.#prompts.size >= maxPrompts) return say(response, 503, refusal('500.003.03', 'Quota Violation'))
    const prompt: Prompt = {
      merchantRequestId: `${randomInt(1_000, 99_999)}-${randomInt(10_000_000, 99_999_999)}-1`,
      checkoutId: `ws_CO_${randomBytes(12).toString('hex')}`,
      phone: `+${phone}`,
      amount: String(body.Amount),
      callbackUrl: String(body.CallBackURL),
      resultCode: null,
      receipt: null,
    }
    this.#prompts.set(prompt.checkoutId, prompt)
    if (play) this.#later(play.afterMs ?? thinksMs, () => this.#decide(prompt, play))
    if (play?.cut) return void response.destroy()
    say(response, 200, {
      MerchantRequestID: prompt.merchantRequestId,
      CheckoutRequestID: prompt.checkoutId,
      ResponseCode: '0',
      ResponseDescription: 'Success. Request accepted for processing',
      CustomerMessage: 'Success. Request accepted for processing',
    })
  }

  #problemOf(body: Record<string, unknown>): string | null {
    const { shortcode, passkey } = this.#options
    const timestamp = String(body.Timestamp)
    if (body.BusinessShortCode !== shortcode) return 'BusinessShortCode'
    if (!/^\d{14}$/.test(timestamp)) return 'Timestamp'
    if (body.Password !== passwordOf(shortcode, passkey, timestamp)) return 'Password'
    if (!/^[1-9]\d{0,8}$/.test(String(body.Amount))) return 'Amount'
    if (!/^254\d{9}$/.test(String(body.PhoneNumber))) return 'PhoneNumber'
    if (!/^https:\/\//.test(String(body.CallBackURL))) return 'CallBackURL'
    if (/mpesa|safaricom|exe|cmd|sql|query/i.test(new URL(String(body.CallBackURL)).pathname)) return 'CallBackURL'
    if (!/^.{1,12}$/.test(String(body.AccountReference))) return 'AccountReference'
    return /^.{1,13}$/.test(String(body.TransactionDesc)) ? null : 'TransactionDesc'
  }

  #query(body: Record<string, unknown>, response: ServerResponse): void {
    const prompt = this.#prompts.get(String(body.CheckoutRequestID))
    if (!prompt) return say(response, 400, refusal('400.002.02', 'Bad Request - Invalid CheckoutRequestID'))
    const { merchantRequestId, checkoutId, resultCode } = prompt
    if (resultCode === null) return say(response, 500, refusal('500.001.1001', 'The transaction is being processed'))
    say(response, 200, {
      ResponseCode: '0',
      ResponseDescription: 'The service request has been accepted successsfully',
      MerchantRequestID: merchantRequestId,
      CheckoutRequestID: checkoutId,
      ResultCode: resultCode,
      ResultDesc: descriptions[resultCode] ?? '',
    })
  }

  #decide(prompt: Prompt, play: Play): void {
    prompt.resultCode = play.code
    if (play.code === '0') {
      prompt.receipt = `S${randomBytes(5).toString('hex').toUpperCase().slice(0, 9)}`
      this.paid.set(prompt.receipt, { phone: prompt.phone, amount: prompt.amount })
    }
    void this.#tell(prompt, play)
  }

  async #tell(prompt: Prompt, play: Play): Promise<void> {
    if (play.forged) await this.#call(prompt, { ...play, code: '0' }, `${prompt.callbackUrl.slice(0, -4)}AAAA`)
    for (let i = 0; i < (play.callbacks ?? 1); i++) await this.#call(prompt, play, prompt.callbackUrl)
    if (play.thenCode) await this.#call(prompt, { code: play.thenCode }, prompt.callbackUrl)
  }

  /** Once, whatever comes of it: the real one does not try again either. */
  #call({ checkoutId, merchantRequestId, receipt, amount, phone }: Prompt, play: Play, url: string): Promise<void> {
    const told = play.amount ? play.amount(amount) : amount
    const body = stkCallbackBody(
      { checkoutId, resultCode: play.code, amount: told, receipt },
      { merchantRequestId, description: descriptions[play.code] ?? '', phone, at: new Date(this.#options.now()) },
    )
    const ca = this.#options.ca()
    return new Promise((resolve) => {
      const call = httpsRequest(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        timeout: callbackTimeoutMs,
        ...(ca === undefined ? {} : { ca }),
      })
      call.on('response', (answer) => answer.resume().once('close', () => resolve()))
      call.on('timeout', () => call.destroy())
      call.on('error', () => resolve())
      call.end(JSON.stringify(body))
    })
  }

  #later(ms: number, what: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      what()
    }, ms * this.#options.timeScale)
    this.#timers.add(timer)
  }
}

/** Null: the payer never decides. */
function playOf(phone: string): Play | null {
  const ending = phone.slice(-4)
  const known = Object.hasOwn(plays, ending) ? plays[ending] : undefined
  return known === undefined ? { code: '0' } : known
}

function refusal(errorCode: string, errorMessage: string): object {
  return { requestId: randomBytes(8).toString('hex'), errorCode, errorMessage }
}

function say(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** The members of a JSON object; none without a body; null when it is no object. */
async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown> | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxBodyBytes) return null
    chunks.push(bytes)
  }
  if (size === 0) return {}
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString())
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}
