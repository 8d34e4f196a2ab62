// SPDX-License-Identifier: Apache-2.0
// Bank protocol, both ends: JSON over HTTPS with a key. The client names each request by an id of its own, which is
// taken once: the same id again is answered with its state. Debits take money from an account, virtual accounts wait
// for it, transfers send it. Changes are sent to the notify_url, signed as acquirers do.
import { membersOf, textOf } from './json.ts'

export const bankPaths = {
  banks: '/v1/banks',
  debits: '/v1/debits',
  virtualAccounts: '/v1/virtual-accounts',
  transfers: '/v1/transfers',
  /** The other side's counter, where a payer pays in: simulators alone have it. */
  credits: '/v1/credits',
} as const

export const bankSignatureHeader = 'x-bank-signature'

/** Codes of a bank's refusals. */
export const bankCodes = {
  noMoney: 'INSUFFICIENT_FUNDS',
  noAccount: 'ACCOUNT_NOT_FOUND',
  overLimit: 'LIMIT_EXCEEDED',
  refused: 'REFUSED_BY_HOLDER',
  invalid: 'INVALID_REQUEST',
  closed: 'ACCOUNT_CLOSED',
} as const

interface BankAccount {
  bank_code: string
  account_number: string
  account_name: string
}

interface Order {
  /** Ours. */
  id: string
  /** Major units, as decimal text. */
  amount: string
  currency: string
  narration: string
  notify_url: string
}

export interface DebitOrder extends Order {
  account: BankAccount
}

export interface VirtualAccountOrder extends Order {
  /** RFC 3339. */
  expires_at: string
}

/** Money goes to an account, or back to where that of a debit or virtual account came from. */
export type TransferOrder = Order & ({ account: BankAccount } | { refund_of: string })

export type BankState = 'pending' | 'open' | 'paid' | 'failed' | 'expired'

/** A debit, virtual account or transfer, as the bank shows it. */
export interface BankObject {
  id: string
  state: BankState
  /** Paid amount, in the bank's words; empty while unpaid. */
  paidAmount: string
  currency: string
  reference: string | null
  code: string
  /** Virtual account to pay into. */
  account: (BankAccount & { bank_name: string }) | null
}

export type BankAnswer =
  | { kind: 'object'; object: BankObject }
  | { kind: 'refused'; code: string }
  | { kind: 'missing' }
  /** Not taken; may be later. */
  | { kind: 'busy' }
  /** The key is not good. */
  | { kind: 'key' }
  | { kind: 'strange' }

const states: readonly BankState[] = ['pending', 'open', 'paid', 'failed', 'expired']

export function readBankAnswer(status: number, body: unknown): BankAnswer {
  if (status === 401) return { kind: 'key' }
  if (status === 404) return { kind: 'missing' }
  if (status === 429 || status === 503) return { kind: 'busy' }
  const members = membersOf(body)
  if (status === 422) return { kind: 'refused', code: textOf(members.code) }
  const object = objectIn(members)
  return object && status >= 200 && status < 300 ? { kind: 'object', object } : { kind: 'strange' }
}

/** Id of the object that a notice is about; null when it is no notice. Its state is polled. */
export function noticeIdIn(body: unknown): string | null {
  return textOf(membersOf(body).id) || null
}

export function banksIn(body: unknown): { code: string; name: string }[] {
  const { banks } = membersOf(body)
  return (Array.isArray(banks) ? banks : []).flatMap((one) => {
    const { code, name } = membersOf(one)
    return typeof code === 'string' && typeof name === 'string' ? [{ code, name }] : []
  })
}

function objectIn(members: Record<string, unknown>): BankObject | null {
  const state = states.find((known) => known === members.status)
  const id = textOf(members.id)
  if (state === undefined || id === '') return null
  const paidAmount = textOf(members.paid_amount)
  // Money that came without saying how much cannot be booked.
  if (state === 'paid' && paidAmount === '') return null
  const account = membersOf(members.account)
  return {
    id,
    state,
    paidAmount,
    currency: textOf(members.currency),
    reference: textOf(members.reference) || null,
    code: textOf(members.code),
    account:
      textOf(account.account_number) === ''
        ? null
        : {
            bank_name: textOf(account.bank_name),
            bank_code: textOf(account.bank_code),
            account_number: textOf(account.account_number),
            account_name: textOf(account.account_name),
          },
  }
}
