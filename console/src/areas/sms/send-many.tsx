// SPDX-License-Identifier: Apache-2.0
// One text to many: numbers from a file, words with what stands in its columns, the price before it goes, at once or later.
import { useState } from 'preact/hooks'
import { smsEstimate, smsSendBulk } from '#sdk/operations.ts'
import type { SmsEstimate } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { OneOf } from '../../kit/choose.tsx'
import { csvRows } from '../../kit/csv.ts'
import { useDoing } from '../../kit/doing.ts'
import { Choice, Field, TextField } from '../../kit/fields.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Card, Facts, PageHead, Problem } from '../../kit/kit.tsx'
import { senders } from '../../kit/known.ts'
import { RowsField } from '../../kit/rows-field.tsx'
import { count, momentAt, money } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'

type Row = Readonly<Record<string, string>>
const variable = /\{(\w+)\}/g

/** The text of one row: `Dear {name}` with its name. */
const textFor = (text: string, row: Row): string =>
  text.replace(variable, (whole, name: string) => row[name.toLowerCase()] ?? whole)

const phoneOf = (row: Row): string => row.phone ?? row.to ?? ''

export function SendMany(_: PageProps) {
  const [from, setFrom] = useState('')
  const [text, setText] = useState('')
  const [file, setFile] = useState('')
  const [at, setAt] = useState('')
  const [type, setType] = useState('transactional')
  const [price, setPrice] = useState<SmsEstimate | null>(null)
  const { run, error, isBusy } = useDoing()
  const rows = csvRows(file)
  const messages = rows.map((row) => ({ to: phoneOf(row), message: textFor(text, row) }))
  const longest = messages.reduce((most, { message }) => (message.length > most.length ? message : most), '')
  const changed =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value)
      setPrice(null)
    }
  const estimate = (): void =>
    run(async () =>
      setPrice(await smsEstimate(api, { body: { to: messages.map(({ to }) => to), from, message: longest } })),
    )
  const send = (event: Event): void => {
    event.preventDefault()
    if (!price) return estimate()
    run(async () => {
      const { batch_id } = await smsSendBulk(api, {
        body: {
          from,
          messages,
          type: type === 'promotional' ? 'promotional' : 'transactional',
          ...(at === '' ? {} : { scheduled_at: momentAt(at) }),
        },
      })
      go(`/batches/${batch_id}`)
    })
  }
  return (
    <div class="page">
      <PageHead title="Send to many" />
      {error && <Problem error={error} />}
      <form class="cols side" onSubmit={send}>
        <div class="stack">
          <Card title="Recipients">
            <RowsField label="Phones" columns={['phone']} value={file} onInput={changed(setFile)} />
          </Card>
          <Card title="Message">
            <OneOf
              label="Sender"
              known={senders}
              isOpen
              value={from}
              problem={undefined}
              onInput={changed(setFrom)}
              required
            />
            <TextField
              label="Text"
              value={text}
              onInput={changed(setText)}
              required
              hint="{name} is replaced by the value of the column name"
            />
          </Card>
          <Card title="Schedule">
            <div class="form in-line">
              <Field label="Scheduled for" type="moment" value={at} onInput={setAt} hint="Empty: now" />
              <Choice
                label="Kind"
                value={type}
                among={['transactional', 'promotional']}
                isRequired
                onChange={changed(setType)}
              />
            </div>
          </Card>
        </div>
        <div class="stack">
          <Preview rows={rows} text={text} />
          <Card title="Price">
            {price && (
              <>
                <p class="sum">{money(price.cost, price.currency)}</p>
                <Facts
                  rows={[
                    ['Phones', count(price.recipients)],
                    ['Segments of the longest text', count(price.segments)],
                    ...(price.suggestion ? [['Shorter', price.suggestion] satisfies [string, string]] : []),
                  ]}
                />
              </>
            )}
            <button type="submit" class="btn primary" disabled={isBusy || rows.length === 0}>
              {price
                ? t(at === '' ? 'Send {count} texts for {amount}' : 'Schedule {count} texts for {amount}', {
                    count: count(price.recipients),
                    amount: money(price.cost, price.currency),
                  })
                : t('Get the price')}
            </button>
          </Card>
        </div>
      </form>
    </div>
  )
}

/** The text as one after the other receives it, and which rows lack something. */
function Preview({ rows, text }: { rows: readonly Row[]; text: string }) {
  const [at, setAt] = useState(0)
  const shown = Math.min(at, Math.max(0, rows.length - 1))
  const row = rows[shown] ?? {}
  const names = [...text.matchAll(variable)].map(([, name = '']) => name.toLowerCase())
  const lacking = rows.filter((one) => names.some((name) => one[name] === undefined)).length
  return (
    <Card
      title={t('Preview')}
      action={
        rows.length > 1 ? (
          <span class="row">
            <span class="soft small">
              {t('{row} of {count}', { row: count(shown + 1), count: count(rows.length) })}
            </span>
            <button type="button" class="btn small square" disabled={shown === 0} onClick={() => setAt(shown - 1)}>
              <Icon name="left" />
              <span class="hidden">{t('Previous')}</span>
            </button>
            <button
              type="button"
              class="btn small square"
              disabled={shown + 1 >= rows.length}
              onClick={() => setAt(shown + 1)}
            >
              <Icon name="right" />
              <span class="hidden">{t('Next')}</span>
            </button>
          </span>
        ) : undefined
      }
    >
      {rows.length > 0 && <p class="soft small mono">{phoneOf(row)}</p>}
      <p class="bubble-preview text" dir="auto">
        {text === '' ? '…' : textFor(text, row)}
      </p>
      {lacking > 0 && (
        <div class="callout warn">
          <p>{t('{count} rows have no value for a variable', { count: count(lacking) })}</p>
        </div>
      )}
    </Card>
  )
}
