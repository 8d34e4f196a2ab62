// SPDX-License-Identifier: Apache-2.0
// Banks: where paying by bank is offered, what a request must say, and what is shown of it.
import { type Static, Type } from 'typebox'
import { type Currency, isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { Amount, At } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Terms, termsOf, type Way } from './terms.ts'

export const bankProvider = 'bank'

/** Countries whose banks have accounts in a currency; the first is asked where none is spoken to in particular. */
const countriesBy: Readonly<Record<Currency, readonly string[]>> = {
  KES: ['KE'], TZS: ['TZ'], UGX: ['UG'], RWF: ['RW'], ETB: ['ET'], GHS: ['GH'], NGN: ['NG'], ZAR: ['ZA'], ZMW: ['ZM'],
  XOF: ['SN', 'CI', 'BJ', 'BF', 'GW', 'ML', 'NE', 'TG'], XAF: ['CM', 'GA', 'CG', 'TD', 'CF', 'GQ'], EGP: ['EG'],
  MAD: ['MA'], DZD: ['DZ'], TND: ['TN'], AOA: ['AO'], BWP: ['BW'], BIF: ['BI'], CVE: ['CV'], KMF: ['KM'], CDF: ['CD'],
  DJF: ['DJ'], SZL: ['SZ'], GMD: ['GM'], GNF: ['GN'], LSL: ['LS'], LRD: ['LR'], MGA: ['MG'], MWK: ['MW'], MRU: ['MR'],
  MUR: ['MU'], MZN: ['MZ'], NAD: ['NA'], STN: ['ST'], SCR: ['SC'], SLE: ['SL'], SOS: ['SO'], SSP: ['SS'], ZWG: ['ZW'],
  USD: ['US'], EUR: ['FR'], GBP: ['GB'], ERN: ['ER'], LYD: ['LY'], SDG: ['SD'],
} // biome-ignore format: a table reads better dense

export interface BankMarket {
  readonly country: string
  readonly currency: Currency
}

const markets: readonly BankMarket[] = Object.entries(countriesBy).flatMap(([currency, countries]) =>
  isCurrency(currency) ? countries.map((country) => ({ country, currency })) : [],
)

export const bankCountries: readonly string[] = markets.map(({ country }) => country)

export function bankMarkets({ currency, country }: { currency?: string | undefined; country?: string | undefined }) {
  return markets.filter(
    (one) =>
      (currency === undefined || one.currency === currency.toUpperCase()) &&
      (country === undefined || one.country === country.toUpperCase()),
  )
}

export function bankTermsOf(
  app: App,
  tenant: Pick<Tenant, 'account'>,
  direction: Way['direction'],
  { country, currency }: { country: string; currency: Currency },
): Terms {
  return termsOf(app, tenant, { direction, method: 'bank_transfer', provider: bankProvider, country }, currency)
}

/** The account that is debited. */
export const BankAccountIn = Type.Object(
  {
    account_number: Type.String({
      pattern: '^[A-Za-z0-9-]{4,34}$',
      rule: 'must have 4 to 34 letters, digits or -',
      sensitive: true,
      description: 'Account number as the bank writes it',
    }),
    bank_code: Type.String({
      pattern: '^[A-Za-z0-9]{2,11}$',
      rule: 'must have 2 to 11 letters or digits',
      description: 'Bank code, as listed by GET /v1/payments/methods',
    }),
    account_name: Type.String({
      minLength: 1,
      maxLength: 100,
      rule: 'must have 1 to 100 characters',
      description: 'Name of the account holder, as known to the bank',
    }),
  },
  { description: 'Account to debit; without it, a one-time account to pay into is returned' },
)
export type BankAccountIn = Static<typeof BankAccountIn>

export const bankFields = { bank: Type.Optional(BankAccountIn) }

/** Debited account as it is shown. */
export const BankShown = Type.Object(
  {
    bank_code: Type.String({ description: 'Bank code, as in `banks` of GET /v1/payments/methods' }),
    account_number: Type.String({ description: 'Last four characters of the account number' }),
    account_name: Type.String({ description: 'Account holder, as you provided it' }),
  },
  { title: 'PaymentBank', description: 'Account to debit' },
)

/** Account that the payer transfers to. */
export const BankTransfer = Type.Object(
  {
    bank_name: Type.String({ description: 'Bank to pay into' }),
    bank_code: Type.String({ description: 'Bank code used by payers’ banks' }),
    account_number: Type.String({ description: 'Account number for this payment alone' }),
    account_name: Type.String({ description: 'Name of the account holder' }),
    amount: Amount({ description: 'Exact amount to transfer' }),
    expires_at: At({ description: 'Deadline of the transfer' }),
  },
  { title: 'BankTransfer', description: 'Account that the payer transfers the money to' },
)

export type PayInto = Pick<Static<typeof BankTransfer>, 'bank_name' | 'bank_code' | 'account_number' | 'account_name'>

export function maskedAccount({ bank_code, account_number, account_name }: BankAccountIn): Static<typeof BankShown> {
  return { bank_code, account_number: `****${account_number.slice(-4)}`, account_name }
}
