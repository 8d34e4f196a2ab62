// SPDX-License-Identifier: Apache-2.0
// Numbers that a sandbox takes, and what is agreed to happen with each. All of them pass the check of card numbers, and
// no bank gives them out.

/** Behaviour of an acquirer with a card. */
export type CardPlay =
  | 'approved'
  | 'declined'
  | 'no_money'
  | 'expired'
  | 'wrong_cvc'
  | 'stumbles'
  | 'challenged'
  | 'challenged_declined'
  | 'refund_late'
  | 'refund_fails'
  | 'refund_bounces'
  | 'disputed'
  | 'declined_later'
  | 'cut'
  | 'down'

const plays: Readonly<Record<string, CardPlay>> = {
  '4242424242424242': 'approved',
  '5555555555554444': 'approved',
  '5061460410120223210': 'approved',
  '378282246310005': 'approved',
  '4000000000000002': 'declined',
  '4000000000009995': 'no_money',
  '4000000000000069': 'expired',
  '4000000000000127': 'wrong_cvc',
  '4000000000000119': 'stumbles',
  '4000000000003220': 'challenged',
  '4000002760003184': 'challenged',
  '4000008400001629': 'challenged_declined',
  '4000000000009235': 'approved',
  '4000000000004954': 'approved',
  '4000000000007726': 'refund_late',
  '4000000000005126': 'refund_fails',
  '4000000000005134': 'refund_bounces',
  '4000000000000259': 'disputed',
  '4000000000000317': 'declined_later',
  '4000000000000341': 'cut',
  '4000000000000333': 'down',
}

/** Every number that begins so is approved. */
const approvedBeginning = '424242'

/** Play of a test card; null for any other number. */
export function playOfCard(digits: string): CardPlay | null {
  if (Object.hasOwn(plays, digits)) return plays[digits] ?? null
  return digits.startsWith(approvedBeginning) ? 'approved' : null
}

/** Risk of test cards, before the acquirer is asked. */
export const testCardRisks: Readonly<Record<string, 'high' | 'very_high'>> = {
  '4000000000009235': 'high',
  '4000000000004954': 'very_high',
}
