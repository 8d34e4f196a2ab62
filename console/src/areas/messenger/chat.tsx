// SPDX-License-Identifier: Apache-2.0
// One chat message: what it says, how far it came, and what happened to it.
import { messengerGet } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { Card, Facts } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { Story } from '../../kit/story.tsx'
import { words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
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
                [t('Direction'), words(value.direction)],
                [t('Template'), value.template?.name],
              ]}
            />
          </Card>
          <Story id={id} />
        </Detail>
      )}
    </Opened>
  )
}
