// SPDX-License-Identifier: Apache-2.0
// Mail that another area sends for an account, such as an invoice: from the account's own domain, at its price. Where the account has no
// domain it cannot be sent, and that is said.
import { AppError } from '../../../kernel/errors.ts'
import { isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { one, statement } from '../../../platform/db.ts'
import { AnsweredBefore, keyed } from '../../../platform/http/idempotency.ts'
import type { Tenant } from '../../../platform/tenant.ts'
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
  /** Nobody pays for it: it is the house that wants it to be read. */
  readonly isFree?: boolean
}

const currencyOf = statement.home<{ account: string }, { currency: string; is_suspended: boolean }>(
  'email.currency_of',
  'select accounts.currency_of($account::uuid) as currency, accounts.is_suspended($account) as is_suspended',
)

/** Gives the id of the message, null when it was sent before. Throws an AppError when it cannot be sent; then nothing was charged. */
export async function mailForAccount(
  app: App,
  sending: Omit<Sending, 'currency'>,
  mail: AccountMail,
): Promise<string | null> {
  const { currency, is_suspended } = await one(app.db.query(currencyOf, { account: sending.tenant.account }))
  if (is_suspended) throw new AppError('ACCOUNT_SUSPENDED', 'the account is suspended')
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  if (!canLeave(app, sending.tenant))
    throw new AppError(
      'MAIL_NOT_CONFIGURED',
      'no mail leaves this installation: set PAMOJA_MAIL_RELAY or PAMOJA_MAIL_HOST',
    )
  const [sender] = await sendersOf(app, sending.tenant)
  if (!sender) throw new AppError('MAIL_NOT_CONFIGURED', 'the account has no verified domain to send mail from')
  const name = mail.fromName.replace(/["<>\\\r\n]/g, ' ').slice(0, 100)
  const own = { ...sending, currency, isFree: mail.isFree ?? false }
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
    const { message_id } = await accept(
      app,
      { ...draft, source: 'system' },
      own,
      keyed(key === null ? null : { ...own.tenant, key, hash: key }, 200, () => ''),
    )
    return message_id
  } catch (error) {
    if (!(error instanceof AnsweredBefore)) throw error
    return null
  }
}

/** In production, mail under a name that is nobody's would be refused everywhere. */
function canLeave({ config }: App, { environment }: Tenant): boolean {
  if (environment === 'test' || config.NODE_ENV !== 'production') return true
  return config.PAMOJA_MAIL_RELAY !== null || !config.PAMOJA_MAIL_HOST.endsWith('.test')
}
