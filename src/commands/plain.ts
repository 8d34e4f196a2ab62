// SPDX-License-Identifier: Apache-2.0
// Text of others on a terminal.

/** Text without line breaks and other characters that would steer the terminal that shows it. */
export function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => (/\s/.test(character) ? ' ' : '\uFFFD'))
}
