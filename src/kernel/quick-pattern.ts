// SPDX-License-Identifier: Apache-2.0
// Regular expressions of customers, run on the event loop: only forms that cannot take exponential time. Pure.

const atom = String.raw`(?:\\[dwsDWS.+*?()[\]{}|^$\\/-]|\[\^?[^[\]]+\]|[^\\[\](){}|*+?^$])`
const often = String.raw`(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})?`
const alternative = String.raw`\^?(?:${atom}${often})*\$?`
/** Single characters, escapes and classes, each with how often it may come, and whole alternatives; no groups. */
const form = new RegExp(String.raw`^${alternative}(?:\|${alternative})*$`)
/** Unbounded parts per pattern. Each may try every length of an input: with two, any input is quick. */
const maxOpenParts = 2

/** Rule for patterns, as the end of a sentence. */
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
