// SPDX-License-Identifier: Apache-2.0
// The messenger on a handset: what arrived, the buttons it came with, and a line to write in.
import { useState } from 'preact/hooks'
import { sandboxMessengerHandset, sandboxMessengerInbound } from '#sdk/operations.ts'
import { api, pageAt } from '../../api.ts'
import { Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { clockTime } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Line, Screen } from '../../phone/screen.tsx'
import { t } from '../../words.ts'

interface Choice {
  id: string
  title: string
}

interface ChatMessage {
  message_id: string
  direction: 'outbound' | 'inbound'
  type: string
  status: string
  accepted_at: string
  text?: { body?: string }
  template?: { name: string }
  interactive?: {
    body?: { text?: string }
    action?: { buttons?: { reply?: Choice }[]; sections?: { rows?: Choice[] }[] }
  }
}

export function Chat({ number }: { number: string }) {
  const ask = () => pageAt<ChatMessage>(sandboxMessengerHandset.at({ query: { phone: number, limit: 50 } }), {})
  const { value, error, reload } = useLoad(number, ask)
  const [refused, setRefused] = useState<Error | null>(null)
  useLive('messenger.', reload, { about: number })
  const messages = [...(value?.data ?? [])].reverse()
  const write = (body: string) =>
    sandboxMessengerInbound(api, { body: { from: number, type: 'text', text: { body } } }).then(reload)
  const press = (type: 'button_reply' | 'list_reply', choice: Choice, to: string): void => {
    const interactive = { type, [type]: { id: choice.id, title: choice.title } }
    sandboxMessengerInbound(api, {
      body: { from: number, type: 'interactive', interactive, context: { message_id: to } },
    }).then(reload, setRefused)
  }
  return (
    <>
      <Screen label={t('Chat on {number}', { number })} newest={messages.length}>
        {(error ?? refused) && <Problem error={error ?? refused ?? new Error()} retry={reload} />}
        {value && messages.length === 0 && (
          <p class="soft">{t('No chat yet. Write, or send this number a message.')}</p>
        )}
        {messages.map((message) => (
          <div key={message.message_id} class={`bubble ${message.direction === 'inbound' ? 'written' : 'received'}`}>
            <p class="text">{wordsOf(message)}</p>
            {message.direction === 'outbound' && <Choices message={message} onPress={press} />}
            <p class="when">{clockTime(message.accepted_at)}</p>
          </div>
        ))}
      </Screen>
      <Line label={t('Write from the phone')} action="Write" onSend={write} />
    </>
  )
}

function wordsOf({ type, text, template, interactive }: ChatMessage): string {
  return text?.body ?? interactive?.body?.text ?? template?.name ?? type
}

interface ChoicesProps {
  message: ChatMessage
  onPress(type: 'button_reply' | 'list_reply', choice: Choice, to: string): void
}

function Choices({ message: { message_id, interactive }, onPress }: ChoicesProps) {
  const buttons = (interactive?.action?.buttons ?? []).flatMap(({ reply }) => reply ?? [])
  const rows = (interactive?.action?.sections ?? []).flatMap((section) => section.rows ?? [])
  return (
    <>
      {buttons.map((choice) => (
        <button
          key={choice.id}
          type="button"
          class="btn small"
          onClick={() => onPress('button_reply', choice, message_id)}
        >
          {choice.title}
        </button>
      ))}
      {rows.map((choice) => (
        <button
          key={choice.id}
          type="button"
          class="btn small"
          onClick={() => onPress('list_reply', choice, message_id)}
        >
          {choice.title}
        </button>
      ))}
    </>
  )
}
