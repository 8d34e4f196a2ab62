// SPDX-License-Identifier: Apache-2.0
// Payment providers on free ports of this machine, which take test payments and call this node back. Their secrets are
// made anew at every start; what they were asked to do is not forgotten.
import { randomBytes, randomUUID } from 'node:crypto'
import { payers, paymentProviders, type SimulatedAccounts } from '../areas/payments/gateway/simulated.ts'
import { AcquirerSimulator } from '../simulators/acquirer.ts'
import { AirtelSimulator } from '../simulators/airtel.ts'
import { BankSimulator } from '../simulators/bank.ts'
import { DarajaSimulator } from '../simulators/daraja.ts'
import { EcocashSimulator } from '../simulators/ecocash.ts'
import { MomoSimulator } from '../simulators/momo.ts'
import { MpesaOpenSimulator } from '../simulators/mpesa-open.ts'
import { OrangeMoneySimulator } from '../simulators/orange-money.ts'
import type { ProviderServerOptions } from '../simulators/provider-server.ts'
import { TelebirrSimulator } from '../simulators/telebirr.ts'
import { WaveSimulator } from '../simulators/wave.ts'
import { type Running, type Surroundings, starter } from './starter.ts'

/** Starts a provider; what it gives is what an operator would enter for an account with it. */
type Start = (options: ProviderServerOptions) => Promise<Running<Readonly<Record<string, string>>>>

/** Every provider that is simulated, and what its journal is called. */
const providers: Readonly<Record<string, readonly [journal: string, start: Start]>> = {
  mpesa: ['daraja', daraja],
  mtn_momo: ['momo', momo],
  airtel_money: ['airtel', airtel],
  orange_money: ['orange-money', orangeMoney],
  wave: ['wave', wave],
  telebirr: ['telebirr', telebirr],
  vodacom_mpesa: ['mpesa-open', mpesaOpen],
  ecocash: ['ecocash', ecocash],
  bank: ['bank', bank],
  acquirer: ['acquirer', acquirer],
}

export const simulatedPayments = starter(paymentProviders, simulatePayments)

export async function simulatePayments(
  surroundings: Omit<Surroundings, 'identity'>,
): Promise<Running<SimulatedAccounts>> {
  const { clock, sharedHost: host, timeScale, ca, ready, journalOf, onProblem } = surroundings
  const gives: Record<string, Readonly<Record<string, string>>> = {}
  const payerKeys: Record<string, string> = {}
  const stops: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (const end of stops.reverse()) await end()
  }
  try {
    for (const [provider, [journal, start]] of Object.entries(providers)) {
      const payerKey = secret()
      const common = { host, timeScale, now: () => clock.nowMs(), ca: () => ca, ready, onProblem, payerKey }
      const running = await start({ ...common, journalFile: journalOf(journal) })
      payerKeys[provider] = payerKey
      gives[provider] = running.gives
      stops.push(running.stop)
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { gives: { ...gives, [payers]: payerKeys }, stop }
}

async function daraja(options: ProviderServerOptions): ReturnType<Start> {
  const shortcode = '174379'
  const [passkey, consumerKey, consumerSecret] = [secret(), secret(), secret()]
  const initiator = { name: 'simulator', password: secret(), shortcode: '600000' }
  const simulator = await DarajaSimulator.start({
    ...options,
    ...{ shortcode, passkey, consumerKey, consumerSecret, initiator },
  })
  return {
    gives: {
      base_url: urlOf(options.host, simulator),
      shortcode,
      passkey,
      consumer_key: consumerKey,
      consumer_secret: consumerSecret,
      initiator_name: initiator.name,
      initiator_password: initiator.password,
      payout_shortcode: initiator.shortcode,
      get certificate() {
        return simulator.payouts.certificate
      },
    },
    stop: () => simulator.stop(),
  }
}

async function momo(options: ProviderServerOptions): ReturnType<Start> {
  const targetEnvironment = 'simulator'
  const [subscriptionKey, apiUser, apiKey] = [secret(), randomUUID(), secret()]
  const disbursement = { targetEnvironment, subscriptionKey: secret(), apiUser: randomUUID(), apiKey: secret() }
  const merchant = { targetEnvironment, subscriptionKey, apiUser, apiKey, disbursement }
  const simulator = await MomoSimulator.start({ ...options, ...merchant })
  return {
    gives: {
      base_url: urlOf(options.host, simulator),
      target_environment: targetEnvironment,
      subscription_key: subscriptionKey,
      api_user: apiUser,
      api_key: apiKey,
      payout_subscription_key: disbursement.subscriptionKey,
      payout_api_user: disbursement.apiUser,
      payout_api_key: disbursement.apiKey,
    },
    stop: () => simulator.stop(),
  }
}

async function airtel(options: ProviderServerOptions): ReturnType<Start> {
  const [clientId, clientSecret, pin] = [randomUUID(), secret(), '4812']
  const simulator = await AirtelSimulator.start({ ...options, clientId, clientSecret, pin })
  return {
    gives: {
      base_url: urlOf(options.host, simulator),
      client_id: clientId,
      client_secret: clientSecret,
      payout_pin: pin,
      get payout_public_key() {
        return simulator.payouts.publicKey
      },
    },
    stop: () => simulator.stop(),
  }
}

async function orangeMoney(options: ProviderServerOptions): ReturnType<Start> {
  const [clientId, clientSecret, merchantKey] = [secret(), secret(), secret()]
  const simulator = await OrangeMoneySimulator.start({ ...options, clientId, clientSecret, merchantKey })
  return {
    gives: {
      base_url: urlOf(options.host, simulator),
      webpay_market: OrangeMoneySimulator.market,
      client_id: clientId,
      client_secret: clientSecret,
      merchant_key: merchantKey,
    },
    stop: () => simulator.stop(),
  }
}

async function wave(options: ProviderServerOptions): ReturnType<Start> {
  const apiKey = secret()
  const simulator = await WaveSimulator.start({ ...options, apiKey })
  return { gives: { base_url: urlOf(options.host, simulator), wave_api_key: apiKey }, stop: () => simulator.stop() }
}

async function telebirr(options: ProviderServerOptions): ReturnType<Start> {
  const [fabricAppId, appSecret, merchantAppId, merchantCode] = [secret(), secret(), '850259717365760', '500001']
  const simulator = await TelebirrSimulator.start({
    ...options,
    ...{ fabricAppId, appSecret, merchantAppId, merchantCode },
  })
  return {
    gives: {
      base_url: urlOf(options.host, simulator),
      checkout_url: simulator.pageUrl,
      merchant_app_id: merchantAppId,
      merchant_code: merchantCode,
      fabric_app_id: fabricAppId,
      app_secret: appSecret,
      get private_key() {
        return simulator.privateKey
      },
    },
    stop: () => simulator.stop(),
  }
}

async function mpesaOpen(options: ProviderServerOptions): ReturnType<Start> {
  const [apiKey, serviceProviderCode] = [secret(), '000000']
  const simulator = await MpesaOpenSimulator.start({ ...options, apiKey, serviceProviderCode })
  return {
    gives: {
      base_url: urlOf(options.host, simulator),
      open_api_market: MpesaOpenSimulator.market,
      service_provider_code: serviceProviderCode,
      open_api_key: apiKey,
      get open_api_public_key() {
        return simulator.publicKey
      },
    },
    stop: () => simulator.stop(),
  }
}

async function ecocash(options: ProviderServerOptions): ReturnType<Start> {
  const apiKey = secret()
  const simulator = await EcocashSimulator.start({ ...options, apiKey })
  return {
    gives: { base_url: urlOf(options.host, simulator), ecocash_mode: EcocashSimulator.mode, ecocash_api_key: apiKey },
    stop: () => simulator.stop(),
  }
}

async function bank(options: ProviderServerOptions): ReturnType<Start> {
  const [apiKey, webhookSecret] = [secret(), secret()]
  const simulator = await BankSimulator.start({ ...options, apiKey, webhookSecret })
  return {
    gives: { base_url: urlOf(options.host, simulator), api_key: apiKey, webhook_secret: webhookSecret },
    stop: () => simulator.stop(),
  }
}

async function acquirer(options: ProviderServerOptions): ReturnType<Start> {
  const [secretKey, webhookSecret] = [secret(), secret()]
  const simulator = await AcquirerSimulator.start({ ...options, secretKey, webhookSecret })
  return {
    gives: { base_url: urlOf(options.host, simulator), secret_key: secretKey, webhook_secret: webhookSecret },
    stop: () => simulator.stop(),
  }
}

function urlOf(host: string, { port }: { port: number }): string {
  return `http://${host}:${port}`
}

function secret(): string {
  return randomBytes(12).toString('hex')
}
