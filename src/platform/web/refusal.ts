// SPDX-License-Identifier: Apache-2.0
// The page that people see whose link leads nowhere, or could not be followed just now.
import type { AppError } from '../../kernel/errors.ts'
import type { HookAnswer, HookCall } from '../hook.ts'
import { html } from './html.ts'
import { askedBy } from './language.ts'
import { type Reader, readerOf } from './reader.ts'
import { notice, page } from './shell.ts'
import { pageTexts } from './texts.ts'

/** `nothing` says what a link that leads nowhere would have shown. */
export function refusalPage(call: HookCall, { status }: AppError, nothing: (reader: Reader) => string): HookAnswer {
  const reader = readerOf(askedBy(call), 'UTC')
  const say = reader.words(pageTexts)
  const [title, sentence] = status === 404 ? [say('noSuchPage'), nothing(reader)] : [say('notNow'), say('failed')]
  const content = notice('bad', title, html`<p>${sentence}</p>`)
  return page(status, { title, language: reader.language, content })
}
