// SPDX-License-Identifier: Apache-2.0
// Plain text for providers: most refuse other characters, and phones do not show them reliably.

/** Text without refused characters, cut to the length; it may become empty. */
export function plainText(text: string, length: number, refused = /[^A-Za-z0-9 .-]/g): string {
  return text.replace(refused, '').slice(0, length).trim()
}
