// SPDX-License-Identifier: Apache-2.0
// A shortcode such as *384*1#: its form, and which of several answers what a subscriber dialled. Pure.

const form = /^\*\d{1,6}(\*\d{1,10}){0,8}#$/
/** What a handset may send: a shortcode with anything a keypad has behind it. */
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

/** Every shortcode that would answer a dialled string, the longest first: *384*1*2# may be that of *384*1*2#, *384*1# or *384#. */
export function candidatesOf(dialled: string): readonly string[] {
  const parts = partsOf(dialled)
  return parts.map((_, i) => `*${parts.slice(0, parts.length - i).join('*')}#`).filter(isShortcode)
}

/** Parts of the dialled string behind the shortcode, which are the subscriber's first inputs. */
export function extraParts(dialled: string, shortcode: string): readonly string[] {
  return partsOf(dialled)
    .slice(partsOf(shortcode).length)
    .filter((part) => part !== '')
}
