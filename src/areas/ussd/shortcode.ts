// SPDX-License-Identifier: Apache-2.0
// Shortcode such as *384*1#: its format, and which one matches a dialled string. Pure.

const form = /^\*\d{1,6}(\*\d{1,10}){0,8}#$/
/** Dialled string: a shortcode followed by keypad characters. */
const dialledForm = /^\*\d{1,6}(\*[\d*]{0,40})?#$/

export function isShortcode(text: string): boolean {
  return form.test(text)
}

export function isDialled(text: string): boolean {
  return dialledForm.test(text)
}

function partsOf(code: string): readonly string[] {
  return code.slice(1, -1).split('*')
}

/** Shortcodes that match a dialled string, longest first: *384*1*2# matches *384*1*2#, *384*1# and *384#. */
export function candidatesOf(dialled: string): readonly string[] {
  const parts = partsOf(dialled)
  return parts.map((_, i) => `*${parts.slice(0, parts.length - i).join('*')}#`).filter(isShortcode)
}

/** Parts of the dialled string after the shortcode: the subscriber's first inputs. */
export function extraParts(dialled: string, shortcode: string): readonly string[] {
  return partsOf(dialled)
    .slice(partsOf(shortcode).length)
    .filter((part) => part !== '')
}
