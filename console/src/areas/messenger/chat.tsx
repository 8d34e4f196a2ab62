// SPDX-License-Identifier: Apache-2.0
// One chat message: what it says, how far it came, and what happened to it.
import type { ComponentChildren } from 'preact'
import { messengerGet } from '#sdk/operations.ts'
import type { MessengerMessage } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { Ago, Card, Facts } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { Story } from '../../kit/story.tsx'
import { money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { PictureOf } from './picture.tsx'
import { saidIn } from './said.ts'

export function ChatPage({ id }: PageProps) {
  const message = useLoad(id, () => messengerGet(api, { id }))
  useLive('messenger.', message.reload, { about: id })
  return (
    <Opened record={message}>
      {(value) => (
        <Detail
          in={['/chats', 'Chats']}
          id={id}
          title={
            value.direction === 'inbound' ? t('From {name}', { name: value.from }) : t('To {name}', { name: value.to })
          }
          state={value.status}
          path={messengerGet.at({ id })}
          raw={value}
        >
          {value.errors?.map(({ code, title, message }) => (
            <div key={code} class="callout bad">
              <p>{title}</p>
              <p class="soft">{message}</p>
            </div>
          ))}
          <Card title={words(value.type)}>
            <PictureOf message={value} />
            <p class="text" dir="auto">
              {saidIn(value)}
            </p>
          </Card>
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('From'), value.from],
                [t('To'), value.to],
                [t('Conversation'), <ConversationOf message={value} />],
                [t('Template'), value.template?.name],
                [t('Time'), <Ago at={value.accepted_at} />],
                ...(value.direction === 'inbound'
                  ? []
                  : [
                      [t('Delivered'), <Ago at={value.delivered_at} />] satisfies Fact,
                      [t('Read'), <Ago at={value.read_at} />] satisfies Fact,
                      [t('Cost'), value.currency && money(value.cost, value.currency)] satisfies Fact,
                    ]),
                ...(value.fallback_message_id
                  ? [[t('Sent as a text instead'), <RecordLink id={value.fallback_message_id} />] satisfies Fact]
                  : []),
              ]}
            />
          </Card>
          <Story id={id} />
        </Detail>
      )}
    </Opened>
  )
}

type Fact = [name: string, value: ComponentChildren]

/** Everything that was said with the same person. */
function ConversationOf({ message: { direction, from, to } }: { message: MessengerMessage }) {
  const person = direction === 'inbound' ? from : to
  return (
    <Link to={`/conversations/${encodeURIComponent(person)}`}>
      <bdi dir="ltr">{person}</bdi>
    </Link>
  )
}
