// SPDX-License-Identifier: Apache-2.0
// The customer of a call: who they are, what they chose and how long they waited, their earlier calls, notes and other records.
import { useEffect, useState } from 'preact/hooks'
import { callcenterAgentContext } from '#sdk/operations.ts'
import type { AgentContext } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { type Deed, DeedButton } from '../../kit/detail.tsx'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { Ago, Card, Facts, Pill } from '../../kit/kit.tsx'
import { language, money, numberText, withheldNumber, words } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { textForm } from '../customers/forms.ts'
import { askForm } from '../payments/forms.ts'
import { clockOf } from './states.tsx'

/** What is known of the customer of a call; read when the call rings and when it is answered. */
export function useCustomer(agent_id: string, call_id: string | null, state: string): AgentContext | null {
  const [context, setContext] = useState<AgentContext | null>(null)
  useEffect(() => {
    if (call_id === null || state === 'none') return
    let isGone = false
    callcenterAgentContext(api, { agent_id }).then(
      (told) => !isGone && setContext(told),
      () => undefined,
    )
    return () => {
      isGone = true
    }
  }, [agent_id, call_id, state])
  return state === 'none' && context?.call?.call_id !== call_id ? null : context
}

const kinds: readonly (readonly [kind: keyof AgentContext['history'], icon: IconName, name: string])[] = [
  ['payments', 'coins', 'Payment'],
  ['messages', 'chat', 'Chat'],
  ['sms', 'message', 'Text'],
  ['emails', 'mail', 'Email'],
  ['verifications', 'face', 'Identity check'],
  ['ussd_sessions', 'hash', 'USSD session'],
]

interface Past {
  readonly key: string
  readonly at: string
  readonly icon: IconName
  readonly name: string
  readonly state: string | null
  /** Amount of a payment. */
  readonly sum: string | null
  /** What was written or noted, or what it was about. */
  readonly note: string | null
}

/** Everything with the customer, newest first. */
function storyOf({ history, notes, call }: AgentContext): Past[] {
  const calls = history.calls
    .filter(({ call_id }) => call_id !== call?.call_id)
    .map(
      (one): Past => ({
        ...{
          key: one.call_id,
          at: one.started_at,
          icon: 'call',
          name: t('Call'),
          state: one.disposition ?? one.outcome,
        },
        ...{ sum: null, note: null },
      }),
    )
  const noted = notes.map(
    (one): Past => ({
      ...{
        key: `note ${one.created_at}`,
        at: one.created_at,
        icon: 'note',
        name: t('Note'),
        state: null,
        sum: null,
        note: one.text,
      },
    }),
  )
  const others = kinds.flatMap(([kind, icon, name]) =>
    kind === 'calls'
      ? []
      : history[kind].map(
          ({ id, created_at, status, direction, title, amount, currency }): Past => ({
            ...{ key: id, at: created_at, icon, state: status, note: title },
            name:
              direction === 'inbound' && kind !== 'ussd_sessions'
                ? t('{name} from the customer', { name: t(name) })
                : t(name),
            sum: amount === null || currency === null ? null : money(amount, currency),
          }),
        ),
  )
  return [...calls, ...noted, ...others].sort((a, b) => b.at.localeCompare(a.at))
}

/** Buttons for a text and a request for money, to the phone of the call. */
function Quick({ context: { customer, call } }: { context: AgentContext }) {
  if (!customer || customer.phone === withheldNumber) return null
  const own = call?.direction === 'outbound' ? call.from : call?.to
  const deeds: readonly Deed[] = [
    { name: 'Send a text', icon: 'message', scope: 'sms:send', form: textForm(customer.phone, own) },
    { name: 'Request a payment', icon: 'coins', scope: 'payments:request', form: askForm(customer.phone) },
  ]
  return (
    <p class="row quick">
      {deeds
        .filter(({ scope = '' }) => may(scope))
        .map((deed) => (
          <DeedButton key={deed.name} deed={deed} />
        ))}
    </p>
  )
}

export function Customer({ context }: { context: AgentContext }) {
  const { customer, call } = context
  if (!customer) return null
  const past = storyOf(context)
  const chosen = call?.ivr_path.map(({ digit, label }) => [digit, label].filter(Boolean).join(' ')).join(', ')
  return (
    <Card title={customer.name ?? numberText(customer.phone)}>
      <Facts
        rows={[
          [t('Phone'), <span dir="auto">{numberText(customer.phone)}</span>],
          ...(call ? [[t('Waited'), clockOf(call.wait_seconds)] as [string, string]] : []),
          ...(chosen ? [[t('Menu choice'), chosen] as [string, string]] : []),
          ...(customer.language ? [[t('Language'), language(customer.language)] as [string, string]] : []),
          ...(customer.tags.length > 0 ? [[t('Tags'), customer.tags.join(', ')] as [string, string]] : []),
        ]}
      />
      <Quick context={context} />
      {past.length === 0 && <p class="soft">{t('No information about the caller yet.')}</p>}
      <ol class="story">
        {past.map(({ key, at, icon, name, state, sum, note }) => (
          <li key={key}>
            <Icon name={icon} />
            <span class="strong">{name}</span>
            {sum && <b>{sum}</b>}
            {state && <Pill state={state} word={words(state)} />}
            <span class="soft push">
              <Ago at={at} />
            </span>
            {note && (
              <span class="whole" dir="auto">
                {note}
              </span>
            )}
          </li>
        ))}
      </ol>
    </Card>
  )
}
