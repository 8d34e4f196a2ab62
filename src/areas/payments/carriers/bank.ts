// SPDX-License-Identifier: Apache-2.0
// A bank, over protocols/bank.ts. It knows everything by our own id and takes each id once: what it says that it never
// heard of may be sent again.
import type { IncomingHttpHeaders } from 'node:http'
import { formatMicros } from '../../../kernel/money.ts'
import type { Clock } from '../../../platform/clock.ts'
import { type ProviderAnswer, ProviderClient } from '../../../platform/outbound/provider-http.ts'
import { isNoticeSigned } from '../../../protocols/acquirer.ts'
import {
  type BankObject,
  type BankState,
  bankCodes,
  bankPaths,
  bankSignatureHeader,
  banksIn,
  type DebitOrder,
  readBankAnswer,
  type TransferOrder,
  type VirtualAccountOrder,
} from '../../../protocols/bank.ts'
import type { Bank, BankOrder } from '../providers/bank.ts'
import { bankOutgoing } from '../providers/bank-payouts.ts'
import { bankRefunds } from '../providers/bank-refunds.ts'
import type { BankAccountIn } from '../providers/banks.ts'
import { baseUrl, type ProviderKind, type Surroundings, secretText } from '../providers/kind.ts'
import type { FailureReason, Verdict } from '../providers/provider.ts'
import { paidAs } from './paid-as.ts'

type BankSettings = { base_url: string; api_key: string; webhook_secret: string }

const orderMs = 30_000
const queryMs = 10_000
/** The list of banks changes by the year. */
const banksForMs = 3_600_000

/** Failure reasons by the bank's codes. Any other code is a fault on its side. */
const reasons: Readonly<Record<string, FailureReason>> = {
  [bankCodes.noMoney]: 'INSUFFICIENT_FUNDS',
  [bankCodes.noAccount]: 'PAYER_NOT_FOUND',
  [bankCodes.overLimit]: 'PAYER_LIMIT_REACHED',
  [bankCodes.refused]: 'USER_CANCELLED',
}

class BankCarrier implements Bank {
  readonly method = 'bank_transfer'
  readonly provider = 'bank'
  readonly outgoing = bankOutgoing(this)
  readonly refunds = bankRefunds(this)
  readonly #settings: BankSettings
  readonly #clock: Clock
  readonly #client: ProviderClient
  #banks: { list: readonly { code: string; name: string }[]; untilMs: number } = { list: [], untilMs: 0 }

  constructor(settings: BankSettings, { clock, http, patienceMs }: Surroundings) {
    this.#settings = settings
    this.#client = new ProviderClient(http, patienceMs)
    this.#clock = clock
  }

  async debit({ account, ...order }: BankOrder & { account: BankAccountIn }): Promise<Verdict> {
    const body: DebitOrder = { ...wireOf(order), account }
    return ordered(await this.#order(bankPaths.debits, body))
  }

  async queryDebit(id: string): Promise<Verdict> {
    return found(await this.#find(bankPaths.debits, id), (object) => inProgress(object))
  }

  async openAccount({ expiresAt, ...order }: BankOrder & { expiresAt: Date }): Promise<Verdict> {
    const body: VirtualAccountOrder = { ...wireOf(order), expires_at: expiresAt.toISOString() }
    return ordered(await this.#order(bankPaths.virtualAccounts, body))
  }

  async queryAccount(id: string, isOpen: boolean): Promise<Verdict> {
    return found(await this.#find(bankPaths.virtualAccounts, id), (object) => {
      // We decide when its time is over: the bank's clock may be ahead.
      if (object.state === 'expired' && !isOpen) return refused('EXPIRED')
      return inProgress(object)
    })
  }

  async payOut(order: BankOrder & ({ account: BankAccountIn } | { refundOf: string })): Promise<Verdict> {
    const where = 'account' in order ? { account: order.account } : { refund_of: order.refundOf }
    const body: TransferOrder = { ...wireOf(order), ...where }
    return ordered(await this.#order(bankPaths.transfers, body))
  }

  async queryPayout(id: string): Promise<Verdict> {
    return found(await this.#find(bankPaths.transfers, id), (object) => inProgress(object))
  }

  async banks(): Promise<readonly { code: string; name: string }[]> {
    if (this.#banks.untilMs > this.#clock.nowMs()) return this.#banks.list
    const answer = await this.#ask('GET', bankPaths.banks, undefined, queryMs)
    if (answer.kind === 'answered' && answer.status === 200)
      this.#banks = { list: banksIn(answer.body), untilMs: this.#clock.nowMs() + banksForMs }
    return this.#banks.list
  }

  isSigned(bytes: Buffer, headers: IncomingHttpHeaders): boolean {
    const nowSeconds = Math.floor(this.#clock.nowMs() / 1_000)
    return isNoticeSigned(this.#settings.webhook_secret, bytes, headers[bankSignatureHeader], nowSeconds)
  }

  stop(): Promise<void> {
    return this.#client.close()
  }

  #order(path: string, body: object): Promise<ProviderAnswer> {
    return this.#ask('POST', path, body, orderMs)
  }

  #find(path: string, id: string): Promise<ProviderAnswer> {
    return this.#ask('GET', `${path}/${id}`, undefined, queryMs)
  }

  #ask(method: 'GET' | 'POST', path: string, body: object | undefined, timeoutMs: number): Promise<ProviderAnswer> {
    const { base_url, api_key } = this.#settings
    return this.#client.ask({
      method,
      url: `${base_url}${path}`,
      headers: { authorization: `Bearer ${api_key}` },
      ...(body === undefined ? {} : { body }),
      timeoutMs,
    })
  }
}

function wireOf({ id, micros, currency, description, notifyUrl }: BankOrder) {
  return { id, amount: formatMicros(micros), currency, narration: description, notify_url: notifyUrl }
}

/** The answer to an order. */
function ordered(answer: ProviderAnswer): Verdict {
  if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
  if (answer.kind === 'unknown') return answer
  const heard = readBankAnswer(answer.status, answer.body)
  switch (heard.kind) {
    case 'object':
      return inProgress(heard.object)
    case 'refused':
      return refused(heard.code)
    case 'busy':
      return { kind: 'unavailable', reason: `an answer with status ${answer.status}` }
    case 'key':
      return { kind: 'unavailable', reason: 'the bank does not take our key' }
    default:
      return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  }
}

/** The answer to the question what became of one. */
function found(answer: ProviderAnswer, verdict: (object: BankObject) => Verdict): Verdict {
  if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
  const heard = readBankAnswer(answer.status, answer.body)
  if (heard.kind === 'object') return verdict(heard.object)
  return heard.kind === 'missing' ? heard : { kind: 'unknown', reason: `an answer with status ${answer.status}` }
}

const isTaken: Readonly<Record<BankState, boolean>> = {
  pending: true,
  open: true,
  expired: true,
  paid: false,
  failed: false,
}

function inProgress({ id, state, paidAmount: amount, currency, reference, code, account }: BankObject): Verdict {
  if (isTaken[state])
    return {
      kind: 'accepted',
      providerId: id,
      ...(account && state !== 'pending' ? { details: { pay_into: account } } : {}),
    }
  if (state !== 'paid') return refused(code)
  return paidAs(reference, { amount, currency })
}

function refused(code: string): Verdict {
  const reason = code === 'EXPIRED' ? 'TRANSACTION_TIMEOUT' : (reasons[code] ?? 'PROVIDER_ERROR')
  return { kind: 'refused', reason, code }
}

export const bank: ProviderKind = {
  method: 'bank_transfer',
  facts: { provider: 'bank', name: 'Bank transfer', tile: [['Bank'], '#52625c', '#ffffff'] },
  open: { base_url: baseUrl },
  secret: {
    api_key: secretText('API key at the bank'),
    webhook_secret: secretText('Secret for the signatures of the bank’s notifications'),
  },
  outgoing: { open: {}, secret: {} },
  identity: ['base_url', 'api_key'],
  connect: (settings: BankSettings, surroundings) => new BankCarrier(settings, surroundings),
}
