// SPDX-License-Identifier: Apache-2.0
// Contract of a bank carrier: it debits accounts, waits for transfers to others and sends transfers, and is
// asked how that went.
import type { IncomingHttpHeaders } from 'node:http'
import type { Currency } from '../../../kernel/money.ts'
import type { BankAccountIn } from './banks.ts'
import type { BankDisbursement, Outgoing, RefundCarrier, Verdict } from './provider.ts'

/** Something that a bank is asked for, by our own id. */
export interface BankOrder {
  id: string
  micros: bigint
  currency: Currency
  description: string
  notifyUrl: string
}

/** Bank that takes and sends money. It takes an id once, so a request that it never heard of may be sent again. */
export interface Bank {
  readonly method: 'bank_transfer'
  readonly provider: string
  readonly outgoing: Outgoing<BankDisbursement>
  readonly refunds: RefundCarrier
  debit(order: BankOrder & { account: BankAccountIn }): Promise<Verdict>
  queryDebit(id: string): Promise<Verdict>
  openAccount(order: BankOrder & { expiresAt: Date }): Promise<Verdict>
  /** `isOpen`: whether the payment still waits for its money. */
  queryAccount(id: string, isOpen: boolean): Promise<Verdict>
  /** Sends money to an account, or back to where that of a debit or one-time account came from. */
  payOut(order: BankOrder & ({ account: BankAccountIn } | { refundOf: string })): Promise<Verdict>
  queryPayout(id: string): Promise<Verdict>
  /** The banks whose accounts it reaches; none while it does not say. */
  banks(): Promise<readonly { code: string; name: string }[]>
  isSigned(bytes: Buffer, headers: IncomingHttpHeaders): boolean
  stop(): Promise<void>
}
