// SPDX-License-Identifier: Apache-2.0
// Forms of USSD: menus, short codes, and a session that we begin.
import { ussdChangeShortcode, ussdCreateMenu, ussdCreateShortcode, ussdInitiate } from '#sdk/operations.ts'
import type { UssdShortcode } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { oneOf } from '../../kit/choose.tsx'
import { type FieldOf, type FormOf, formOf } from '../../kit/form.tsx'
import { ussdMenus } from '../../kit/known.ts'
import { go } from '../../place.tsx'

/** A menu begins with one screen of two answers; it is built on its page. */
export const newMenu: FormOf = {
  title: 'Create menu',
  fields: [
    { name: 'name', label: 'Name', isRequired: true },
    { name: 'text', label: 'First screen', isLong: true, isRequired: true },
  ],
  async make({ name = '', text = '' }) {
    const { id } = await ussdCreateMenu(api, {
      body: { name, start: 'start', nodes: { start: { text, end: true } } },
    })
    go(`/menus/${id}`)
    return null
  },
}

const fields: readonly FieldOf[] = [
  { name: 'mode', label: 'Answered by', among: ['menu', 'webhook', 'text'] },
  { name: 'menu_id', label: 'Menu', show: oneOf(ussdMenus) },
  { name: 'url', label: 'Address', hint: 'https://…; URL of your application, without a menu' },
  { name: 'fallback_url', label: 'Fallback URL' },
  { name: 'error_message', label: 'Error message' },
  { name: 'timeout', label: 'Timeout, seconds', as: 'number' },
]

export const newShortCode: FormOf = formOf(ussdCreateShortcode, {
  title: 'Add a short code',
  action: 'Add',
  fields: [{ name: 'shortcode', label: 'Short code', isRequired: true, hint: 'Such as *384#' }, ...fields],
  initial: { mode: 'menu' },
})

export const changeShortCode = (code: UssdShortcode): FormOf =>
  formOf(ussdChangeShortcode, {
    title: 'Edit short code',
    action: 'Save',
    given: { code: code.shortcode },
    fields,
    initial: {
      ...{ mode: code.mode, menu_id: code.menu_id ?? undefined, url: code.url ?? undefined },
      ...{ fallback_url: code.fallback_url ?? undefined, error_message: code.error_message },
      timeout: String(code.timeout),
    },
  })

export const beginSession = (shortcode: string): FormOf =>
  formOf(ussdInitiate, {
    title: 'Start a session',
    action: 'Begin',
    fixed: { shortcode },
    fields: [
      { name: 'phone', label: 'Phone', isRequired: true },
      { name: 'message', label: 'Text', isLong: true, isRequired: true },
    ],
  })
