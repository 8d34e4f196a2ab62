// SPDX-License-Identifier: Apache-2.0
// Error page of a link that is invalid or temporarily unavailable.
import type { AppError } from '../../kernel/errors.ts'
import type { HookAnswer, HookCall } from '../api/hook.ts'
import { html } from './html.ts'
import { askedBy } from './language.ts'
import { type Reader, readerOf } from './reader.ts'
import { notice, page } from './shell.ts'
import { pageTexts } from './texts.ts'

/** `nothing` describes what an invalid link would have shown. */
export function refusalPage(call: HookCall, { status }: AppError, nothing: (reader: Reader) => string): HookAnswer {
  const reader = readerOf(askedBy(call), 'UTC')
  const say = reader.words(pageTexts)
  const [title, sentence] = status === 404 ? [say('noSuchPage'), nothing(reader)] : [say('notNow'), say('failed')]
  const content = notice('bad', title, html`<p>${sentence}</p>`)
  return page(status, { title, language: reader.language, content })
}
