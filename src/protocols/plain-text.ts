// SPDX-License-Identifier: Apache-2.0
// Plain text for providers: most refuse other characters, and phones do not show them reliably.

/** Without what is refused, and cut to what fits; it may be empty then. */
export function plainText(text: string, length: number, refused = /[^A-Za-z0-9 .-]/g): string {
  return text.replace(refused, '').slice(0, length).trim()
}
