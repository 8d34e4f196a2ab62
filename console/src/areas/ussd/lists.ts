// SPDX-License-Identifier: Apache-2.0
// List of USSD sessions.
import { ussdListMenus, ussdListSessions, ussdListShortcodes } from '#sdk/operations.ts'
import { created, type ListOf, state } from '../../kit/list-page.tsx'
import { newMenu, newShortCode } from './forms.ts'

export const sessions: ListOf = {
  title: 'USSD sessions',
  icon: 'hash',
  path: ussdListSessions.at(),
  keyField: 'session_id',
  open: ['/ussd/', 'session_id'],
  live: 'ussd.',
  dates: ['start_date', 'end_date'],
  sorts: true,
  columns: [
    created,
    { name: 'Phone', field: 'phone', as: 'mono', priority: 1, card: 'title', grows: true },
    { name: 'Code', field: 'shortcode', as: 'mono', priority: 1, card: 'sub' },
    { name: 'Steps', field: 'total_steps', as: 'count', priority: 2, card: 'end' },
    { name: 'Ended', field: 'reason', as: 'words', priority: 3 },
    state,
  ],
  filters: [
    { name: 'status', label: 'State', among: ['initiated', 'active', 'completed', 'expired'] },
    { name: 'phone', label: 'Phone' },
    { name: 'shortcode', label: 'Code' },
  ],
}

export const menus: ListOf = {
  title: 'USSD menus',
  icon: 'tree',
  path: ussdListMenus.at(),
  keyField: 'id',
  open: ['/menus/', 'id'],
  deeds: [{ name: 'Create menu', icon: 'plus', isMain: true, scope: 'ussd:write', form: newMenu }],
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
    {
      name: 'Screens',
      field: 'nodes',
      as: 'count',
      priority: 2,
      text: (nodes) => String(Object.keys(Object(nodes)).length),
    },
    { name: 'Version', field: 'version', as: 'count', priority: 2, card: 'end' },
    { name: 'Menu', field: 'id', as: 'id', priority: 3, card: 'sub' },
  ],
  none: { title: 'No menus', advice: 'Menus answer short codes without an application of your own.' },
}

export const shortCodes: ListOf = {
  title: 'Short codes',
  icon: 'keypad',
  path: ussdListShortcodes.at(),
  keyField: 'shortcode',
  open: ['/short-codes/', 'shortcode'],
  deeds: [{ name: 'Add a short code', icon: 'plus', isMain: true, scope: 'ussd:write', form: newShortCode }],
  columns: [
    { name: 'Short code', field: 'shortcode', as: 'mono', priority: 1, card: 'title' },
    { name: 'Answered by', field: 'mode', as: 'words', priority: 1, card: 'end' },
    { name: 'Address', field: 'url', orField: 'menu_id', priority: 2, card: 'sub', grows: true },
  ],
  none: { title: 'No short codes', advice: 'Subscribers dial a short code such as *384# to open your menu.' },
}
