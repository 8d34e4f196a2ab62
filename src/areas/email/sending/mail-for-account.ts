// SPDX-License-Identifier: Apache-2.0
// Mail sent by another area for an account, such as an invoice: from the account's domain, at its price. Without a
// domain it throws.
import { AppError } from '../../../kernel/errors.ts'
import { isCurrency } from '../../../kernel/money.ts'
import { AnsweredBefore, keyed } from '../../../platform/api/idempotency.ts'
import type { App } from '../../../platform/app.ts'
import { one, statement } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { sendersOf } from '../domains/senders.ts'
import { accept } from './accept.ts'
import { draftOf, type Sending } from './draft.ts'

export interface AccountMail {
  readonly to: string
  /** Display name of the sender. */
  readonly fromName: string
  /** Local part of the sender's address. */
  readonly fromLocal: string
  readonly subject: string
  readonly html: string
  /** Makes the attachments, which may take long, once it is known that mail can be sent. */
  attach?(): Promise<readonly { filename: string; content: Buffer; contentType: string }[]>
  /** Idempotency key, with a space in it, which keys of requests never have. */
  readonly key?: string
  /** Free of charge: mail of the platform itself. */
  readonly isFree?: boolean
}

const currencyOf = statement.home<{ account: string }, { currency: string; is_suspended: boolean }>(
  'email.currency_of',
  'select accounts.currency_of($account::uuid) as currency, accounts.is_suspended($account) as is_suspended',
)

/**
 * Sends mail; returns the message id, or null when sent before. Throws an AppError, without a charge, when it cannot be
 * sent.
 */
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
  const attached = (await mail.attach?.()) ?? []
  const draft = await draftOf(app, own, {
    from: `"${name}" <${mail.fromLocal}@${sender.domain}>`,
    to: mail.to,
    subject: mail.subject,
    html: mail.html,
    tracking: { opens: false, clicks: false },
    attachments: attached.map(({ filename, content, contentType }) => ({
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

/** Whether the account has what mail is sent from, on an installation that mail leaves. */
export async function canMail(app: App, tenant: Tenant): Promise<boolean> {
  return canLeave(app, tenant) && (await sendersOf(app, tenant)).length > 0
}

/** Whether live mail can leave: a host name under .test would be refused everywhere. */
function canLeave({ config }: App, { environment }: Tenant): boolean {
  if (environment === 'test' || config.NODE_ENV !== 'production') return true
  return config.PAMOJA_MAIL_RELAY !== null || !config.PAMOJA_MAIL_HOST.endsWith('.test')
}
