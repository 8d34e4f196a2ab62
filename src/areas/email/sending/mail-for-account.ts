// SPDX-License-Identifier: Apache-2.0
// Mail that another area sends for an account, such as an invoice: from the account's own domain, at its price. Where the account has no
// domain it cannot be sent, and that is said.
import { AppError } from '../../../kernel/errors.ts'
import { isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { one, statement } from '../../../platform/db.ts'
import { AnsweredBefore, keyed } from '../../../platform/http/idempotency.ts'
import { sendersOf } from '../domains/senders.ts'
import { accept } from './accept.ts'
import { draftOf, type Sending } from './draft.ts'

export interface AccountMail {
  readonly to: string
  /** Name before the address, as the reader sees it. */
  readonly fromName: string
  /** What stands before the @. */
  readonly fromLocal: string
  readonly subject: string
  readonly html: string
  readonly attachments: readonly { filename: string; content: Buffer; contentType: string }[]
  /** With a space in it, which no key of a request has: sent once under it. */
  readonly key?: string
}

const currencyOf = statement.home<{ account: string }, { currency: string; is_suspended: boolean }>(
  'email.currency_of',
  'select accounts.currency_of($account::uuid) as currency, accounts.is_suspended($account) as is_suspended',
)

/** Throws an AppError when it cannot be sent; then nothing was charged. */
export async function mailForAccount(app: App, sending: Omit<Sending, 'currency'>, mail: AccountMail): Promise<void> {
  const { currency, is_suspended } = await one(app.db.query(currencyOf, { account: sending.tenant.account }))
  if (is_suspended) throw new AppError('ACCOUNT_SUSPENDED', 'the account is suspended')
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  const [sender] = await sendersOf(app, sending.tenant)
  if (!sender) throw new AppError('MAIL_NOT_CONFIGURED', 'the account has no verified domain to send mail from')
  const name = mail.fromName.replace(/["<>\\\r\n]/g, ' ').slice(0, 100)
  const own = { ...sending, currency }
  const draft = await draftOf(app, own, {
    from: `"${name}" <${mail.fromLocal}@${sender.domain}>`,
    to: mail.to,
    subject: mail.subject,
    html: mail.html,
    tracking: { opens: false, clicks: false },
    attachments: mail.attachments.map(({ filename, content, contentType }) => ({
      filename,
      content: content.toString('base64'),
      contentType,
    })),
  })
  const { key = null } = mail
  try {
    await accept(
      app,
      { ...draft, source: 'system' },
      own,
      keyed(key === null ? null : { ...own.tenant, key, hash: key }, 200, () => ''),
    )
  } catch (error) {
    if (!(error instanceof AnsweredBefore)) throw error
  }
}
