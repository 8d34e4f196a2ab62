// SPDX-License-Identifier: Apache-2.0
// Every way to pay that this program knows: a line each.
import { invalidAt } from '../../../kernel/errors.ts'
import type { NewPayment } from '../records/input.ts'
import type { PaymentRow } from '../records/store.ts'
import { bankTransfer } from './bank.ts'
import { card } from './card.ts'
import type { PaymentMethod } from './method.ts'
import { mobileMoney } from './mobile-money.ts'

const methods: readonly PaymentMethod[] = [card, bankTransfer, mobileMoney]

/** The method that a payment was made with. */
export function methodOf({ method }: Pick<PaymentRow, 'method'>): PaymentMethod {
  const found = methods.find(({ name }) => name === method)
  if (!found) throw new Error(`nobody knows how a payment by ${method} is made`)
  return found
}

/** The method that a request asks for: by name, or by what only that one needs. */
export function methodFor(input: NewPayment): PaymentMethod {
  const named = input.method?.toLowerCase()
  const method = methods.find((one) => (named === undefined ? one.isMeant(input) : one.name === named)) ?? mobileMoney
  // A card that is not charged was sent by mistake, and the request must be refused.
  if (method !== card && (input.card !== undefined || input.card_token !== undefined))
    throw invalidAt('method', `a card is not charged by ${method.name}`)
  if (input.card !== undefined && input.card_token !== undefined)
    throw invalidAt('card_token', 'cannot be combined with card')
  if (input.card_token !== undefined && input.require_3ds)
    throw invalidAt('require_3ds', 'is not available for saved cards, which are charged without the payer')
  if (method !== bankTransfer && input.bank !== undefined)
    throw invalidAt('method', `a bank account is not debited by ${method.name}`)
  if (method !== card && input.capture === false)
    throw invalidAt('capture', `an amount can be reserved on cards only, not by ${method.name}`)
  if (method !== card && input.save_card)
    throw invalidAt('save_card', `there is no card to save in a payment by ${method.name}`)
  return method
}
