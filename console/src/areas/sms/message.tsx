// SPDX-License-Identifier: Apache-2.0
// One message: what it says, its timeline down to the octets, what it cost, and stopping one that is scheduled.
import { smsCancel, smsChange, smsGet, smsTimeline } from '#sdk/operations.ts'
import type { SmsMessage } from '#sdk/schemas.ts'
import { api, may, thingAt } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { formOf } from '../../kit/form.tsx'
import { Ago, Card, Facts } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { country, money } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Timeline } from '../../timeline/timeline.tsx'
import { t } from '../../words.ts'

export function MessagePage({ id }: PageProps) {
  const message = useLoad(id, () => thingAt<SmsMessage>(smsGet.at({ id })))
  useLive('sms.', message.reload, { about: id })
  return (
    <Opened record={message}>
      {(value) => {
        const isReceived = value.direction === 'inbound'
        return (
          <Detail
            in={['/messages', 'Messages']}
            id={value.message_id}
            title={isReceived ? t('From {name}', { name: value.from }) : t('To {name}', { name: value.to })}
            state={value.status}
            deeds={deedsOf(value)}
            onDone={message.reload}
            path={smsGet.at({ id })}
            raw={value}
          >
            {value.error && (
              <div class="callout bad">
                <p>{value.error}</p>
                <p class="mono soft">{value.error_code}</p>
              </div>
            )}
            <Card title={t('Text')}>
              <p class="text" dir="auto">
                {value.message ?? t('The text has been erased.')}
              </p>
            </Card>
            <Timeline
              path={smsTimeline.at({ id })}
              kind={isReceived ? 'received text' : 'text'}
              live="sms."
              about={id}
            />
            <Card title={t('Details')}>
              <Facts
                rows={[
                  [t('From'), value.from],
                  [t('To'), <span class="mono">{value.to}</span>],
                  [t('Cost'), money(value.cost, value.currency)],
                  [t('Parts'), `${value.segments}, ${value.encoding === 'gsm7' ? 'GSM-7' : 'UCS-2'}`],
                  [
                    t('Country and network'),
                    [value.country && country(value.country), value.network].filter(Boolean).join(', ') || '–',
                  ],
                  [t('Attempts'), String(value.attempts)],
                  [t('Reference'), value.reference],
                  [t('Created'), <Ago at={value.created_at} />],
                ]}
              />
            </Card>
          </Detail>
        )
      }}
    </Opened>
  )
}

function deedsOf({ message_id, status, scheduled_at, to, message }: SmsMessage): Deed[] {
  if (!may('sms:write') || status !== 'queued' || scheduled_at === null) return []
  return [
    {
      name: 'Change',
      icon: 'pencil',
      form: formOf(smsChange, {
        title: 'Change the text',
        action: 'Save',
        given: { id: message_id },
        fields: [
          { name: 'message', label: 'Text', isLong: true },
          { name: 'scheduled_at', label: 'When', as: 'moment' },
        ],
        initial: { message: message ?? undefined },
      }),
    },
    {
      name: 'Cancel',
      isDanger: true,
      asks: {
        title: t('Cancel the text to {name}?', { name: to }),
        consequences: [t('It is not sent, and its cost is refunded to the wallet.')],
        action: t('Cancel the text'),
        keep: t('Leave it'),
      },
      run: () => smsCancel(api, { id: message_id }),
    },
  ]
}
