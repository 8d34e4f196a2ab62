// SPDX-License-Identifier: Apache-2.0
// Answer to a customer: its channel, price and rules stand there before it is sent, templates and files are a click away, and what was
// typed is kept until it is sent, a note as a note. An answer that is on its way is sent once, also where the agent goes on meanwhile.
import { useEffect, useRef, useState } from 'preact/hooks'
import {
  conversationsAddNote,
  conversationsReply,
  emailListTemplates,
  messengerListTemplates,
  messengerUploadMedia,
} from '#sdk/operations.ts'
import type { ConversationDetail } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { complain } from '../../kit/dialogs.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { Menu } from '../../kit/menu.tsx'
import { money, shortMoment } from '../../kit/words.ts'
import { sentenceOf } from '../../refusals.ts'
import { store } from '../../store.ts'
import { t } from '../../words.ts'
import { base64Of } from './files.ts'
import { channelIcons, nameOf } from './line.tsx'

const channelNames: Readonly<Record<string, string>> = { sms: 'Text', messenger: 'Chat', email: 'Email' }

const answerKey = (id: string): string => `pamoja-draft ${id}`
const noteKey = (id: string): string => `pamoja-note ${id}`

/** Words of a conversation that were not sent. */
interface Draft {
  readonly text: string
  readonly isNote: boolean
}

/** Drafts that were typed or sent since the page was loaded. */
const drafts = store<Readonly<Record<string, Draft>>>({})
/** Conversations whose answer is on its way. */
const sending = store<ReadonlySet<string>>(new Set())

/** Draft of a conversation: a note if there is one, or else an answer. */
function draftOf(id: string): Draft {
  const typed = drafts.get()[id]
  if (typed) return typed
  const note = sessionStorage.getItem(noteKey(id)) ?? ''
  return note === ''
    ? { text: sessionStorage.getItem(answerKey(id)) ?? '', isNote: false }
    : { text: note, isNote: true }
}

function keepDraft(id: string, change: Partial<Draft>): void {
  const { text, isNote } = { ...draftOf(id), ...change }
  sessionStorage.setItem(noteKey(id), isNote ? text : '')
  sessionStorage.setItem(answerKey(id), isNote ? '' : text)
  drafts.set({ ...drafts.get(), [id]: { text, isNote } })
}

const problemWords: Readonly<Record<string, string>> = {
  no_address: 'No number or address is known.',
  opted_out: 'The customer opted out of this channel.',
  window_closed: 'The customer has not written for 24 hours: only templates can be sent.',
  no_sender: 'Mail needs a verified domain.',
}

/** What goes with an answer instead of words, or beside them. */
interface Extras {
  readonly files: readonly File[]
  /** Template of email that is sent instead of words. */
  readonly template: string | null
}
const noExtras: Extras = { files: [], template: null }

type Way = ConversationDetail['channels'][number]

export function Composer({ talk, onSent }: { talk: ConversationDetail; onSent(): Promise<void> }) {
  const { id, channels } = talk
  drafts.use()
  const { text, isNote } = draftOf(id)
  const isBusy = sending.use().has(id)
  const usual = (channels.find(({ is_open }) => is_open) ?? channels[0])?.channel
  const [channel, setChannel] = useState(usual)
  const [{ files, template }, setExtras] = useState(noExtras)
  const [error, setError] = useState<Error | null>(null)
  const isGone = useRef(false)
  const box = useRef<HTMLTextAreaElement>(null)
  const templates = useRef<HTMLDivElement>(null)
  const way = channels.find((one) => one.channel === channel)
  useEffect(
    () => () => {
      isGone.current = true
    },
    [],
  )
  // The channel follows the customer to another one, but never under words or files.
  const isBegun = text !== '' || files.length > 0 || template !== null
  const followed = useRef(talk.channel)
  useEffect(() => {
    if (isBegun || followed.current === talk.channel) return
    followed.current = talk.channel
    setChannel(usual)
  }, [talk.channel, isBegun])
  const choose = (next: Way['channel'] | null): void => {
    keepDraft(id, { isNote: next === null })
    if (next !== null) setChannel(next)
    setExtras(noExtras)
  }
  const own = { conversation_id: id }
  const send = async (): Promise<void> => {
    if (sending.get().has(id)) return
    sending.set(new Set([...sending.get(), id]))
    setError(null)
    try {
      if (isNote) await conversationsAddNote(api, { ...own, body: { text } })
      else await conversationsReply(api, { ...own, body: await bodyOf(channel, text, { files, template }) })
      // Words that a template took the place of are still to be sent.
      if (isNote || template === null) keepDraft(id, { text: '' })
      setExtras(noExtras)
      await onSent()
    } catch (thrown) {
      const cause = thrown instanceof Error ? thrown : new Error(String(thrown))
      setError(cause)
      if (isGone.current)
        complain(new Error(t('Not sent to {name}: {reason}', { name: nameOf(talk), reason: sentenceOf(cause) })))
    } finally {
      sending.set(new Set([...sending.get()].filter((one) => one !== id)))
    }
  }
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyped = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      if (isTyped || event.ctrlKey || event.metaKey || !['r', 'n'].includes(event.key)) return
      event.preventDefault()
      if (event.key === 'n') choose(null)
      else keepDraft(id, { isNote: false })
      box.current?.focus()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
  const isShut = !isNote && way?.is_open === false
  const isEmpty = text.trim() === '' && (isNote || (template === null && (files.length === 0 || channel === 'email')))
  const takesTemplates =
    !isNote && way?.takes_template === true && may(channel === 'email' ? 'email:read' : 'messenger:read')
  const takesFiles =
    !isNote &&
    !isShut &&
    template === null &&
    (channel === 'email' || (channel === 'messenger' && may('messenger:write')))
  return (
    <form
      class={isNote ? 'composer noting' : 'composer'}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <div>
        <div class="segments">
          {channels
            .filter(({ to }) => to !== null)
            .map((one) => (
              <button
                key={one.channel}
                type="button"
                aria-pressed={!isNote && one.channel === channel}
                onClick={() => choose(one.channel)}
              >
                <Icon name={channelIcons[one.channel] ?? 'message'} /> {t(channelNames[one.channel] ?? one.channel)}
              </button>
            ))}
          <button type="button" aria-pressed={isNote} onClick={() => choose(null)}>
            <Icon name="note" /> {t('Note')}
          </button>
        </div>
        <small class="soft push">{isNote ? t('Visible to your team only') : way && <Terms way={way} />}</small>
      </div>
      {template === null && (
        <label>
          <span class="hidden">{isNote ? t('Note') : t('Answer')}</span>
          <textarea
            ref={box}
            value={text}
            dir="auto"
            placeholder={isNote ? t('Add a note') : t('Answer')}
            disabled={isShut}
            readOnly={isBusy}
            onInput={(event) => keepDraft(id, { text: event.currentTarget.value })}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat && !isEmpty) void send()
              const menu = event.key === '/' && text === '' ? templates.current?.querySelector('button') : null
              if (!menu) return
              event.preventDefault()
              menu.click()
            }}
          />
        </label>
      )}
      {(template !== null || files.length > 0) && (
        <ul class="enclosed">
          {template !== null && (
            <Enclosed icon="template" name={template} onRemove={() => setExtras({ files, template: null })} />
          )}
          {files.map((file) => (
            <Enclosed
              key={file.name}
              icon="attach"
              name={file.name}
              onRemove={() => setExtras({ template, files: files.filter((one) => one !== file) })}
            />
          ))}
        </ul>
      )}
      {error && <Problem error={error} />}
      <div>
        {takesTemplates && (
          <div ref={templates}>
            <TemplateMenu
              of={channel === 'email' ? 'email' : 'messenger'}
              onEmail={(name) => setExtras({ files: [], template: name })}
              onChat={(name, language) =>
                void conversationsReply(api, { ...own, body: { template: { name, language } } }).then(onSent, complain)
              }
            />
          </div>
        )}
        {takesFiles && (
          <label class="btn quiet square attach" title={t('Attach a file')}>
            <Icon name="attach" />
            <span class="hidden">{t('Attach a file')}</span>
            <input
              type="file"
              multiple={channel === 'email'}
              onChange={(event) => {
                const chosen = [...(event.currentTarget.files ?? [])]
                setExtras({ template, files: channel === 'email' ? [...files, ...chosen] : chosen })
                event.currentTarget.value = ''
              }}
            />
          </label>
        )}
        <button type="submit" class="btn primary push" disabled={isBusy || isEmpty || (isShut && template === null)}>
          <Icon name={isNote ? 'note' : 'send'} /> {isNote ? t('Add a note') : t('Send')}
        </button>
      </div>
    </form>
  )
}

function Enclosed({ icon, name, onRemove }: { icon: 'attach' | 'template'; name: string; onRemove(): void }) {
  return (
    <li>
      <Icon name={icon} /> <bdi class="cut">{name}</bdi>
      <button type="button" class="btn quiet square" title={t('Remove {name}', { name })} onClick={onRemove}>
        <Icon name="x" />
      </button>
    </li>
  )
}

type Answer = NonNullable<Parameters<typeof conversationsReply>[1]['body']>

/** Files that are up, so that an answer that is sent again is the same. */
const uploaded = new WeakMap<File, string>()

/** Megabytes of files that an email of 25 MiB holds in base64. */
const maxFilesMb = 18

/** The answer as it is sent; a file of a chat goes up first. */
async function bodyOf(channel: Way['channel'] | undefined, text: string, { files, template }: Extras): Promise<Answer> {
  const own = channel ? { channel } : {}
  if (template !== null) return { ...own, email_template: { name: template } }
  const [file] = files
  if (!file) return { ...own, text }
  if (channel === 'email') {
    if (files.reduce((sum, { size }) => sum + size, 0) > maxFilesMb * 1_000_000)
      throw new Error(t('An email takes files of {size} MB in all: remove some, or send a link.', { size: maxFilesMb }))
    const attachments = files.map(async (one) => ({ filename: one.name, content: await base64Of(one) }))
    return { ...own, text, attachments: await Promise.all(attachments) }
  }
  const type = kindOf(file)
  if (type === 'audio' && text.trim() !== '')
    throw new Error(t('An audio file takes no words: send them before it or after it.'))
  const body = new FormData()
  body.append('file', file)
  const media_id = uploaded.get(file) ?? (await messengerUploadMedia(api, { body })).media_id
  uploaded.set(file, media_id)
  return { ...own, media: { type, media_id }, ...(text.trim() === '' ? {} : { text }) }
}

function kindOf({ type }: File): 'image' | 'video' | 'audio' | 'document' {
  const [kind] = type.split('/')
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document'
}

/** What an answer costs and until when it is taken, or why it is not. */
function Terms({ way }: { way: Way }) {
  const { problem, open_until, price, currency, channel } = way
  if (problem !== null)
    return (
      <>
        <Pill state="blocked" tone="warn" word={t('Not possible')} /> {t(problemWords[problem] ?? 'Not possible')}
      </>
    )
  const cost =
    price === null || currency === null
      ? ''
      : price === 0
        ? t('Free of charge')
        : t(channel === 'sms' ? '{price} a part' : '{price} a message', { price: money(price, currency) })
  return <>{[cost, open_until && t('until {time}', { time: shortMoment(open_until) })].filter(Boolean).join(' · ')}</>
}

interface Choosing {
  of: 'messenger' | 'email'
  onChat(name: string, language: string): void
  onEmail(name: string): void
}

function TemplateMenu({ of, onChat, onEmail }: Choosing) {
  return (
    <Menu
      label={t('Templates')}
      button={
        <>
          <Icon name="template" /> {t('Templates')}
        </>
      }
    >
      {(close) =>
        of === 'email' ? (
          <EmailTemplates
            onChoose={(name) => {
              close()
              onEmail(name)
            }}
          />
        ) : (
          <ChatTemplates
            onChoose={(name, language) => {
              close()
              onChat(name, language)
            }}
          />
        )
      }
    </Menu>
  )
}

function EmailTemplates({ onChoose }: { onChoose(name: string): void }) {
  const { value, error } = useLoad('email templates', () => emailListTemplates(api, { query: { limit: 100 } }))
  if (error) return <Problem error={error} />
  if (!value) return <Waiting lines={3} />
  if (value.data.length === 0) return <p class="menu-title">{t('No email template yet')}</p>
  return (
    <>
      {value.data.map(({ id, name, subject }) => (
        <button key={id} type="button" class="menu-item" onClick={() => onChoose(name)}>
          {name}
          <small>{subject}</small>
        </button>
      ))}
    </>
  )
}

function ChatTemplates({ onChoose }: { onChoose(name: string, language: string): void }) {
  const { value, error } = useLoad('templates', () => messengerListTemplates(api, { query: { limit: 100 } }))
  if (error) return <Problem error={error} />
  if (!value) return <Waiting lines={3} />
  const usable = value.data.filter(({ status }) => status === 'APPROVED')
  if (usable.length === 0) return <p class="menu-title">{t('No template is approved yet')}</p>
  return (
    <>
      {usable.map(({ id, name, language }) => (
        <button key={id} type="button" class="menu-item" onClick={() => onChoose(name, language)}>
          {name}
          <small>{language}</small>
        </button>
      ))}
    </>
  )
}
