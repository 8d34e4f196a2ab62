// SPDX-License-Identifier: Apache-2.0
// Facts by which a card is judged: its brand, its first digits and its fingerprint, never its number.
import { brandOf, passesLuhn } from '../../../kernel/card.ts'
import type { App } from '../../../platform/app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { testCardRisks } from '../../../protocols/test-cards.ts'
import type { RiskHint, SubjectCard } from './fields.ts'

const binLength = 6

/** Fingerprint of a card number: equal for equal numbers of this installation; 64 hexadecimal digits. */
export function fingerprintOf(app: App, number: string): string {
  return app.secrets.fingerprint('payments.cards', number).toString('hex')
}

/** Facts of a card by its number. */
export function cardOf(app: App, number: string): SubjectCard {
  return { brand: brandOf(number), bin: number.slice(0, binLength), fingerprint: fingerprintOf(app, number) }
}

/** Whether the digits are a card number: the length is one, and the last digit is right. */
export function isCardNumber(number: string): boolean {
  return /^\d{12,19}$/.test(number) && passesLuhn(number)
}

/** Risk that a test card provokes. */
export function riskHintOf(number: string, environment: Environment): RiskHint | null {
  return environment === 'test' && Object.hasOwn(testCardRisks, number) ? (testCardRisks[number] ?? null) : null
}
