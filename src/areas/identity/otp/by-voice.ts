// SPDX-License-Identifier: Apache-2.0
// One-time code by voice call. The call stores the code's id only: the spoken text is made when it is answered, so that
// no table holds the code.
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { isE164 } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { type CallFollower, checkNumbers, firstNumber, newCall, spokenLanguages } from '../../voice/area.ts'
import { codeOf, messageWith } from './code.ts'
import { findOtp } from './store.ts'

const targetType = 'identity.otp'
const otherLanguage = 'en-US'

export interface SpokenCode {
  readonly otp: string
  readonly to: string
  readonly from: string | undefined
  readonly message: string | undefined
  readonly language: string | undefined
}

/** Places the call; returns its id. Throws an AppError, without a charge, when it cannot be placed. */
export async function callWithCode(app: App, caller: Caller, code: SpokenCode): Promise<string> {
  const { tenant } = caller
  const { otp, to, message = null, language = null } = code
  const given = code.from !== undefined && isE164(code.from) ? code.from : null
  const from = given ?? (await firstNumber(app, tenant))
  if (from === null) throw new AppError('NUMBER_NOT_OWNED', 'the account has no caller number')
  await checkNumbers(app, tenant, { from, to })
  const target = { type: targetType, otp, message, language }
  const row = await app.db.tx(tenant, (tx) =>
    newCall(app, tx, caller, { from, to, plan: { target }, currency: caller.principal.facts.currency }),
  )
  return idOf('call', row.id)
}

/** Flow that speaks the code twice, digit by digit. */
export const codeSpeaker: CallFollower = {
  name: targetType,
  async flowOf(app, { tenant }, target) {
    if (target.type !== targetType) return null
    const otp = await maybe(app.db.query(findOtp, { ...tenant, id: textOf(target.otp) ?? '' }))
    if (otp?.status !== 'pending') return { actions: [] }
    const code = codeOf(app.secrets, tenant.environment, otp)
    const [message, language] = [textOf(target.message), textOf(target.language)]
    const text = messageWith([...code].join(', '), { message, language })
    const talk = { action: 'talk', text: text.replace(/[<>&]/g, ' '), language: spokenIn(language) }
    return { actions: [talk, talk] }
  },
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Speech locale of a language. */
function spokenIn(language = 'en'): string {
  const wanted = language.toLowerCase()
  const locales = Object.keys(spokenLanguages)
  const exact = locales.find((name) => name.toLowerCase() === wanted)
  return exact ?? locales.find((name) => name.toLowerCase().startsWith(`${wanted.slice(0, 2)}-`)) ?? otherLanguage
}
