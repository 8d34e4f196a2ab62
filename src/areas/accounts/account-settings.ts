// SPDX-License-Identifier: Apache-2.0
// Settings of an account, which all areas read. Null unsets one.
import { Type } from 'typebox'
import { numberPatternForm } from '../../kernel/invoice-number.ts'
import { textSenderPattern, textSenderRule } from '../../kernel/sender.ts'
import { callbackEvents } from '../../platform/auth.ts'
import { AmountIn, Nullable, OneOf } from '../../platform/schema/fields.ts'

const OwnWords = (description: string) =>
  Type.Array(
    Type.String({
      pattern: '[\\p{L}\\p{N}]',
      minLength: 1,
      maxLength: 30,
      rule: 'must have 1 to 30 characters, some of them letters',
    }),
    { maxItems: 20, rule: 'must list at most 20 words', description },
  )

const dunningRule = 'must list at most 10 numbers of days from 1 to 60'

export const AccountSettings = Type.Object(
  {
    callback_events: Type.Optional(
      Nullable(
        OneOf(callbackEvents, {
          description:
            'Changes sent to the `callback_url` of a text, unless the request or key sets it: every change of status (default), or `final`, the last',
        }),
      ),
    ),
    campaign_four_eyes: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 0,
          maximum: 100_000,
          rule: 'must be 0 to 100000 customers',
          description: 'Size of the audience above which a second person starts a campaign; null for never',
        }),
      ),
    ),
    default_sender: Type.Optional(
      Nullable(
        Type.String({
          pattern: textSenderPattern,
          rule: textSenderRule,
          description: 'Default sender of texted invoices, and of texts that come through a door',
        }),
      ),
    ),
    email_webhook_url: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 2048,
          description: 'URL that receives email tracking events',
        }),
      ),
    ),
    invoice_number_pattern: Type.Optional(
      Nullable(
        Type.String({
          pattern: numberPatternForm,
          rule: 'must be letters, digits, blanks, . / _ - and {year}, then no digit, then {seq} or {seq:6}',
          description: 'Pattern of invoice numbers; default `INV-{year}-{seq:6}`',
        }),
      ),
    ),
    invoice_overpayment: Type.Optional(
      Nullable(
        OneOf(['credit', 'refund'], {
          description: 'Handling of money for a settled invoice: credit for the customer (default), or a refund',
        }),
      ),
    ),
    low_balance_threshold: Type.Optional(
      Nullable(AmountIn(), {
        description:
          'Available amount, in major units of the account’s currency, below which wallet.low_balance is sent; null for never',
      }),
    ),
    dunning_days: Type.Optional(
      Nullable(
        Type.Array(Type.Integer({ minimum: 1, maximum: 60, rule: 'must be 1 to 60 days' }), {
          maxItems: 10,
          rule: dunningRule,
          description:
            'Days after the first failed charge of a subscription on which it is retried, in ascending order; default 1, 3, 5, 7',
        }),
        { rule: dunningRule },
      ),
    ),
    dunning_end: Type.Optional(
      Nullable(
        OneOf(['cancel', 'keep_past_due'], {
          description: 'Action after the last failed charge of a subscription; default `cancel`',
        }),
      ),
    ),
    brand_color: Type.Optional(
      Nullable(
        Type.String({
          pattern: '^#[0-9a-fA-F]{6}$',
          rule: 'must be a colour such as #0a7d4f',
          description: 'Accent colour on the pages of invoices, payments, receipts and opt-outs',
        }),
      ),
    ),
    brand_logo: Type.Optional(
      Nullable(
        Type.String({
          pattern: '^data:image/(png|jpeg);base64,[A-Za-z0-9+/]{40,10920}={0,2}$',
          rule: 'must be a data URL of a PNG or JPEG of at most 8 KiB',
          description: 'Logo on those pages, best square and 64 pixels wide',
        }),
      ),
    ),
    tax_number: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 40,
          rule: 'must have 1 to 40 characters',
          description: 'Your tax number, such as a KRA PIN, on invoices and receipts',
        }),
      ),
    ),
    address: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 300,
          rule: 'must have 1 to 300 characters',
          description: 'Your address on invoices and receipts; line breaks are kept',
        }),
      ),
    ),
    require_totp: Type.Optional(
      Nullable(
        Type.Boolean({
          rule: 'must be true or false',
          description:
            'True requires two-factor sign-in for all console members; members without it must set it up first',
        }),
      ),
    ),
    sms_text_days: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 0,
          maximum: 400,
          rule: 'must be 0 to 400 days',
          description: 'Days for which the texts of messages are kept; default 90',
        }),
      ),
    ),
    sms_words: Type.Optional(
      Nullable(
        Type.Object({
          stop: Type.Optional(OwnWords('Keywords that opt the handset out, in addition to STOP')),
          start: Type.Optional(OwnWords('Keywords that opt the handset in again, in addition to START')),
          help: Type.Optional(OwnWords('Keywords answered with instructions to opt out, in addition to HELP')),
        }),
        {
          description: 'Custom keywords to opt out, opt in or request help, besides STOP, START and HELP',
        },
      ),
    ),
  },
  { description: 'Settings to change; absent ones are left unchanged, null unsets one' },
)

export const settingNames = Object.keys(AccountSettings.properties)
