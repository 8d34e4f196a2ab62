// SPDX-License-Identifier: Apache-2.0
// All SQL of cards.
import type { CardBrand } from '../../../kernel/card.ts'
import { statement } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import type { PaymentRow } from '../records/store.ts'

type OfPayment = Tenant & { payment: string }

interface Kept {
  brand: CardBrand
  last4: string
  bin: string
  exp_month: number
  exp_year: number
  fingerprint: Buffer
}

export interface CardRow extends Kept {
  captures: boolean
  require_3ds: boolean
  charged_token: string | null
  saved_token: string | null
  capture_asked_at: Date | null
}

export interface TokenRow extends Kept {
  id: string
  acquirer_token: string
  customer: PaymentRow['customer']
  created_at: Date
}

const kept = 'brand, last4, bin, exp_month, exp_year, fingerprint'

export const insertCard = statement.tenant<
  OfPayment & {
    brand: string
    last4: string
    bin: string
    expMonth: number
    expYear: number
    fingerprint: Buffer
    captures: boolean
    require3ds: boolean
    chargedToken: string | null
    savedToken: string | null
  },
  object
>(
  'payments.insert_card',
  `insert into payments.cards (bucket, account_id, environment, payment_id, ${kept}, captures, require_3ds,
     charged_token, saved_token)
   values ($bucket, $account, $environment, $payment, $brand, $last4, $bin, $expMonth, $expYear, $fingerprint, $captures,
     $require3ds, $chargedToken, $savedToken)`,
)

export const findCard = statement.tenant<OfPayment, CardRow>(
  'payments.find_card',
  `select ${kept}, captures, require_3ds, charged_token, saved_token, capture_asked_at
     from payments.cards where ${mine} and payment_id = $payment`,
)

/** Asks for a capture once; none for everybody else. */
export const askCapture = statement.tenant<OfPayment & { at: Date }, { payment_id: string }>(
  'payments.ask_capture',
  `update payments.cards set capture_asked_at = $at
    where ${mine} and payment_id = $payment and not captures and capture_asked_at is null
   returning payment_id`,
)

/** Sets the amount of the payment to the captured part. */
export const amendAmount = statement.tenant<
  OfPayment & { amount: bigint; fee: bigint; details: string; at: Date },
  { id: string }
>(
  'payments.amend_amount',
  `update payments.payments set amount = $amount, fee = $fee, details = details || $details::jsonb, updated_at = $at
    where ${mine} and id = $payment and status = 'processing'
   returning id`,
)

/** Saves the card of a payment, if that was asked for and is not done. */
export const saveCard = statement.tenant<OfPayment & { acquirerToken: string; at: Date }, object>(
  'payments.save_card',
  `insert into payments.card_tokens (bucket, account_id, environment, id, acquirer_token, ${kept}, customer, created_at)
   select c.bucket, c.account_id, c.environment, c.saved_token, $acquirerToken, c.brand, c.last4, c.bin, c.exp_month,
          c.exp_year, c.fingerprint, p.customer, $at
     from payments.cards c
     join payments.payments p on p.bucket = c.bucket and p.account_id = c.account_id and p.environment = c.environment
      and p.id = c.payment_id
    where c.bucket = $bucket and c.account_id = $account and c.environment = $environment and c.payment_id = $payment
      and c.saved_token is not null
   on conflict do nothing`,
)

const tokenColumns = `id, acquirer_token, ${kept}, customer, created_at`

export const findToken = statement.tenant<Tenant & { id: string }, TokenRow>(
  'payments.find_card_token',
  `select ${tokenColumns} from payments.card_tokens where ${mine} and id = $id`,
)

export const listTokens = statement.tenant<
  Tenant & { customer: string | null; after: string | null; descending: boolean; limit: number },
  TokenRow
>(
  'payments.list_card_tokens',
  `select ${tokenColumns} from payments.card_tokens
    where ${mine} and ($customer::text is null or customer->>'customer_id' = $customer)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

/** Deletes a saved card; a late report on its payment does not save it again. */
export const deleteToken = statement.tenant<Tenant & { id: string }, TokenRow>(
  'payments.delete_card_token',
  `with unsaved as (update payments.cards set saved_token = null where ${mine} and saved_token = $id)
   delete from payments.card_tokens where ${mine} and id = $id returning ${tokenColumns}`,
)
