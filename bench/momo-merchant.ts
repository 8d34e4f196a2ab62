// SPDX-License-Identifier: Apache-2.0
// An installation whose operator has an account with a MoMo simulator, to collect and to pay out, for benchmarks that look
// into the provider's books afterwards.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { MomoSimulator } from '../src/simulators/momo.ts'
import { type Account, type Installation, startInstallation } from '../test/faults/harness.ts'

const merchant = {
  subscriptionKey: 'subscription',
  targetEnvironment: 'simulator',
  apiUser: randomUUID(),
  apiKey: 'key',
}

export interface MomoMerchant {
  installation: Installation
  provider: MomoSimulator
  /** Account with a test wallet of UGX. */
  account: Account
  stop(): Promise<void>
}

/** `timeScale` says which part of their ordinary time payers, payees and the provider take. */
export async function startMomoMerchant(timeScale: number, credit: number): Promise<MomoMerchant> {
  let ca: string | undefined
  const provider = await MomoSimulator.start({
    ...{ ...merchant, disbursement: merchant, host: '127.0.0.1', timeScale, now: Date.now, ca: () => ca },
  })
  const installation = await startInstallation({
    nodes: 1,
    environment: { PAMOJA_RATE_LIMITS: 'off', PAMOJA_SANDBOX_TIME_SCALE: String(timeScale) },
  })
  ca = installation.ca
  const stop = async (): Promise<void> => {
    await installation.stop()
    await provider.stop()
  }
  try {
    return { installation, provider, account: await opened(installation, provider, credit), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function opened(installation: Installation, provider: MomoSimulator, amount: number): Promise<Account> {
  const operator = installation.operator()
  await taken(() =>
    operator.post('/v1/operator/payments/providers', {
      ...{ provider: 'mtn_momo', country: 'UG', environment: 'test', base_url: `http://127.0.0.1:${provider.port}` },
      ...{ target_environment: merchant.targetEnvironment, subscription_key: merchant.subscriptionKey },
      ...{ api_user: merchant.apiUser, api_key: merchant.apiKey },
      ...{ payout_subscription_key: merchant.subscriptionKey, payout_api_user: merchant.apiUser },
      payout_api_key: merchant.apiKey,
    }),
  )
  const account = await installation.account({ credit: 1 })
  const credit = { amount, currency: 'UGX', environment: 'test', reference: 'benchmark' }
  await taken(() => operator.post(`/v1/operator/accounts/${account.id}/credit`, credit))
  return account
}

/** Most tries of a request that is told to come back later. */
const maxTries = 10
const pauseMs = 1_000

/** Asks until the request is taken, as a customer would; ends the benchmark when it is refused. */
export async function taken(ask: () => Promise<{ status: number; text: string }>): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { status, text } = await ask()
    if (status < 300) return
    if (status !== 503 || tries === maxTries) throw new Error(`it was answered ${status} ${text}`)
    await pause(pauseMs)
  }
}
