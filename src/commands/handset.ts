// SPDX-License-Identifier: Apache-2.0
// `npm start -- handset '*384#'`: a phone in the terminal. It dials in the sandbox of a running installation, shows each screen
// and takes an answer per line; an empty line, or the end of the input, hangs up.
import { request } from 'node:https'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { type Config, ConfigError } from '../config.ts'
import { StartError, UnreachableError } from '../kernel/start-error.ts'
import { trustedBy, writtenCredentials } from './credentials-file.ts'
import { plain } from './plain.ts'

const defaultPhone = '+254711000020'
/** Longer than a network waits for an application. */
const answerMs = 90_000

interface Wishes {
  code: string
  phone: string | undefined
  apiKey: string | undefined
}

interface Handset {
  code: string
  phone: string
  base: string
  key: string
  ca: string | null
}

interface Screen {
  session_id: string
  message: string | null
  action: 'continue' | 'end'
}

/** A phone with a key to the sandbox: as asked, else as the platform wrote it down when it started here. */
export async function handsetOf(config: Config, { code, phone = defaultPhone, apiKey }: Wishes): Promise<Handset> {
  const known = await writtenCredentials(config)
  const key = apiKey ?? known?.api_key
  if (!key) throw new ConfigError('No API key found: set --api-key or PAMOJA_API_KEY.')
  const base = config.PAMOJA_PUBLIC_URL ?? known?.base_url ?? `https://localhost:${config.PAMOJA_PORT}`
  const ca = await trustedBy(known)
  return { code, phone, base: base.replace(/\/$/, ''), key, ca }
}

/** Dials, and goes on until the session is over or nothing more is typed. */
export async function useHandset(
  handset: Handset,
  input: NodeJS.ReadableStream,
  say: (text: string) => void,
): Promise<void> {
  let screen = await call(handset, 'dial', { phone: handset.phone, shortcode: handset.code })
  show(screen, say)
  if (screen.action === 'end') return
  const lines = createInterface({ input })
  try {
    for await (const line of lines) {
      const typed = line.trim()
      if (typed === '') break
      screen = await call(handset, 'input', { session_id: screen.session_id, input: typed })
      show(screen, say)
      if (screen.action === 'end') return
    }
    await call(handset, 'cancel', { session_id: screen.session_id })
    say('You hung up.')
  } finally {
    lines.close()
  }
}

function show({ message, action }: Screen, say: (text: string) => void): void {
  const rows = (message ?? 'The network ended the session.').split('\n').map(plain)
  const width = Math.max(24, ...rows.map((row) => row.length))
  const edge = '-'.repeat(width + 2)
  say([`+${edge}+`, ...rows.map((row) => `| ${row.padEnd(width)} |`), `+${edge}+`].join('\n'))
  if (action === 'continue') say('Answer (an empty line hangs up):')
}

async function call({ base, key, ca }: Handset, verb: string, body: object): Promise<Screen> {
  const { status, answer } = await post(`${base}/api/v1/sandbox/ussd/${verb}`, key, ca, JSON.stringify(body))
  if (status === 200 && isScreen(answer)) return answer
  const { message = 'no sentence', details = '' } = Object(Object(answer).error)
  throw new StartError(`The platform answered ${status}: ${message} ${details}`.trim())
}

function isScreen(answer: unknown): answer is Screen {
  const { session_id, action } = Object(answer)
  return typeof session_id === 'string' && (action === 'continue' || action === 'end')
}

function post(url: string, key: string, ca: string | null, body: string): Promise<{ status: number; answer: unknown }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', headers, timeout: answerMs, ...(ca ? { ca } : {}) }, (response) => {
      json(response).then((answer) => resolve({ status: response.statusCode ?? 0, answer }), reject)
    })
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')))
    asked.on('error', (error) =>
      reject(
        new UnreachableError(`Nobody answers at ${new URL(url).origin}: start it with \`npm start\`. ${error.message}`),
      ),
    )
    asked.end(body)
  })
}
