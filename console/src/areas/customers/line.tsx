// SPDX-License-Identifier: Apache-2.0
// One conversation in a list: who it is with, what was said last and when, and how much is not read.
import type { Conversation } from '#sdk/schemas.ts'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { Ago } from '../../kit/kit.tsx'
import { count } from '../../kit/words.ts'
import { initials } from '../../navigation.tsx'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'

/** Milliseconds between two readings of conversations, for members who are told no events. */
export const askMs = 10_000

export const channelIcons: Readonly<Record<string, IconName>> = { sms: 'message', messenger: 'chat', email: 'mail' }

export const nameOf = ({ name, phone, email }: Pick<Conversation, 'name' | 'phone' | 'email'>): string =>
  name ?? phone ?? email ?? t('Unknown')

export function Line({ row, isCurrent = false, to }: { row: Conversation; isCurrent?: boolean; to: string }) {
  const { channel, last_text, last_direction, last_at, unread } = row
  const said = last_text ?? (last_at === null ? t('No messages yet') : t('Sent a file'))
  return (
    <Link to={to} isCurrent={isCurrent}>
      <span class="letters" aria-hidden="true">
        {row.name ? initials(row.name) : '+'}
      </span>
      <span class="words">
        <span>
          <strong class="cut">
            <bdi>{nameOf(row)}</bdi>
          </strong>
          <small class="soft">{last_at && <Ago at={last_at} />}</small>
        </span>
        <span>
          <span class="soft cut">
            {channel && <Icon name={channelIcons[channel] ?? 'message'} />}{' '}
            {last_direction === 'outbound' && `${t('You')}: `}
            <span dir="auto">{said}</span>
          </span>
          {unread > 0 && (
            <span class="count warn" title={t('{count} not read', { count: unread })}>
              {count(unread)}
            </span>
          )}
        </span>
      </span>
    </Link>
  )
}
