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
            'What the `callback_url` of a text is told, where neither request nor key says it: each change of status, as unless set, or `final`, the last',
        }),
      ),
    ),
    default_sender: Type.Optional(
      Nullable(
        Type.String({
          pattern: textSenderPattern,
          rule: textSenderRule,
          description:
            'Sender of invoices that go out as a text, and of texts that come in by a door, where none is named',
        }),
      ),
    ),
    email_webhook_url: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 2048,
          description: 'Where email tracking is reported',
        }),
      ),
    ),
    invoice_number_pattern: Type.Optional(
      Nullable(
        Type.String({
          pattern: numberPatternForm,
          rule: 'must be letters, digits, blanks, . / _ - and {year}, then no digit, then {seq} or {seq:6}',
          description: 'How invoices are numbered; `INV-{year}-{seq:6}` unless set',
        }),
      ),
    ),
    invoice_overpayment: Type.Optional(
      Nullable(
        OneOf(['credit', 'refund'], {
          description:
            'What becomes of money for an invoice of which nothing is due any more: the customer has it in hand, as unless set, or it is sent back',
        }),
      ),
    ),
    low_balance_threshold: Type.Optional(
      Nullable(AmountIn(), {
        description:
          'Major units of the account’s currency: wallet.low_balance tells when the wallet falls below; null for never',
      }),
    ),
    dunning_days: Type.Optional(
      Nullable(
        Type.Array(Type.Integer({ minimum: 1, maximum: 60, rule: 'must be 1 to 60 days' }), {
          maxItems: 10,
          rule: dunningRule,
          description:
            'How many days after the first failed charge of a subscription it is tried again, each later than the one before; 1, 3, 5, 7 unless set',
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
          description: 'Colour of your mark on the pages of invoices, payments, receipts and opt-outs',
        }),
      ),
    ),
    brand_logo: Type.Optional(
      Nullable(
        Type.String({
          pattern: '^data:image/(png|jpeg);base64,[A-Za-z0-9+/]{40,10920}={0,2}$',
          rule: 'must be a data URL of a PNG or JPEG of at most 8 KiB',
          description: 'Your logo on those pages, best square and 64 pixels wide',
        }),
      ),
    ),
    tax_number: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 40,
          rule: 'must have 1 to 40 characters',
          description: 'Yours, such as a KRA PIN: on invoices and receipts',
        }),
      ),
    ),
    address: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 300,
          rule: 'must have 1 to 300 characters',
          description: 'Yours, as it stands on invoices and receipts; lines are kept',
        }),
      ),
    ),
    require_totp: Type.Optional(
      Nullable(
        Type.Boolean({
          rule: 'must be true or false',
          description:
            'Whether members of the console need a second factor: whoever has none is asked to turn it on before anything else',
        }),
      ),
    ),
    sms_text_days: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 0,
          maximum: 400,
          rule: 'must be 0 to 400 days',
          description: 'How long the texts of messages are kept; 90 days unless set',
        }),
      ),
    ),
    sms_words: Type.Optional(
      Nullable(
        Type.Object({
          stop: Type.Optional(OwnWords('Opt the handset out, as STOP does')),
          start: Type.Optional(OwnWords('Let it have your messages again, as START does')),
          help: Type.Optional(OwnWords('Are answered with how to opt out, as HELP is')),
        }),
        {
          description:
            'Words of your own by which handsets opt out, opt in or ask for help, beside STOP, START and HELP',
        },
      ),
    ),
  },
  { description: 'Only those that you name are changed; null unsets one' },
)

export const settingNames = Object.keys(AccountSettings.properties)
