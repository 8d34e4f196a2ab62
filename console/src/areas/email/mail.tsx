// SPDX-License-Identifier: Apache-2.0
// One email: who it went to, what it says, and what servers and readers did with it.
import type { ComponentChildren } from 'preact'
import { PamojaError } from '#sdk/client.ts'
import {
  emailCancel,
  emailGet,
  emailGetContent,
  emailListMessageEvents,
  emailReschedule,
  emailResend,
} from '#sdk/operations.ts'
import type { Email } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { formOf } from '../../kit/form.tsx'
import { Ago, Card, Facts, Problem, Waiting } from '../../kit/kit.tsx'
import { textOf } from '../../kit/list-page.tsx'
import { type Loaded, useLoad } from '../../kit/load.ts'
import { count, money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { t } from '../../words.ts'

export function MailPage({ id }: PageProps) {
  const own = { message_id: id }
  const mail = useLoad(id, () => emailGet(api, own))
  const content = useLoad(id, () => emailGetContent(api, { ...own, query: { part: 'text' } }))
  const events = useLoad(id, () => emailListMessageEvents(api, { ...own, query: { order: 'asc', limit: 100 } }))
  useLive(
    'email.',
    async () => {
      await mail.reload()
      await events.reload()
    },
    { about: id },
  )
  return (
    <Opened record={mail}>
      {(value) => (
        <Detail
          in={['/emails', 'Emails']}
          id={id}
          title={value.subject || t('No subject')}
          note={t('To {name}', { name: textOf(value.to) })}
          state={value.status}
          deeds={may('email:write') ? deedsOf(id, value.status) : []}
          onDone={mail.reload}
          path={emailGet.at(own)}
          raw={value}
        >
          {value.reason && ['failed', 'bounced'].includes(value.status) && (
            <WhyNot mail={value} reason={value.reason} />
          )}
          <Card title={t('Text')}>
            <Text content={content} />
          </Card>
          {events.value && events.value.data.length > 0 && (
            <Card title={t('Timeline')}>
              <ol class="story">
                {events.value?.data.map((event) => (
                  <li key={event.id}>
                    {words(event.event)}{' '}
                    <span class="soft cut">{textOf(Object(event.payload).url ?? Object(event.payload).email)}</span>
                    <span class="soft push">
                      <Ago at={textOf(Object(event.payload).timestamp) || null} />
                    </span>
                  </li>
                ))}
              </ol>
            </Card>
          )}
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('From'), value.from],
                [t('To'), textOf(value.to)],
                [t('Template'), value.template],
                [t('Tags'), value.tags.join(', ') || null],
                [t('Cost'), money(value.cost, value.currency)],
                [t('Created'), <Ago at={value.created_at} />],
                [t('Sent'), <Ago at={value.sent_at} />],
                [t('Delivered'), <Ago at={value.delivered_at} />],
                ...(value.next_attempt_at
                  ? [[t('Next attempt'), <Ago at={value.next_attempt_at} />] satisfies [string, ComponentChildren]]
                  : []),
                [t('Opened'), count(value.open_count)],
                [t('Clicked'), count(value.click_count)],
              ]}
            />
          </Card>
        </Detail>
      )}
    </Opened>
  )
}

/** Why nobody has it, and what the other server said. */
function WhyNot({ mail: { recipients }, reason }: { mail: Email; reason: string }) {
  const said = recipients.find(({ smtp_response }) => smtp_response !== null)?.smtp_response
  return (
    <div class="callout bad">
      <p lang="en">{words(reason)}</p>
      {said && (
        <p class="mono soft" dir="ltr">
          {said}
        </p>
      )}
    </div>
  )
}

/** Words of the email, while they are kept. */
function Text({ content: { value, error, reload } }: { content: Loaded<unknown> }) {
  const isGone = error instanceof PamojaError && error.status === 404
  if (error && !isGone) return <Problem error={error} retry={reload} />
  if (!value && !isGone) return <Waiting lines={3} />
  return (
    <p class="text" dir="auto">
      {textOf(Object(value).text ?? Object(value).content) || t('No text is kept.')}
    </p>
  )
}

function deedsOf(message_id: string, status: string): Deed[] {
  if (status === 'scheduled')
    return [
      {
        name: 'Cancel',
        isDanger: true,
        asks: {
          title: t('Cancel this email?'),
          consequences: [t('It is not sent. This cannot be undone.')],
          action: t('Cancel the email'),
          keep: t('Do not cancel'),
        },
        run: () => emailCancel(api, { message_id }),
      },
      {
        name: 'Change',
        icon: 'clock',
        form: formOf(emailReschedule, {
          title: 'Reschedule',
          action: 'Save',
          given: { message_id },
          fields: [{ name: 'scheduled_at', label: 'When', as: 'moment', isRequired: true }],
        }),
      },
    ]
  return [
    {
      name: 'Send again',
      icon: 'again',
      form: formOf(emailResend, {
        title: 'Send again',
        action: 'Send',
        given: { message_id },
        fields: [{ name: 'to', label: 'To', hint: 'Default: the same address' }],
      }),
    },
  ]
}
