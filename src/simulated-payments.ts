// SPDX-License-Identifier: Apache-2.0
// Payment providers on free ports of this machine, which take test payments and call this node back. Their secrets are
// made anew at every start; what they were asked to do is not forgotten.
import { randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { App } from './platform/app.ts'
import type { Clock } from './platform/clock.ts'
import { AcquirerSimulator } from './simulators/acquirer.ts'
import { AirtelSimulator } from './simulators/airtel.ts'
import { BankSimulator } from './simulators/bank.ts'
import { DarajaSimulator } from './simulators/daraja.ts'
import { MomoSimulator } from './simulators/momo.ts'

const host = '127.0.0.1'

/** Where providers write down what they must not forget. */
export interface Bookkeeping {
  fileOf(simulator: string): string | null
  /** Fulfilled when this node can be called back. */
  ready: Promise<void>
  onProblem(error: unknown): void
}

/** Gives, by provider, what an operator would enter for an account with it. */
export async function simulatePayments(
  timeScale: number,
  clock: Clock,
  caFile: string | null,
  stops: (() => unknown)[],
  books?: Bookkeeping,
): Promise<App['simulators']['payments']> {
  const ca = caFile === null ? undefined : await readFile(caFile, 'utf8')
  const { ready, onProblem } = books ?? { ready: Promise.resolve(), onProblem: () => undefined }
  const common = { host, timeScale, now: () => clock.nowMs(), ca: () => ca, ready, onProblem }
  const journalOf = (name: string) => ({ journalFile: books?.fileOf(name) ?? null })
  const shortcode = '174379'
  const [passkey, consumerKey, consumerSecret] = [secret(), secret(), secret()]
  const initiator = { name: 'simulator', password: secret(), shortcode: '600000' }
  const daraja = await DarajaSimulator.start({
    ...{ ...common, ...journalOf('daraja') },
    ...{ shortcode, passkey, consumerKey, consumerSecret, initiator },
  })
  const targetEnvironment = 'simulator'
  const [subscriptionKey, apiUser, apiKey] = [secret(), randomUUID(), secret()]
  const disbursement = { targetEnvironment, subscriptionKey: secret(), apiUser: randomUUID(), apiKey: secret() }
  const merchant = { targetEnvironment, subscriptionKey, apiUser, apiKey, disbursement }
  const momo = await MomoSimulator.start({ ...common, ...journalOf('momo'), ...merchant })
  const [clientId, clientSecret, pin] = [randomUUID(), secret(), '4812']
  const airtel = await AirtelSimulator.start({ ...common, ...journalOf('airtel'), clientId, clientSecret, pin })
  const [secretKey, webhookSecret] = [secret(), secret()]
  const acquirer = await AcquirerSimulator.start({ ...common, ...journalOf('acquirer'), secretKey, webhookSecret })
  const bankKeys = { apiKey: secret(), webhookSecret: secret() }
  const bank = await BankSimulator.start({ ...common, ...journalOf('bank'), ...bankKeys })
  for (const simulator of [daraja, momo, airtel, acquirer, bank]) stops.push(() => simulator.stop())
  return {
    mpesa: {
      base_url: urlOf(daraja),
      shortcode,
      passkey,
      consumer_key: consumerKey,
      consumer_secret: consumerSecret,
      initiator_name: initiator.name,
      initiator_password: initiator.password,
      payout_shortcode: initiator.shortcode,
      get certificate() {
        return daraja.payouts.certificate
      },
    },
    mtn_momo: {
      base_url: urlOf(momo),
      target_environment: targetEnvironment,
      subscription_key: subscriptionKey,
      api_user: apiUser,
      api_key: apiKey,
      payout_subscription_key: disbursement.subscriptionKey,
      payout_api_user: disbursement.apiUser,
      payout_api_key: disbursement.apiKey,
    },
    airtel_money: {
      base_url: urlOf(airtel),
      client_id: clientId,
      client_secret: clientSecret,
      payout_pin: pin,
      get payout_public_key() {
        return airtel.payouts.publicKey
      },
    },
    bank: { base_url: urlOf(bank), api_key: bankKeys.apiKey, webhook_secret: bankKeys.webhookSecret },
    acquirer: { base_url: urlOf(acquirer), secret_key: secretKey, webhook_secret: webhookSecret },
  }
}

function urlOf({ port }: { port: number }): string {
  return `http://${host}:${port}`
}

function secret(): string {
  return randomBytes(12).toString('hex')
}
