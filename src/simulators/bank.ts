// SPDX-License-Identifier: Apache-2.0
// Bank simulator on a real port. The last four digits of an account decide the outcome of a debit or a transfer;
// virtual accounts are paid by a request. Every change is reported, signed.
import { randomBytes, randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { parseAmount } from '../kernel/money.ts'
import { parseMoment } from '../kernel/time.ts'
import { signNotice } from '../protocols/acquirer.ts'
import { type BankState, bankCodes, bankPaths, bankSignatureHeader } from '../protocols/bank.ts'
import { membersOf, textOf } from '../protocols/json.ts'
import type { Book } from './journal.ts'
import { type Asked, type ProviderServerOptions, SimulatedProvider, say } from './provider-server.ts'

export interface BankOptions extends ProviderServerOptions {
  apiKey: string
  webhookSecret: string
}

const maxObjects = 100_000
const decidesMs = 2_000
const sandboxBank = { code: '999', name: 'Sandbox Bank' } as const

interface Held {
  kind: keyof Pick<typeof bankPaths, 'debits' | 'virtualAccounts' | 'transfers'>
  id: string
  status: BankState
  amount: string
  currency: string
  account: Record<string, string>
  notifyUrl: string
  expiresMs: number | null
  paidAmount: string | null
  reference: string | null
  code: string | null
}

interface Ending {
  status: 'paid' | 'failed'
  code: string | null
}

const paying: Ending = { status: 'paid', code: null }

/** Outcome by account; null: none, ever. */
const endings: Readonly<Record<string, Ending | null>> = {
  '0001': paying,
  '0002': { status: 'failed', code: bankCodes.noMoney },
  '0003': null,
}
const noAccount = '0004'
/** The connection is cut: after the order was taken, or before it, the first time. */
const cut = '0011'
const lost = '0016'
const busy = '0012'

export class BankSimulator extends SimulatedProvider {
  readonly #options: BankOptions
  /** Number of a virtual account -> what is held of it. */
  readonly #virtual = new Map<string, Held>()
  readonly #objects: Book<Held>
  /** Orders that were not taken the first time. */
  readonly #lost: Book<true>

  private constructor(options: BankOptions) {
    super(options)
    this.#options = options
    this.#objects = this.journal.book({
      name: 'objects',
      most: maxObjects,
      due: (held) => this.#goOn(held),
      forgotten: (held) => this.#virtual.delete(numberOf(held)),
    })
    for (const held of this.#objects.values())
      if (held.kind === 'virtualAccounts') this.#virtual.set(numberOf(held), held)
    this.#lost = this.journal.book({ name: 'lost', most: maxObjects })
  }

  static start(options: BankOptions): Promise<BankSimulator> {
    return new BankSimulator(options).listening()
  }

  protected override answer(asked: Asked, response: ServerResponse): void {
    const { method, path, headers } = asked
    if (headers.authorization !== `Bearer ${this.#options.apiKey}`) return say(response, 401, { code: 'UNAUTHORIZED' })
    if (method === 'GET' && path === bankPaths.banks) return say(response, 200, { banks: [sandboxBank] })
    if (method === 'GET') return this.#tell(path, response)
    if (path === bankPaths.debits) return this.#order('debits', asked, response)
    if (path === bankPaths.transfers) return this.#order('transfers', asked, response)
    if (path === bankPaths.virtualAccounts) return this.#open(asked, response)
    if (path === bankPaths.credits) return this.#payIn(asked, response)
    say(response, 404, { code: 'NOT_FOUND' })
  }

  #tell(path: string, response: ServerResponse): void {
    const [, , , id = ''] = path.split('/')
    const held = this.#objects.get(id)
    if (!held || path !== `${bankPaths[held.kind]}/${id}`) return say(response, 404, { code: 'NOT_FOUND' })
    say(response, 200, this.#shown(held))
  }

  /** A debit or a transfer. */
  #order(kind: 'debits' | 'transfers', { body }: Asked, response: ServerResponse): void {
    const known = this.#objects.get(textOf(body?.id))
    if (known) return say(response, known.kind === kind ? 200 : 422, this.#shown(known))
    const source = kind === 'transfers' ? this.#objects.get(textOf(body?.refund_of)) : undefined
    // Money from a virtual account goes back to the account that paid it in.
    const account = source ? { ...source.account, bank_code: sandboxBank.code } : membersOf(body?.account)
    const held = this.#held(kind, body, {
      bank_code: textOf(account.bank_code),
      account_number: textOf(account.account_number),
      account_name: textOf(account.account_name),
    })
    const number = textOf(account.account_number)
    if (!held || number === '') return say(response, 422, { code: bankCodes.invalid })
    if (account.bank_code !== sandboxBank.code || number.endsWith(noAccount))
      return say(response, 422, { code: bankCodes.noAccount })
    if (number.endsWith(busy)) return say(response, 503)
    if (number.endsWith(lost) && !this.#lost.has(held.id)) {
      this.#lost.put(held.id, true)
      return void response.destroy()
    }
    this.#objects.put(held.id, held, endingOf(held) ? decidesMs : undefined)
    if (number.endsWith(cut)) response.destroy()
    else say(response, 202, this.#shown(held))
  }

  /** Decides what is not decided yet, and tells. */
  async #goOn(held: Held): Promise<undefined> {
    const ending = endingOf(held)
    if (held.status === 'pending' && ending) {
      held.status = ending.status
      held.code = ending.code
      if (ending.status === 'paid') this.#pay(held, held.amount)
      this.#objects.keep(held.id)
    }
    await this.#notify(held)
  }

  #open({ body }: Asked, response: ServerResponse): void {
    const known = this.#objects.get(textOf(body?.id))
    if (known) return say(response, known.kind === 'virtualAccounts' ? 200 : 422, this.#shown(known))
    const expiresAt = parseMoment(textOf(body?.expires_at))
    const number = `99${randomInt(10 ** 8, 10 ** 9)}`
    const held = this.#held('virtualAccounts', body, {
      bank_name: sandboxBank.name,
      bank_code: sandboxBank.code,
      account_number: number,
      account_name: textOf(body?.narration) || 'Payment',
    })
    if (!held || !expiresAt) return say(response, 422, { code: bankCodes.invalid })
    if (this.#virtual.has(number)) return say(response, 503)
    held.status = 'open'
    held.expiresMs = expiresAt.getTime()
    this.#objects.put(held.id, held)
    this.#virtual.set(number, held)
    say(response, 201, this.#shown(held))
  }

  /** Pays any amount into a virtual account; one that is paid or expired takes no more. */
  #payIn({ body }: Asked, response: ServerResponse): void {
    const held = this.#virtual.get(textOf(body?.account_number))
    if (!held) return say(response, 404, { code: bankCodes.noAccount })
    const amount = textOf(body?.amount)
    if (typeof parseAmount(amount, 6) !== 'bigint') return say(response, 422, { code: bankCodes.invalid })
    if (this.#stateOf(held) !== 'open') return say(response, 409, { code: bankCodes.closed })
    this.#pay(held, amount)
    this.#objects.put(held.id, held, 0)
    say(response, 200, this.#shown(held))
  }

  #pay(held: Held, amount: string): void {
    held.status = 'paid'
    held.paidAmount = amount
    held.reference = `BNK${randomBytes(6).toString('hex').toUpperCase()}`
  }

  #held(kind: Held['kind'], body: Asked['body'], account: Record<string, string>): Held | null {
    const id = textOf(body?.id)
    const amount = textOf(body?.amount)
    const currency = textOf(body?.currency)
    const micros = parseAmount(amount, 6)
    if (id === '' || !/^[A-Z]{3}$/.test(currency) || typeof micros !== 'bigint' || micros === 0n) return null
    const notifyUrl = textOf(body?.notify_url)
    return {
      kind,
      id,
      status: 'pending',
      amount,
      currency,
      account,
      notifyUrl,
      expiresMs: null,
      paidAmount: null,
      reference: null,
      code: null,
    }
  }

  #stateOf({ status, expiresMs }: Held): BankState {
    return status === 'open' && expiresMs !== null && expiresMs <= this.#options.now() ? 'expired' : status
  }

  #shown(held: Held): object {
    const { id, amount, currency, account, paidAmount, reference, code } = held
    return {
      id,
      status: this.#stateOf(held),
      amount,
      currency,
      account,
      ...(paidAmount === null ? {} : { paid_amount: paidAmount, reference }),
      ...(code === null ? {} : { code }),
    }
  }

  async #notify(held: Held): Promise<void> {
    if (!held.notifyUrl.startsWith('https://')) return
    const body = this.#shown(held)
    const { webhookSecret, now } = this.#options
    const signature = signNotice(webhookSecret, JSON.stringify(body), Math.floor(now() / 1_000))
    await this.server.call('POST', held.notifyUrl, body, { [bankSignatureHeader]: signature })
  }
}

/** Outcome of a debit or a transfer; null: none. */
function endingOf(held: Held): Ending | null {
  const [, ending = paying] = Object.entries(endings).find(([digits]) => numberOf(held).endsWith(digits)) ?? []
  return ending
}

function numberOf({ account }: Held): string {
  return account.account_number ?? ''
}
