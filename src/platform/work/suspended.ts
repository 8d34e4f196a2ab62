// SPDX-License-Identifier: Apache-2.0
// Suspended accounts and accepted work: nothing new is sent, no text, payout or payment request. Work a carrier or
// provider already has is completed, and inbound data is stored and reported. A job reads the suspension with its rows
// (accounts.is_suspended) and waits.

/** Delay before a suspended account's job checks again. */
export const suspendedMs = 300_000
