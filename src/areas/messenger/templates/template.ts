// SPDX-License-Identifier: Apache-2.0
// Template: validation before approval, and status transitions.
import { type Static, Type } from 'typebox'
import { invalid } from '../../../kernel/errors.ts'
import { At, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { placeholdersIn } from '../content.ts'

export const templateStatuses = ['PENDING', 'APPROVED', 'REJECTED', 'PAUSED', 'DISABLED'] as const
export type TemplateStatus = (typeof templateStatuses)[number]

const Button = Type.Object({
  type: OneOf(['QUICK_REPLY', 'URL', 'PHONE_NUMBER'], {
    description: 'Button type: reply, open a page, or call a number; `QUICK_REPLY` cannot be combined with the others',
  }),
  text: Type.String({ minLength: 1, maxLength: 25, description: 'Label of the button' }),
  url: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: 'URL of a `URL` button, https://; may end with the placeholder {{1}}',
    }),
  ),
  phone_number: Type.Optional(
    Type.String({ maxLength: 20, description: 'Number that `PHONE_NUMBER` calls, in E.164' }),
  ),
})

const Component = Type.Object({
  type: OneOf(['HEADER', 'BODY', 'FOOTER', 'BUTTONS'], {
    description: 'Component type; each at most once, and a `BODY` always',
  }),
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      rule: 'must have 1 to 1024 characters',
      description:
        'Text with placeholders {{1}}, {{2}}, not at its beginning or end. A header or footer has at most 60 characters',
    }),
  ),
  format: Type.Optional(
    OneOf(['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT'], { description: 'Format of a `HEADER`; default `TEXT`' }),
  ),
  buttons: Type.Optional(
    Type.Array(Button, {
      minItems: 1,
      maxItems: 3,
      description: 'Buttons; only for a component whose `type` is `BUTTONS`',
    }),
  ),
  example: Type.Optional(
    Type.Unknown({ description: 'Sample values for the placeholders, as the provider’s reviewers want them' }),
  ),
})
export type Component = Static<typeof Component>

const Components = Type.Array(Component, {
  minItems: 1,
  maxItems: 4,
  rule: 'must have 1 to 4 components',
  description: 'Components of the message',
})

export const TemplateCreate = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9_]{1,512}$',
      rule: 'must be 1 to 512 small letters, digits and underscores',
      description: 'Name used to send it; each language is a template of its own',
    }),
    language: Type.String({
      pattern: '^[a-z]{2,3}(_[A-Z]{2})?$',
      rule: 'must be a language such as en, sw or en_US',
      description: 'Language of the text',
    }),
    category: OneOf(['UTILITY', 'MARKETING', 'AUTHENTICATION'], {
      description: 'Purpose, which sets the provider’s price: order updates, advertising or one-time codes',
    }),
    components: Components,
  },
  { title: 'MessengerTemplateCreate' },
)
export type TemplateInput = Static<typeof TemplateCreate>

export const TemplateChange = Type.Object({ components: Components })

export const TemplateRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the template, such as `tpl_…`' }),
    name: Type.String({ description: 'Unique name, used to send it' }),
    language: Type.String({ description: 'Language code, such as `en`, `sw` or `en_US`' }),
    category: Type.String({ description: 'UTILITY, MARKETING or AUTHENTICATION' }),
    status: OneOf(templateStatuses, { description: 'Status of the review; only an `APPROVED` template can be sent' }),
    components: Type.Array(Type.Unknown(), { description: 'Components of the message, as you provided them' }),
    rejected_reason: Nullable(Type.String({ description: 'Reviewer’s reason; null unless it was rejected' })),
    quality: Type.String({ description: 'Quality rating by the provider' }),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change, of its status too' }),
  },
  { title: 'MessengerTemplate' },
)

const maxOfHeaderOrFooter = 60

/** Checks the components of a template; throws VALIDATION_ERROR for those that no provider accepts. */
export function checkComponents(components: readonly Component[]): void {
  const seen = new Set<string>()
  for (const { type } of components) {
    if (seen.has(type)) throw invalid('components', `must have only one ${type}`)
    seen.add(type)
  }
  const body = components.find(({ type }) => type === 'BODY')
  if (body?.text === undefined) throw invalid('components', 'must have a BODY with a text')
  checkPlaceholders('the BODY', body.text)
  for (const component of components) {
    if (component.type === 'HEADER') checkHeader(component)
    if (component.type === 'FOOTER') checkFooter(component)
    if (component.type === 'BUTTONS') checkButtons(component)
  }
}

/** Checks placeholders: {{1}} to {{n}} without gaps, not at the start or end of the text. */
function checkPlaceholders(where: string, text: string): void {
  if (placeholdersIn(text).some((number, i) => number !== i + 1))
    throw invalid('components', `must number the placeholders of ${where} from {{1}} without gaps`)
  if (/^\s*\{\{\d+\}\}|\{\{\d+\}\}\s*$/.test(text))
    throw invalid('components', `must not begin or end the text of ${where} with a placeholder`)
}

function checkHeader({ format = 'TEXT', text }: Component): void {
  if (format !== 'TEXT') {
    if (text !== undefined) throw invalid('components', `must not give a HEADER of format ${format} a text`)
    return
  }
  if (text === undefined || text.length > maxOfHeaderOrFooter)
    throw invalid('components', `must give the HEADER a text of 1 to ${maxOfHeaderOrFooter} characters`)
  if (placeholdersIn(text).length > 1) throw invalid('components', 'must have at most one placeholder in the HEADER')
}

function checkFooter({ text }: Component): void {
  if (text === undefined || text.length > maxOfHeaderOrFooter)
    throw invalid('components', `must give the FOOTER a text of 1 to ${maxOfHeaderOrFooter} characters`)
  if (placeholdersIn(text).length > 0) throw invalid('components', 'must have no placeholders in the FOOTER')
}

function checkButtons({ buttons }: Component): void {
  if (!buttons) throw invalid('components', 'must give BUTTONS their buttons')
  const count = (wanted: string): number => buttons.filter(({ type }) => type === wanted).length
  if (count('QUICK_REPLY') > 0 && count('QUICK_REPLY') < buttons.length)
    throw invalid('components', 'must have either quick replies or buttons that call, not both')
  if (count('URL') > 2 || count('PHONE_NUMBER') > 1)
    throw invalid('components', 'must have at most 2 buttons with a URL and 1 with a phone number')
  for (const { type, url, phone_number } of buttons) {
    if (type === 'URL' && !/^https:\/\/./.test(url ?? ''))
      throw invalid('components', 'must give a URL button an https:// url')
    if (type === 'PHONE_NUMBER' && !/^\+[1-9]\d{1,14}$/.test(phone_number ?? ''))
      throw invalid('components', 'must give a PHONE_NUMBER button a phone_number')
  }
}

/** Allowed status transitions of decisions. */
const leads: Readonly<Record<TemplateStatus, readonly TemplateStatus[]>> = {
  PENDING: ['APPROVED', 'REJECTED', 'DISABLED'],
  APPROVED: ['PAUSED', 'DISABLED', 'REJECTED', 'PENDING'],
  PAUSED: ['APPROVED', 'DISABLED', 'PENDING'],
  REJECTED: ['PENDING', 'APPROVED', 'DISABLED'],
  DISABLED: [],
}

export function canBecome(from: TemplateStatus, to: TemplateStatus): boolean {
  return leads[from].includes(to)
}

/** Decision on a test template, by its name, at once. */
export function sandboxVerdict(name: string): { status: TemplateStatus; reason: string | null } {
  if (name.endsWith('_pending')) return { status: 'PENDING', reason: null }
  if (name.endsWith('_reject')) return { status: 'REJECTED', reason: 'INVALID_FORMAT' }
  return { status: 'APPROVED', reason: null }
}
