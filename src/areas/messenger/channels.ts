// SPDX-License-Identifier: Apache-2.0
// Channels: business numbers at providers. Each test account has one at the simulator; live ones are connected by an
// operator.
import { createHash } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'
import { bucketOf, idOf, uuidOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { maybe, statement } from '../../platform/db.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import type { Environment, Tenant } from '../../platform/tenant.ts'
import { simulatedBusinessOf } from '../../protocols/graph.ts'
import { providerOf } from './carriers/cloud-api.ts'
import { simulatedMessenger } from './carriers/sandbox.ts'

export interface Channel {
  /** Id in the webhook URL. */
  readonly id: string
  readonly tenant: Tenant
  readonly baseUrl: string
  readonly phoneNumberId: string
  readonly businessId: string
  /** Digits only. */
  readonly displayNumber: string
  readonly token: string
  readonly appSecret: string
  readonly verifyToken: string
}

interface ChannelRow {
  id: string
  bucket: number
  account_id: string
  environment: Environment
  base_url: string
  phone_number_id: string
  business_id: string
  display_number: string
  sealed: Buffer
}

const columns = `id, bucket, account_id, environment, base_url, phone_number_id, business_id, display_number, sealed`

const findForAccount = statement.home<{ account: string; environment: string }, ChannelRow>(
  'messenger.channel_of_account',
  `select ${columns} from messenger.channels where account_id = $account and environment = $environment`,
)

const findById = statement.home<{ id: string }, ChannelRow>(
  'messenger.channel_by_id',
  `select ${columns} from messenger.channels where id = $id`,
)

/** Webhook URL id shared by all test accounts. */
const sandboxChannelId = 'sandbox'

/** Channel an account sends from. */
export async function channelOf(app: App, tenant: Tenant): Promise<Channel> {
  const { account, environment } = tenant
  if (environment === 'test') {
    const channel = sandboxChannel(app, tenant)
    await subscribed(app)(channel)
    return channel
  }
  const row = await maybe(app.db.query(findForAccount, { account, environment }))
  if (row === null)
    throw new AppError(
      'PROVIDER_UNAVAILABLE',
      'no number is connected for this account: ask the operator to connect one',
    )
  return opened(app, row)
}

/** Webhook settings of a channel: its secrets, and the accounts of the provider's numbers. Null when unknown. */
export async function ingressOf(app: App, channelId: string): Promise<Ingress | null> {
  if (channelId === sandboxChannelId) {
    const provider = simulatedMessenger.shared(app)
    if (provider === null) return null
    const { appSecret, verifyToken } = provider
    return {
      appSecret,
      verifyToken,
      async channelOf(number) {
        const account = accountOfNumber(number)
        return account === null
          ? null
          : sandboxChannel(app, { bucket: bucketOf(account), account, environment: 'test' })
      },
    }
  }
  const id = uuidOf('messengerChannel', channelId)
  const row = id && (await maybe(app.db.query(findById, { id })))
  if (!row) return null
  const channel = opened(app, row)
  return {
    ...channel,
    channelOf: async (number) => (number === '' || number === channel.phoneNumberId ? channel : null),
  }
}

export interface Ingress {
  readonly appSecret: string
  readonly verifyToken: string
  /** Channel of a phone number id; null when it is not one of this webhook. */
  channelOf(phoneNumberId: string): Promise<Channel | null>
}

function opened(app: App, row: ChannelRow): Channel {
  const secrets: unknown = JSON.parse(app.secrets.openForInstallation(sealPlace(row.id), row.sealed).toString())
  const [token, appSecret, verifyToken] = Array.isArray(secrets) ? secrets.map(String) : []
  return {
    id: idOf('messengerChannel', row.id),
    tenant: { bucket: row.bucket, account: row.account_id, environment: row.environment },
    baseUrl: row.base_url,
    phoneNumberId: row.phone_number_id,
    businessId: row.business_id,
    displayNumber: row.display_number,
    token: token ?? '',
    appSecret: appSecret ?? '',
    verifyToken: verifyToken ?? '',
  }
}

export function sealPlace(id: string): string {
  return `messenger.channels.sealed:${id}`
}

function sandboxChannel(app: App, tenant: Tenant): Channel {
  const provider = simulatedMessenger.shared(app)
  if (provider === null)
    throw new AppError('PROVIDER_UNAVAILABLE', 'this node runs no sandbox', { retryAfterSeconds: 1 })
  const phoneNumberId = numberOfAccount(tenant.account)
  return {
    id: sandboxChannelId,
    tenant,
    baseUrl: provider.url,
    phoneNumberId,
    businessId: simulatedBusinessOf(phoneNumberId),
    displayNumber: '254700000000',
    token: provider.token,
    appSecret: provider.appSecret,
    verifyToken: provider.verifyToken,
  }
}

/** Account UUID as a decimal number, like provider ids; reversible without a table. */
function numberOfAccount(account: string): string {
  return BigInt(`0x${account.replaceAll('-', '')}`).toString()
}

function accountOfNumber(number: string): string | null {
  if (!/^\d{1,39}$/.test(number)) return null
  const digits = BigInt(number).toString(16).padStart(32, '0')
  const parts = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(digits)
  return parts?.slice(1).join('-') ?? null
}

/** Subscribes the webhook URL once per business; the provider then verifies it by a challenge. */
const subscribed = onePerApp((app) => {
  const done = new Map<string, Promise<void>>()
  const most = 10_000
  return (channel: Channel): Promise<void> => {
    const key = createHash('sha256').update(`${channel.baseUrl} ${channel.businessId}`).digest('base64url')
    let subscribing = done.get(key)
    if (!subscribing) {
      const url = `${app.publicUrl}/v1/messenger/ingress/${channel.id}`
      subscribing = providerOf(app)
        .subscribe(channel, url)
        .then((problem) => {
          if (problem === null) return
          done.delete(key)
          throw new AppError('PROVIDER_UNAVAILABLE', problem, { retryAfterSeconds: 1 })
        })
      const [oldest] = done.size >= most ? done.keys() : []
      if (oldest !== undefined) done.delete(oldest)
      done.set(key, subscribing)
    }
    return subscribing
  }
})
