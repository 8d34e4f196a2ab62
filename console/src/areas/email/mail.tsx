// SPDX-License-Identifier: Apache-2.0
// One email: who it went to, what it says, and what servers and readers did with it.
import {
  emailCancel,
  emailGet,
  emailGetContent,
  emailListMessageEvents,
  emailReschedule,
  emailResend,
} from '#sdk/operations.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { formOf } from '../../kit/form.tsx'
import { Ago, Card, Facts } from '../../kit/kit.tsx'
import { textOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { words } from '../../kit/words.ts'
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
          <Card title={t('Text')}>
            <p class="text" dir="auto">
              {content.value
                ? textOf(Object(content.value).text ?? Object(content.value).content)
                : t('No text is kept.')}
            </p>
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
              ]}
            />
          </Card>
        </Detail>
      )}
    </Opened>
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
