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
import { Card, Facts, PageHead, Problem } from '../../kit/kit.tsx'
import { senders } from '../../kit/known.ts'
import { RowsField } from '../../kit/rows-field.tsx'
import { count, momentAt, money } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'

/** The text of one row: `Dear {name}` with its name. */
const textFor = (text: string, row: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => row[name.toLowerCase()] ?? whole)

export function SendMany(_: PageProps) {
  const [from, setFrom] = useState('')
  const [text, setText] = useState('')
  const [file, setFile] = useState('')
  const [at, setAt] = useState('')
  const [type, setType] = useState('transactional')
  const [price, setPrice] = useState<SmsEstimate | null>(null)
  const { run, error, isBusy } = useDoing()
  const rows = csvRows(file)
  const messages = rows.map((row) => ({ to: row.phone ?? row.to ?? '', message: textFor(text, row) }))
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
      <form class="form wide" onSubmit={send}>
        <Card title="Recipients">
          <RowsField label="Phones" columns={['phone']} value={file} onInput={changed(setFile)} />
        </Card>
        <Card title="Message">
          <OneOf label="Sender" known={senders} value={from} problem={undefined} onInput={changed(setFrom)} required />
          <TextField
            label="Text"
            value={text}
            onInput={changed(setText)}
            required
            hint="{name} is replaced by the value of the column name"
          />
          {longest !== '' && (
            <p class="text" dir="auto">
              {messages[0]?.message}
            </p>
          )}
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
        {price && (
          <Card title="Price">
            <Facts
              rows={[
                ['Phones', count(price.recipients)],
                ['Segments of the longest text', count(price.segments)],
                ['Maximum price', money(price.cost, price.currency)],
                ['Shorter', price.suggestion],
              ]}
            />
          </Card>
        )}
        <button type="submit" class="btn primary" disabled={isBusy || rows.length === 0}>
          {price
            ? t('Send {count} texts for {amount}', {
                count: count(price.recipients),
                amount: money(price.cost, price.currency),
              })
            : t('Get the price')}
        </button>
      </form>
    </div>
  )
}
