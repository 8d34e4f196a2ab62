// SPDX-License-Identifier: Apache-2.0
// Texts, chats and mail beside calls: the open conversations that are assigned to the agent.
import { conversationsList } from '#sdk/operations.ts'
import { api, may } from '../../api.ts'
import { Card, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { askMs, Line } from '../customers/line.tsx'

/** Further ones are in the inbox. */
const limit = 8

export function Conversations({ member }: { member: string }) {
  return may('conversations:own') ? <Own member={member} /> : null
}

function Own({ member }: { member: string }) {
  const query = { state: 'open', assignee: member, limit } as const
  const { value, error, reload } = useLoad(member, () => conversationsList(api, { query }))
  useLive('conversation.', reload, { askMs })
  const rows = value?.data ?? []
  return (
    <Card title="Your conversations" action={<Link to="/inbox?show=mine">{t('Inbox')}</Link>}>
      {error && <Problem error={error} retry={reload} />}
      {value && rows.length === 0 && <p class="soft">{t('No text, chat or mail is assigned to you.')}</p>}
      <ul class="conversations">
        {rows.map((row) => (
          <li key={row.id}>
            <Line row={row} to={`/inbox/${row.id}?show=mine`} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
