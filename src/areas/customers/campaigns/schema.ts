// SPDX-License-Identifier: Apache-2.0
// Shapes of campaigns in requests and replies.
import { type Static, Type } from 'typebox'
import { Amount, AmountIn, At, Moment, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'
import { maxTableLength } from './audience.ts'

const channels = ['sms', 'messenger', 'email'] as const
export type Channel = (typeof channels)[number]
export const states = [
  ...['draft', 'checking', 'scheduled', 'running', 'paused'],
  ...['completed', 'cancelled', 'stopped_budget'],
] as const
export type State =
  | 'draft'
  | 'checking'
  | 'scheduled'
  | 'running'
  | 'paused'
  | 'completed'
  | 'cancelled'
  | 'stopped_budget'

const text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, rule: `must have 1 to ${maxLength} characters`, description })

const Content = Type.Object(
  {
    sms: Type.Optional(
      Type.Object(
        {
          from: text(20, 'Sender of the texts'),
          text: text(
            1_600,
            'Text with placeholders {{name}}, {{first_name}} and {{attribute|fallback}}; {{optout}} is an opt-out link',
          ),
        },
        { description: 'Content of the text' },
      ),
    ),
    messenger: Type.Optional(
      Type.Object(
        {
          template: text(512, 'Name of an approved template'),
          language: text(10, 'Language of the template'),
          parameters: Type.Optional(
            Type.Array(text(1_024, 'Value of a placeholder; may contain {{name}}'), {
              ...{ maxItems: 20, rule: 'must be at most 20 values' },
              description: 'Values of the placeholders in the body, in their order',
            }),
          ),
        },
        { description: 'Template for the messenger' },
      ),
    ),
    email: Type.Optional(
      Type.Object(
        {
          from: text(320, 'Sender, at a verified domain'),
          subject: text(500, 'Subject; may contain {{name}}'),
          html: Type.Optional(text(500_000, 'HTML body; may contain {{name}}')),
          text: Type.Optional(text(200_000, 'Plain-text body; may contain {{name}}')),
        },
        { description: 'Content of the email' },
      ),
    ),
  },
  { description: 'Content of each channel' },
)
export type ContentOf = Static<typeof Content>

const Variant = Type.Object({
  name: text(40, 'Name of the variant, such as B'),
  share: Type.Integer({
    minimum: 1,
    maximum: 99,
    rule: 'must be 1 to 99',
    description: 'Share of the audience, in percent',
  }),
  content: Content,
})

const TimeOfDay = (description: string) =>
  Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', rule: 'must be a time such as 21:00', description })

const Schedule = Type.Object(
  {
    at: Type.Optional(Moment({ description: 'Start time' })),
    local_at: Type.Optional(
      Type.String({
        ...{
          pattern: '^\\d{4}-\\d\\d-\\d\\dT([01]\\d|2[0-3]):[0-5]\\d$',
          rule: 'must be a time such as 2026-12-01T09:00',
        },
        description: 'Local time of each customer, without a zone',
      }),
    ),
  },
  { description: 'Start: a time, or a local time of each customer; default at once' },
)
export type ScheduleOf = Static<typeof Schedule>

const QuietHoursIn = Type.Object(
  { from: TimeOfDay('Start, in the recipient’s local time'), to: TimeOfDay('End, in the recipient’s local time') },
  { description: 'Hours in which nothing is sent; default 21:00 to 08:00' },
)

const settings = {
  name: text(100, 'Name of the campaign'),
  segment_id: Type.Optional(Type.String({ maxLength: 100, description: 'Audience: id or name of a segment' })),
  customer_ids: Type.Optional(
    Type.Array(Type.String({ maxLength: 40 }), {
      ...{ maxItems: 10_000, rule: 'must be at most 10000 customers' },
      description: 'Audience: list of customer ids; alternative to `segment_id`',
    }),
  ),
  csv: Type.Optional(
    Type.String({
      ...{ maxLength: maxTableLength, rule: `must have at most ${maxTableLength} characters`, sensitive: true },
      description:
        'Audience: CSV of at most 10,000 rows that name customers in a column `external_id`, `phone` or `email`; rows without a customer are left out; alternative to `segment_id`',
    }),
  ),
  channel: Type.Array(OneOf(channels), {
    ...{ minItems: 1, maxItems: 3, rule: 'must be 1 to 3 of sms, messenger and email' },
    description: 'Channels in order of preference: the first one with an address and consent of the customer is used',
  }),
  content: Content,
  variants: Type.Optional(
    Type.Array(Variant, {
      ...{ maxItems: 4, rule: 'must be at most 4 variants' },
      description: 'Variants of the content, each for a share of the audience; the rest receives `content`',
    }),
  ),
  schedule: Type.Optional(Schedule),
  quiet_hours: Type.Optional(Nullable(QuietHoursIn, { description: 'Quiet hours; null for none' })),
  rate: Type.Optional(
    Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000, rule: 'must be 1 to 1000000' }), {
      description: 'Messages per minute; default: the limit of the plan',
    }),
  ),
  budget: Type.Optional(Nullable(AmountIn(), { description: 'Spending limit, in the currency of the account' })),
}

const UnchangedSince = Type.Optional(
  Moment({ description: '`updated_at` of the campaign as it was read; 409 if it was changed since' }),
)

export const CampaignIn = Type.Object(settings)
export type NewCampaign = Static<typeof CampaignIn>
export const CampaignChange = Type.Object({
  ...settings,
  name: Type.Optional(settings.name),
  channel: Type.Optional(settings.channel),
  content: Type.Optional(Content),
  unchanged_since: UnchangedSince,
})
export const CampaignStart = Type.Object({ unchanged_since: UnchangedSince })
export type ChangedCampaign = Static<typeof CampaignChange>

export const Campaign = Type.Object(
  {
    id: Type.String({ description: 'Id of the campaign, such as `cmp_…`' }),
    name: Type.String({ description: 'Name of the campaign' }),
    state: OneOf(states, { description: 'State of the campaign' }),
    reason: Nullable(Type.String(), {
      description:
        'Reason for an automatic pause, such as `INSUFFICIENT_BALANCE`; `FOUR_EYES` for a draft whose segment grew after one person had started it',
    }),
    segment_id: Nullable(Type.String(), { description: 'Segment of the audience; null for a list of customers' }),
    channel: Type.Array(OneOf(channels), { description: 'Channels in the order of preference' }),
    content: Content,
    variants: Type.Array(Variant, { description: 'Other contents, with their shares' }),
    schedule: Schedule,
    quiet_hours: Nullable(QuietHoursIn, { description: 'Hours in which nothing is sent' }),
    rate: Nullable(Type.Integer(), { description: 'Messages per minute' }),
    budget: Nullable(Amount(), { description: 'Spending limit, in major units' }),
    spent: Amount({ description: 'Amount charged, in major units' }),
    currency: Type.String({ description: 'Currency of the amounts, ISO 4217' }),
    four_eyes: Nullable(
      Type.Object({
        asked_by: Type.String({ description: 'Member or key that asked for the start, and cannot approve it' }),
        asked_at: At({ description: 'Time at which it was asked for' }),
      }),
      { description: 'Start that awaits a second person; null if none does. A change of the draft takes it back' },
    ),
    started_at: Nullable(At({ description: 'Time of the start' })),
    finished_at: Nullable(At({ description: 'Time of the end' })),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'Campaign' },
)

const reasons = Type.Record(Type.String(), Type.Integer())

export const Preview = Type.Object(
  {
    audience: Type.Integer({ description: 'Number of evaluated customers of the audience, at most 10,000' }),
    whole: Type.Boolean({
      description: 'True if the whole audience was evaluated; otherwise counts and cost cover only the evaluated part',
    }),
    recipients: Type.Integer({ description: 'Number of recipients' }),
    by_channel: Type.Record(Type.String(), Type.Integer(), { description: 'Recipients by channel' }),
    left_out: Type.Record(Type.String(), Type.Integer(), {
      description:
        'Excluded customers by reason: `no_consent`, `no_address`, `blocked`; `duplicate` are entries of a list that name a customer again',
    }),
    blocked: Type.Record(Type.String(), Type.Integer(), {
      description: 'Customers whose text cannot be sent, by error code, such as `SENDER_NOT_REGISTERED`',
    }),
    unfilled: Type.Record(Type.String(), Type.Integer(), {
      description: 'Recipients by placeholder of which no value is known; the fallback stands there, or nothing',
    }),
    four_eyes: Type.Boolean({ description: 'True if the audience is so large that a second person starts it' }),
    prices: Type.Array(
      Type.Object({
        channel: OneOf(channels, { description: 'Channel of the messages' }),
        country: Nullable(Type.String(), { description: 'Country of the recipients; null except for texts' }),
        network: Nullable(Type.String(), { description: 'Network of the recipients; null if unknown' }),
        messages: Type.Integer({ description: 'Number of messages' }),
        parts: Type.Integer({ description: 'Number of segments of the texts' }),
        cost: Amount({ description: 'Price of these messages, in major units' }),
      }),
      { description: 'Price by channel and network, the highest first' },
    ),
    parts: Type.Integer({ description: 'Number of segments of all texts' }),
    cost: Amount({ description: 'Price of all messages, in major units' }),
    currency: Type.String({ description: 'Currency of the cost' }),
    messages: Type.Array(
      Type.Object({
        customer_id: Type.String({ description: 'Id of the recipient, `cus_…`' }),
        channel: OneOf(channels, { description: 'Channel of the message' }),
        variant: Type.String({ description: 'Variant; `A` for the content of the campaign' }),
        to: Type.String({ description: 'Number or address' }),
        text: Type.String({ description: 'Text, subject or template, filled in' }),
      }),
      { description: 'Ten sample messages' },
    ),
  },
  { title: 'CampaignPreview' },
)

const counts = {
  sent: Type.Integer({ description: 'Messages handed over for delivery' }),
  queued: Type.Integer({ description: 'Queued messages' }),
  delivered: Type.Integer({ description: 'Delivered messages' }),
  failed: Type.Integer({ description: 'Messages that failed' }),
  opened: Type.Integer({ description: 'Mail and chats that were opened' }),
  clicked: Type.Integer({ description: 'Mail with a click' }),
  replied: Type.Integer({ description: 'Texts that were answered' }),
}

export const Stats = Type.Object(
  {
    state: OneOf(states, { description: 'State of the campaign' }),
    audience: Type.Integer({ description: 'Customers of the audience, so far' }),
    waiting: Type.Integer({ description: 'Customers not processed yet' }),
    left_out: Type.Intersect([reasons], { description: 'Excluded customers by reason' }),
    ...counts,
    failures: Type.Intersect([reasons], { description: 'Messages that failed, by reason' }),
    unsubscribed: Type.Integer({ description: 'Recipients who unsubscribed afterwards' }),
    cost: Amount({ description: 'Amount charged less refunds, in major units' }),
    currency: Type.String({ description: 'Currency of the cost' }),
    by_channel: Type.Record(Type.String(), Type.Integer(), { description: 'Messages by channel' }),
    variants: Type.Array(
      Type.Object({ name: Type.String({ description: 'Variant; `A` for the content of the campaign' }), ...counts }),
      { description: 'Figures by variant' },
    ),
    networks: Type.Array(
      Type.Object({
        country: Nullable(Type.String(), { description: 'Country of the recipients; null if unknown' }),
        network: Nullable(Type.String(), { description: 'Network of the recipients; null if unknown' }),
        ...counts,
        cost: Amount({ description: 'Amount charged less refunds, in major units' }),
      }),
      { description: 'Figures of texts by network, the largest first' },
    ),
  },
  { title: 'CampaignStats' },
)

export const TrialIn = Type.Object({
  phone: Type.Optional(Phone({ description: 'Your own number: gets the text and the chat' })),
  email: Type.Optional(
    Type.String({
      ...{
        pattern: '^[^@\\s]+@[^@\\s]+$',
        maxLength: 254,
        rule: 'must be an email address',
        errorCode: 'INVALID_EMAIL',
      },
      description: 'Your own address: gets the email',
    }),
  ),
  customer_id: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Customer whose name and attributes are filled in; default: whose number or address it is',
    }),
  ),
})
export type WantedTrial = Static<typeof TrialIn>

export const Trial = Type.Object(
  {
    customer_id: Nullable(Type.String(), {
      description: 'Customer whose name and attributes were filled in; null for none',
    }),
    messages: Type.Array(
      Type.Object({
        channel: OneOf(channels, { description: 'Channel of the message' }),
        variant: Type.String({ description: 'Variant; `A` for the content of the campaign' }),
        to: Type.String({ description: 'Number or address' }),
        text: Type.String({ description: 'Text, subject or template, filled in' }),
        message_id: Nullable(Type.String(), { description: 'Id of the message; null if it was refused' }),
        error_code: Nullable(Type.String(), {
          description: 'Reason for a refusal, such as `OPTED_OUT`; null if it was sent',
        }),
        cost: Amount({ description: 'Price in major units' }),
      }),
      { description: 'One message for each variant and channel' },
    ),
    cost: Amount({ description: 'Price of all of them, in major units' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
  },
  { title: 'CampaignTrial' },
)

export const CampaignReply = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the reply, such as `msg_…`' }),
    customer_id: Nullable(Type.String({ description: 'Customer who wrote it; null if unknown' })),
    conversation_id: Nullable(Type.String({ description: 'Conversation it belongs to; null if none' })),
    name: Nullable(Type.String({ description: 'Name of the customer' })),
    from: Type.String({ description: 'Number it came from' }),
    text: Nullable(Type.String({ description: 'Full text; null after its retention period' })),
    variant: Nullable(Type.String({ description: 'Variant it answers; `A` for the content of the campaign' })),
    at: At({ description: 'Time of the reply' }),
  },
  { title: 'CampaignReply' },
)
