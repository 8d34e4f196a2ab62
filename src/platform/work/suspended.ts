// SPDX-License-Identifier: Apache-2.0
// What an operator's suspending an account means for work that was accepted before. Nothing new goes out: no text, no payout
// and no request for money. What a carrier or a provider already has is followed to its end, and what comes in is stored and
// told. Whoever is about to begin something learns with what it reads anyway whether the account is suspended
// (accounts.is_suspended), and waits.

/** How soon what waits because its account is suspended looks again; then it goes on where the account is active. */
export const suspendedMs = 300_000
