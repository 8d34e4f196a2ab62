// SPDX-License-Identifier: Apache-2.0
// SQL of shortcodes, and the settings a session copies.
import { firstBy } from '../../platform/db/merging.ts'
import { statement } from '../../platform/db.ts'
import type { Environment } from '../../platform/tenant.ts'
import { defaultPageWords } from './screen.ts'
import type { Setup } from './session.ts'
import { candidatesOf } from './shortcode.ts'

export interface ShortcodeRow {
  code: string
  environment: Environment
  bucket: number
  account_id: string
  mode: 'webhook' | 'text' | 'menu'
  url: string | null
  fallback_url: string | null
  menu_id: string | null
  timeout: number
  network_limit: number
  error_message: string
  resume_window: number
  language_default: string | null
  more_word: string
  back_word: string
  transliterate: boolean
  created_at: Date
  updated_at: Date
}

export const shortcodeColumns = `code, environment, bucket, account_id, mode, url, fallback_url, menu_id, timeout, network_limit,
  error_message, resume_window, language_default, more_word, back_word, transliterate, created_at, updated_at`

export const defaultTimeout = 90
export const defaultNetworkLimit = 10
export const defaultErrorMessage = 'The service does not answer. Please try again later.'

/** Longest registered code among the candidates. Index: shortcodes_by_code. */
export const findShortcode = statement.everywhere<{ environment: Environment; codes: readonly string[] }, ShortcodeRow>(
  'ussd.find_shortcode',
  `select ${shortcodeColumns} from ussd.shortcodes
    where environment = $environment and code = any($codes::text[]) order by length(code) desc limit 1`,
  {
    merge: firstBy(
      ({ code }) => String(code.length).padStart(4, '0'),
      () => 1,
      true,
    ),
  },
)

/** Settings a session copies from its shortcode, with this version of the menu. */
export function setupOf(row: ShortcodeRow, menuVersion: number | null, own: Partial<Setup> = {}): Setup {
  return {
    mode: row.mode,
    url: row.url,
    fallback_url: row.fallback_url,
    menu_id: row.menu_id,
    menu_version: menuVersion,
    network_limit: row.network_limit,
    error_message: row.error_message,
    more: row.more_word,
    back: row.back_word,
    transliterate: row.transliterate,
    is_notice: false,
    ...own,
  }
}

export const plainSetup: Setup = {
  mode: 'webhook',
  url: null,
  fallback_url: null,
  menu_id: null,
  menu_version: null,
  network_limit: defaultNetworkLimit,
  error_message: defaultErrorMessage,
  more: defaultPageWords.more,
  back: defaultPageWords.back,
  transliterate: false,
  is_notice: false,
}

/** Unregistered sandbox code: it belongs to the account that dials it and is answered by POST /v1/ussd/continue. */
export function unregistered(dialled: string) {
  const code = candidatesOf(dialled)[0] ?? dialled
  return { code, timeout: defaultTimeout, resume_window: 0, language_default: null }
}
