// SPDX-License-Identifier: Apache-2.0
// Draft of a campaign in three steps: to whom, what by which channels and variants, and when; beside them what it would cost and what
// the messages look like. What is changed is saved as soon as typing stops or the page is left, and counted anew; never over what somebody
// else has changed meanwhile.
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { PamojaError } from '#sdk/client.ts'
import { campaignsGet, campaignsUpdate } from '#sdk/operations.ts'
import type { Campaign, CampaignPreview } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { OneOf } from '../../kit/choose.tsx'
import { complain } from '../../kit/dialogs.tsx'
import { Field, FileField, Switch, TextField } from '../../kit/fields.tsx'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { Card, Problem } from '../../kit/kit.tsx'
import { chatTemplates, emailSenders, segments, senders } from '../../kit/known.ts'
import type { Loaded } from '../../kit/load.ts'
import { momentAt, percent, typedMoment } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { Checks, Funnel, Price, Samples } from './beside.tsx'

/** Time for which nothing is typed before a draft is saved. */
const pauseMs = 700
const defaultShare = '50'
const placeholders = ['{{first_name|friend}}', '{{name}}', '{{optout}}'] as const

type Channel = Campaign['channel'][number]
const channelNames: Readonly<Record<Channel, readonly [name: string, icon: IconName]>> = {
  sms: ['Text', 'message'],
  messenger: ['Chat', 'chat'],
  email: ['Email', 'mail'],
}

/** Content as it is typed. */
interface Said {
  readonly from: string
  readonly text: string
  readonly template: string
  readonly language: string
  readonly mailFrom: string
  readonly subject: string
  /** Plain text of the email; undefined where it has HTML alone. */
  readonly mail: string | undefined
  /** HTML of the email; undefined where it has none. */
  readonly html: string | undefined
}

interface Draft {
  readonly segment: string
  /** Table that names the audience, until it is saved; null without a new one. */
  readonly csv: string | null
  readonly channels: readonly Channel[]
  readonly said: Said
  /** Content and share of variant B; null without one. */
  readonly other: { readonly said: Said; readonly share: string } | null
  readonly at: string
  readonly isLocal: boolean
  readonly isQuiet: boolean
  readonly quietFrom: string
  readonly quietTo: string
  readonly rate: string
  readonly budget: string
}

function saidOf({ sms, messenger, email }: Campaign['content']): Said {
  return {
    ...{ from: sms?.from ?? '', text: sms?.text ?? '' },
    ...{ template: messenger?.template ?? '', language: messenger?.language ?? 'en' },
    ...{ mailFrom: email?.from ?? '', subject: email?.subject ?? '', html: email?.html },
    mail: email?.text ?? (email?.html === undefined ? '' : undefined),
  }
}

function draftOf({ segment_id, channel, content, variants, schedule, quiet_hours, rate, budget }: Campaign): Draft {
  const [other] = variants
  const { at, local_at } = schedule
  return {
    ...{ segment: segment_id ?? '', csv: null, channels: channel, said: saidOf(content) },
    other: other ? { said: saidOf(other.content), share: String(other.share) } : null,
    at: local_at ?? (at === undefined ? '' : typedMoment(at)),
    isLocal: local_at !== undefined,
    ...{ isQuiet: quiet_hours !== null, quietFrom: quiet_hours?.from ?? '21:00', quietTo: quiet_hours?.to ?? '08:00' },
    ...{ rate: rate?.toString() ?? '', budget: budget?.toString() ?? '' },
  }
}

/** Content with what is typed for the channels that are chosen; what the page does not show is kept. */
function contentOf(channels: readonly Channel[], said: Said, before: Campaign['content']): Campaign['content'] {
  return {
    ...before,
    ...(channels.includes('sms') ? { sms: { from: said.from, text: said.text } } : {}),
    ...(channels.includes('messenger')
      ? { messenger: { ...before.messenger, template: said.template, language: said.language } }
      : {}),
    ...(channels.includes('email')
      ? {
          email: {
            from: said.mailFrom,
            subject: said.subject,
            ...(said.html === undefined ? {} : { html: said.html }),
            ...(said.mail === undefined ? {} : { text: said.mail }),
          },
        }
      : {}),
  }
}

type Body = NonNullable<Parameters<typeof campaignsUpdate>[1]['body']>

function bodyOf(draft: Draft, before: Campaign): Body {
  const { segment, csv, channels, said, other, at, isLocal, isQuiet, quietFrom, quietTo, rate, budget } = draft
  const [variant, ...variants] = before.variants
  return {
    ...(csv !== null ? { csv } : segment === '' ? {} : { segment_id: segment }),
    ...{ channel: [...channels], content: contentOf(channels, said, before.content) },
    variants:
      other === null
        ? []
        : [
            {
              ...{ name: variant?.name ?? 'B', share: Number(other.share) },
              content: contentOf(channels, other.said, variant?.content ?? before.content),
            },
            ...variants,
          ],
    schedule: at === '' ? {} : isLocal ? { local_at: at } : { at: momentAt(at) },
    quiet_hours: isQuiet ? { from: quietFrom, to: quietTo } : null,
    rate: rate === '' ? null : Number(rate),
    budget: budget === '' ? null : Number(budget),
  }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Settings that were changed. */
function changesOf(draft: Draft, before: Campaign): Body {
  const old = new Map(Object.entries(bodyOf(draftOf(before), before)))
  return Object.fromEntries(Object.entries(bodyOf(draft, before)).filter(([name, now]) => !isSame(now, old.get(name))))
}

/** A draft with what a channel needs and does not have yet: it is saved once it has. */
function isWhole({ channels, said, other, quietFrom, quietTo }: Draft): boolean {
  const has = ({ from, text, template, language, mailFrom, subject, mail, html }: Said): boolean =>
    (!channels.includes('sms') || (from !== '' && text !== '')) &&
    (!channels.includes('messenger') || (template !== '' && language !== '')) &&
    (!channels.includes('email') || (mailFrom !== '' && subject !== '' && mail !== '' && html !== ''))
  return channels.length > 0 && has(said) && (other === null || has(other.said)) && quietFrom !== '' && quietTo !== ''
}

/** Saves what is typed; gives the draft as it is stored then. */
export type Save = () => Promise<Campaign>

interface Writing {
  readonly draft: Draft
  /** What was typed when it was saved last. */
  readonly clean: Draft
  /** The campaign as it was read or saved last. */
  readonly base: Campaign
  /** What somebody else made of it, while it is open which of both stays. */
  readonly theirs: Campaign | null
}

const begun = (campaign: Campaign): Writing => {
  const draft = draftOf(campaign)
  return { draft, clean: draft, base: campaign, theirs: null }
}

/** What is typed, and its saving: each change names the version that it changes. */
function useWriting(campaign: Campaign, onSaved: (saved: Campaign) => void) {
  const [state, draw] = useState(() => begun(campaign))
  const latest = useRef(state)
  const underWay = useRef<Promise<Campaign> | null>(null)
  /** What was sent without an answer. */
  const lost = useRef<Draft | null>(null)
  const put = (change: Partial<Writing>): void => {
    latest.current = { ...latest.current, ...change }
    draw(latest.current)
  }
  /** Takes a newer version over where nothing that was typed stands against it, as in one's own of which the answer was lost. */
  const meet = (theirs: Campaign): void => {
    const { draft, clean, base } = latest.current
    const isOwn = lost.current !== null && isSame(changesOf({ ...lost.current, csv: null }, theirs), {})
    if (isSame(draft, clean)) put(begun(theirs))
    else if (isOwn || isSame(draftOf(theirs), draftOf(base))) put({ base: theirs })
    else put({ theirs })
  }
  const write = async (): Promise<Campaign> => {
    for (;;) {
      const { draft, clean, base, theirs } = latest.current
      if (theirs) throw new Error(t(changedMeanwhile))
      if (isSame(draft, clean)) return base
      if (!isWhole(draft)) throw new Error(t('The draft is not complete: fill in what its channels need.'))
      const changes = changesOf(draft, base)
      const body = { ...changes, unchanged_since: base.updated_at }
      const saved = isSame(changes, {}) ? base : await campaignsUpdate(api, { id: base.id, body }).catch(refused(draft))
      if (saved === null) continue
      put({ base: saved, clean: { ...draft, csv: null } })
      if (latest.current.draft.csv === draft.csv) put({ draft: { ...latest.current.draft, csv: null } })
      onSaved(saved)
    }
  }
  const refused =
    (draft: Draft) =>
    async (error: unknown): Promise<null> => {
      if (!(error instanceof PamojaError) || error.code !== 'CONFLICT') {
        lost.current = draft
        throw error
      }
      meet(await campaignsGet(api, { id: latest.current.base.id }))
      return null
    }
  const save: Save = () => {
    underWay.current ??= write().finally(() => {
      underWay.current = null
    })
    return underWay.current
  }
  useEffect(() => {
    if (Date.parse(campaign.updated_at) > Date.parse(latest.current.base.updated_at)) meet(campaign)
  }, [campaign.updated_at])
  useEffect(() => {
    const leave = (): void => {
      const { draft, clean, theirs } = latest.current
      if (!theirs && !isSame(draft, clean) && isWhole(draft)) void save().catch(complain)
    }
    window.addEventListener('pagehide', leave)
    return () => {
      window.removeEventListener('pagehide', leave)
      leave()
    }
  }, [])
  return { ...state, put, save, isChanged: !isSame(state.draft, state.clean) }
}

const changedMeanwhile = 'Somebody else changed this draft meanwhile. Nothing of yours is saved until you choose.'

interface EditorProps {
  campaign: Campaign
  preview: Loaded<CampaignPreview | null>
  /** Where the page finds how to save. */
  save: RefObject<Save | null>
  onSaved(saved: Campaign): void
}

export function Editor({ campaign, preview, save: outside, onSaved }: EditorProps) {
  const { draft, theirs, isChanged, put, save } = useWriting(campaign, onSaved)
  const [error, setError] = useState<Error | null>(null)
  const isReady = isWhole(draft)
  outside.current = save
  const canWrite = may('campaigns:write')
  const tryToSave = (): Promise<void> =>
    save().then(
      () => setError(null),
      (refusal) => setError(refusal),
    )
  useEffect(() => {
    if (!isChanged || !isReady || !canWrite || theirs) return
    const timer = setTimeout(tryToSave, pauseMs)
    return () => clearTimeout(timer)
  }, [JSON.stringify(draft), isChanged, isReady, canWrite, theirs])
  const take = (campaign: Campaign): void => {
    setError(null)
    put(begun(campaign))
    onSaved(campaign)
  }
  const keep = (campaign: Campaign): void => {
    setError(null)
    put({ base: campaign, clean: draftOf(campaign), theirs: null })
  }
  const set = (change: Partial<Draft>): void => put({ draft: { ...draft, ...change } })
  const isStuck = error !== null || theirs !== null
  const note = !isReady ? t('Not complete') : isStuck ? t('Not saved') : isChanged ? t('Saving…') : t('Saved')
  return (
    <div class="cols side">
      <fieldset class="stack bare" disabled={!canWrite}>
        {theirs && (
          <div class="callout warn" role="alert">
            <p>{t(changedMeanwhile)}</p>
            <div class="row">
              <button type="button" class="btn small" onClick={() => take(theirs)}>
                {t('Take theirs')}
              </button>
              <button type="button" class="btn small" onClick={() => keep(theirs)}>
                {t('Keep mine')}
              </button>
            </div>
          </div>
        )}
        {error && !theirs && isReady && <Problem error={error} retry={tryToSave} />}
        <Card title="To whom" step={1} action={<span class="soft small push">{note}</span>}>
          <Audience draft={draft} isList={campaign.segment_id === null} onChange={set} />
          <Funnel preview={preview} />
        </Card>
        <Content draft={draft} preview={preview.value} onChange={set} />
        <When draft={draft} currency={campaign.currency} onChange={set} />
      </fieldset>
      <div class="stack">
        <Price preview={preview.value} rate={draft.rate} />
        <Checks campaign={campaign} preview={preview.value} />
        <Samples preview={preview.value} />
      </div>
    </div>
  )
}

interface StepProps {
  draft: Draft
  onChange(change: Partial<Draft>): void
}

/** Segment, or a table that names customers. */
function Audience({ draft, isList, onChange }: StepProps & { isList: boolean }) {
  const [isTable, setTable] = useState(isList)
  const choose = (file: File | undefined): void => {
    if (file) void file.text().then((csv) => onChange({ csv, segment: '' }), complain)
  }
  return (
    <>
      <div class="segments">
        <button type="button" aria-pressed={!isTable} onClick={() => setTable(false)}>
          {t('Segment')}
        </button>
        <button type="button" aria-pressed={isTable} onClick={() => setTable(true)}>
          {t('CSV table')}
        </button>
      </div>
      {isTable ? (
        <>
          <FileField
            label="Table of customers"
            accept=".csv,text/csv"
            hint="One customer a row, named in a column external_id, phone or email; at most 10,000 rows"
            onFile={choose}
          />
          {isList && draft.segment === '' && draft.csv === null && (
            <p class="soft small">{t('The customers of a list are chosen. Another table replaces them.')}</p>
          )}
        </>
      ) : (
        <OneOf
          label="Segment"
          required
          known={segments}
          value={draft.segment}
          problem={undefined}
          onInput={(segment) => onChange({ segment, csv: null })}
        />
      )}
    </>
  )
}

function Content({ draft, preview, onChange }: StepProps & { preview: CampaignPreview | null }) {
  const { channels, said, other } = draft
  const toggle = (channel: Channel): void =>
    onChange({
      channels: channels.includes(channel) ? channels.filter((one) => one !== channel) : [...channels, channel],
    })
  const perText = preview?.by_channel.sms ? preview.parts / preview.by_channel.sms : null
  return (
    <Card
      title="Content"
      step={2}
      action={
        <div class="segments push">
          {(Object.keys(channelNames) as Channel[]).map((channel) => {
            const [name, icon] = channelNames[channel]
            const place = channels.indexOf(channel)
            return (
              <button key={channel} type="button" aria-pressed={place >= 0} onClick={() => toggle(channel)}>
                <Icon name={icon} /> {t(name)}
                {place >= 0 && channels.length > 1 ? ` ${place + 1}` : ''}
              </button>
            )
          })}
        </div>
      }
    >
      {channels.length > 1 && (
        <p class="soft small">{t('Each customer is sent to by the first of these that has an address and consent.')}</p>
      )}
      <Contents channels={channels} said={said} onChange={(next) => onChange({ said: next })} />
      {perText !== null && channels.includes('sms') && (
        <p class="soft small">
          {t('{count} SMS segments a text, on average', { count: String(Math.round(perText * 10) / 10) })}
        </p>
      )}
      <Switch
        label={t('Compare with a variant B')}
        isOn={other !== null}
        onChange={(isOn) => onChange({ other: isOn ? { said, share: defaultShare } : null })}
      />
      {other !== null && (
        <div class="variant">
          <label class="share">
            <span>{t('Variant B for {share} of the audience', { share: percent(Number(other.share) / 100, 0) })}</span>
            <input
              type="range"
              min="1"
              max="99"
              value={other.share}
              onInput={(event) => onChange({ other: { ...other, share: event.currentTarget.value } })}
            />
          </label>
          <Contents
            channels={channels}
            said={other.said}
            isOther
            onChange={(next) => onChange({ other: { ...other, said: next } })}
          />
        </div>
      )}
    </Card>
  )
}

interface ContentsProps {
  channels: readonly Channel[]
  said: Said
  /** Whether it is that of variant B. */
  isOther?: boolean
  onChange(said: Said): void
}

function Contents({ channels, said, isOther = false, onChange }: ContentsProps) {
  const set = (change: Partial<Said>): void => onChange({ ...said, ...change })
  return (
    <>
      {channels.map((channel) =>
        channel === 'sms' ? (
          <div key={channel} class="stack small-gaps">
            {!isOther && (
              <OneOf
                label="Sender"
                required
                known={senders}
                isOpen
                value={said.from}
                problem={undefined}
                onInput={(from) => set({ from })}
              />
            )}
            <TextField
              label={isOther ? 'Text of variant B' : 'Text'}
              rows={3}
              value={said.text}
              onInput={(text) => set({ text })}
            />
            <div class="row">
              <span class="soft small">{t('Insert')}</span>
              {placeholders.map((one) => (
                <button
                  key={one}
                  type="button"
                  class="btn small"
                  dir="ltr"
                  onClick={() => set({ text: said.text + one })}
                >
                  {one}
                </button>
              ))}
            </div>
          </div>
        ) : channel === 'messenger' ? (
          <div key={channel} class="form in-line">
            <OneOf
              label="Template"
              required
              known={chatTemplates}
              value={said.template}
              problem={undefined}
              onInput={(template) => set({ template })}
            />
            <Field label="Language" value={said.language} onInput={(language) => set({ language })} />
          </div>
        ) : (
          <div key={channel} class="stack small-gaps">
            {!isOther && (
              <OneOf
                label="From"
                required
                known={emailSenders}
                isOpen
                value={said.mailFrom}
                problem={undefined}
                onInput={(mailFrom) => set({ mailFrom })}
              />
            )}
            <Field label="Subject" value={said.subject} onInput={(subject) => set({ subject })} />
            {said.mail !== undefined && (
              <TextField label="Message" rows={5} value={said.mail} onInput={(mail) => set({ mail })} />
            )}
            {said.html !== undefined && (
              <TextField label="HTML" rows={8} value={said.html} onInput={(html) => set({ html })} />
            )}
          </div>
        ),
      )}
    </>
  )
}

function When({ draft, currency, onChange }: StepProps & { currency: string }) {
  const { at, isLocal, isQuiet, quietFrom, quietTo, rate, budget } = draft
  return (
    <Card title="When" step={3}>
      <div class="form in-line">
        <Field label="Begin" type="moment" value={at} hint="Empty: now" onInput={(next) => onChange({ at: next })} />
        <Field label="Messages a minute" type="number" value={rate} onInput={(next) => onChange({ rate: next })} />
        <Field
          label={t('Budget in {currency}', { currency })}
          type="number"
          value={budget}
          hint="Sending stops when the budget is reached"
          onInput={(next) => onChange({ budget: next })}
        />
      </div>
      <Switch
        label={t('By the clock of each customer')}
        isOn={isLocal}
        onChange={(isOn) => onChange({ isLocal: isOn })}
      />
      <Switch
        label={t('Nothing is sent at night, by the clock of each customer')}
        isOn={isQuiet}
        onChange={(isOn) => onChange({ isQuiet: isOn })}
      />
      {isQuiet && (
        <div class="form in-line">
          <Field label="Not after" value={quietFrom} onInput={(next) => onChange({ quietFrom: next })} />
          <Field label="Not before" value={quietTo} onInput={(next) => onChange({ quietTo: next })} />
        </div>
      )}
    </Card>
  )
}
