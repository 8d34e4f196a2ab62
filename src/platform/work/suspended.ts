// SPDX-License-Identifier: Apache-2.0
// Suspended accounts, for work that was accepted before: nothing new goes out, no text, no payout and no request for money.
// Work that a carrier or a provider already has is followed to its end, and what comes in is stored and told. A job reads with
// its own rows whether the account is suspended (accounts.is_suspended), and waits.

/** Delay before a suspended account's job checks again. */
export const suspendedMs = 300_000
