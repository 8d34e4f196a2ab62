// SPDX-License-Identifier: Apache-2.0
// Regular expressions that customers write and the event loop runs: only those that nobody can write so that they take for
// ever. Pure.

const atom = String.raw`(?:\\[dwsDWS.+*?()[\]{}|^$\\/-]|\[\^?[^[\]]+\]|[^\\[\](){}|*+?^$])`
const often = String.raw`(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})?`
const alternative = String.raw`\^?(?:${atom}${often})*\$?`
/** Single characters, escapes and classes, each with how often it may come, and whole alternatives; no groups. */
const form = new RegExp(String.raw`^${alternative}(?:\|${alternative})*$`)
/** Each may try every length of an input: two of them are quick, whatever is typed. */
const maxOpenParts = 2

/** What may be written, as the end of a sentence. */
export const quickPatternRule =
  'characters, classes such as \\d or [a-z], alternatives with |, and at most two of * + ? {n,m}, without groups'

export function isQuickPattern(text: string): boolean {
  if (!form.test(text) || (text.match(/[*+?]|\{\d+,/g) ?? []).length > maxOpenParts) return false
  try {
    new RegExp(text, 'u')
    return true
  } catch {
    return false
  }
}
