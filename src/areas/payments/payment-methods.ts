// SPDX-License-Identifier: Apache-2.0
// Every way to pay that this program knows: a line each.
import { card } from './cards/method.ts'
import type { NewPayment } from './input.ts'
import type { PaymentMethod } from './method.ts'
import { mobileMoney } from './mobile-money/method.ts'
import type { PaymentRow } from './store.ts'

const methods: readonly PaymentMethod[] = [card, mobileMoney]

/** The method that a payment was made with. */
export function methodOf({ method }: Pick<PaymentRow, 'method'>): PaymentMethod {
  const found = methods.find(({ name }) => name === method)
  if (!found) throw new Error(`nobody knows how a payment by ${method} is made`)
  return found
}

/** The method that a request asks for: by name, or by what only that one needs. */
export function methodFor(input: NewPayment): PaymentMethod {
  return input.method === undefined
    ? (methods.find((one) => one.isMeant(input)) ?? mobileMoney)
    : methodOf({ method: input.method })
}
