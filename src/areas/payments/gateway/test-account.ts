// SPDX-License-Identifier: Apache-2.0
// Test of an account with a provider: it is asked after a payment that never was, with the secrets that are stored. Whatever it
// answers but a refusal of the secrets says that it is reached and lets us in.
import { randomUUID } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import type { Probe } from '../../../platform/connections/probe.ts'
import { connectTo, Failure } from '../../../platform/outbound/dial.ts'
import { type Exchange, traced } from '../../../platform/outbound/provider-http.ts'
import type { Carrier, ProviderKind } from '../providers/kind.ts'
import { type EnteredRow, settingsOf } from './accounts.ts'

const connectMs = 5_000
const patienceMs = 7_000
const refusals: readonly number[] = [401, 403]

export async function testAccount(app: App, row: EnteredRow, kind: ProviderKind, probe: Probe): Promise<void> {
  const settings = await settingsOf(app, row)
  await reach(app, settings.base_url ?? '', probe)
  const tokens: Exchange[] = []
  const asked: Exchange[] = []
  const carrier = kind.connect(settings, {
    clock: app.clock,
    http: app.carrierOutbound,
    patienceMs,
    signsIn: (exchange) => tokens.push(exchange),
  })
  try {
    await probe.step('sign_in', async () => {
      await traced(
        (exchange) => void asked.push(exchange),
        () => ask(carrier, row.country),
      )
      const [token] = tokens
      if (token && asked.length === 0) throw new Error(`No token was given: ${saidOf(token)}`)
      const refused = asked.find(({ answer }) => answer.kind === 'answered' && refusals.includes(answer.status))
      if (refused) throw new Error(`The secrets were refused: ${saidOf(refused)}`)
      if (token) return `A token was given: ${saidOf(token)}`
      return asked.length > 0 ? 'The secrets were not refused' : 'Only a payment shows whether the secrets are good'
    })
    const answer = asked.at(-1)
    if (answer)
      await probe.step('answer', async () => {
        if (answer.answer.kind !== 'answered') throw new Error(saidOf(answer))
        return `Asked after a payment that never was: ${saidOf(answer)}`
      })
    else probe.skip('answer', 'Only a payment shows what it answers')
  } finally {
    await carrier.stop()
  }
}

/** Dials as payments do, by the rules for addresses of providers. */
async function reach({ carrierOutbound }: App, url: string, probe: Probe): Promise<void> {
  const isTls = url.startsWith('https:')
  const destination = await carrierOutbound.destinationOf(url, { use: 'callback', environment: 'live' })
  await probe.step('name', async () => {
    if (destination instanceof Failure) throw destination
    return destination.addresses.map(({ address }) => address).join(', ') || new URL(url).hostname
  })
  const socket = destination instanceof Failure ? destination : await connectTo(destination, connectMs).catch(asFailure)
  await probe.step('connection', async () => {
    if (socket instanceof Failure && socket.error !== 'TLS_FAILED') throw socket
    return `${new URL(url).host} takes connections`
  })
  if (!isTls) probe.skip('tls', 'The address is http: nothing is encrypted')
  else
    await probe.step('tls', async () => {
      if (socket instanceof Failure) throw socket
      return 'Its certificate is trusted'
    })
  if (!(socket instanceof Failure)) socket.destroy()
}

function asFailure(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure('CONNECTION_FAILED', String(error))
}

/** Asks after a payment that never was. */
async function ask(carrier: Carrier, country: string): Promise<void> {
  const id = randomUUID()
  if (carrier.method === 'card') await carrier.query(id, 'USD')
  else if (carrier.method === 'bank_transfer') await carrier.queryDebit(id)
  else {
    const one = { micros: 1_000_000n, currency: 'USD', country, phone: '+254700000000', kept: {} } as const
    await carrier.query({ ...one, attempt: id, shortId: id.replaceAll('-', '').slice(0, 26), providerId: id })
  }
}

/** The request without its query, and the status of its answer. No body: it may hold secrets. */
function saidOf({ method, url, answer }: Exchange): string {
  const { pathname } = new URL(url)
  return `${method} ${pathname} ${answer.kind === 'answered' ? `was answered with ${answer.status}` : answer.reason}`
}
