// SPDX-License-Identifier: Apache-2.0
// Customers from a file: what it would do is shown before it is sent; then how far it is, and what became of its rows.
import { useEffect, useState } from 'preact/hooks'
import {
  customersGetImport,
  customersGetImportErrors,
  customersImport,
  customersPreviewImport,
} from '#sdk/operations.ts'
import type { CustomerImport, CustomerImportPreview } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Meter } from '../../kit/chart.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { complain } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { FileField } from '../../kit/fields.tsx'
import { saved } from '../../kit/filters.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Card, FiguresRow, PageHead, Pill, Problem, TwoLines } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, percent, roughly, words } from '../../kit/words.ts'
import { go, Link } from '../../place.tsx'
import { t } from '../../words.ts'

/** Beginning of a file that is looked at before it is sent. */
const beginningBytes = 48 * 1024
/** A large file over a slow line. */
const sendingMs = 3_600_000
const lookMs = 1_000

interface Chosen {
  readonly file: File
  readonly preview: CustomerImportPreview
  /** Rows that the file has, by those of its beginning. */
  readonly rows: number
  readonly isWhole: boolean
}

async function lookedAt(file: File): Promise<Chosen> {
  const isWhole = file.size <= beginningBytes
  const bytes = await file.slice(0, beginningBytes).arrayBuffer()
  const text = decoded(bytes, isWhole)
  const beginning = isWhole ? text : text.slice(0, text.lastIndexOf('\n') + 1)
  const preview = await customersPreviewImport(api, { body: { beginning: beginning || text } })
  const lines = beginning.split('\n').filter((line) => line.trim() !== '').length
  const rows = lines - (preview.format === 'csv' ? 1 : 0)
  return { file, preview, isWhole, rows: isWhole ? rows : Math.round((rows / beginning.length) * file.size) }
}

function decoded(bytes: ArrayBuffer, isWhole: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole })
  } catch {
    throw new Error(t('The file is not in UTF-8. Save it as “CSV UTF-8” and choose it again.'))
  }
}

export function ImportPage() {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const looking = useDoing()
  const sending = useDoing()
  const choose = (file: File | undefined): void => {
    setChosen(null)
    if (file) looking.run(async () => setChosen(await lookedAt(file)))
  }
  const send = (file: File): void =>
    sending.run(async () => {
      const body = new FormData()
      body.append('file', file)
      const answer = await api.send(customersImport.method, customersImport.path, { body, timeout: sendingMs })
      const { data }: { data: CustomerImport } = await answer.json()
      go(`/customers/imports/${data.import_id}`)
    })
  return (
    <div class="page">
      <nav class="crumbs" aria-label={t('Breadcrumbs')}>
        <Link to="/customers">{t('Customers')}</Link>
        <Icon name="right" />
        <Link to="/customers/imports">{t('Imports')}</Link>
      </nav>
      <PageHead title="Import customers" />
      <Card title={t('File')}>
        <FileField
          label="CSV or JSON lines"
          accept=".csv,.tsv,.txt,.jsonl,.ndjson,text/csv,application/x-ndjson"
          hint="A row finds its customer by external_id, phone or email, and creates one if there is none. Empty cells change nothing."
          onFile={choose}
        />
        {looking.error && <Problem error={looking.error} />}
        {sending.error && <Problem error={sending.error} />}
      </Card>
      {chosen && <Preview chosen={chosen} isBusy={sending.isBusy} onSend={() => send(chosen.file)} />}
    </div>
  )
}

function Preview({ chosen, isBusy, onSend }: { chosen: Chosen; isBusy: boolean; onSend(): void }) {
  const { preview, rows, isWhole } = chosen
  const { columns, reason } = preview
  const unknown = columns.filter(({ known }) => !known)
  const many = isWhole ? count(rows) : `≈ ${roughly(rows)}`
  const isRefused = preview.rows.length === 0
  return (
    <>
      {unknown.length > 0 && (
        <div class={isRefused ? 'callout bad' : 'callout warn'} role="alert">
          <p>
            {t('Not known: {names}. Columns of your own begin with attributes., such as attributes.plan.', {
              names: unknown.map(({ name }) => name || '–').join(', '),
            })}
          </p>
        </div>
      )}
      {reason && (
        <div class="callout bad" role="alert">
          <p>{reason}</p>
        </div>
      )}
      <Card title={t('Columns')}>
        <ul class="lines">
          {columns.map(({ name, field, known }, i) => (
            <li key={`${i} ${name}`}>
              <bdi class="mono" dir="ltr">
                {name || '–'}
              </bdi>
              {known ? (
                <span class={field === null ? 'soft' : ''}>{field === null ? t('Excluded') : fieldName(field)}</span>
              ) : (
                <Pill state="failed" word={t('Not known')} />
              )}
            </li>
          ))}
        </ul>
      </Card>
      {!isRefused && (
        <Card
          title={t('First rows')}
          action={
            <button type="button" class="btn primary" disabled={isBusy} onClick={onSend}>
              {isBusy ? t('Sending the file') : t('Import {count} rows', { count: many })}
            </button>
          }
        >
          <ul class="lines">
            {preview.rows.map(({ line, outcome, name, external_id, phones, emails, problem }) => (
              <li key={line}>
                {problem === null ? (
                  <TwoLines
                    first={name ?? phones[0] ?? emails[0] ?? external_id ?? t('Unknown')}
                    second={[...phones, ...emails].join(', ') || external_id}
                  />
                ) : (
                  <TwoLines first={t('Line {line}', { line: String(line) })} second={problem} />
                )}
                <Outcome is={outcome} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  )
}

const fieldNames: Readonly<Record<string, string>> = {
  ...{ external_id: 'Your own id', name: 'Name', language: 'Language', country: 'Country', timezone: 'Time zone' },
  ...{ phones: 'Phone numbers', emails: 'Email addresses', tags: 'Tags', consent_source: 'Source of consent' },
}

const channelNames: Readonly<Record<string, string>> = { sms: 'Texts', messenger: 'Chats', email: 'Email' }

function fieldName(field: string): string {
  const [channel = '', purpose = ''] = field.split('_')
  if (field.startsWith('attributes.')) return t('Attribute {name}', { name: field.slice('attributes.'.length) })
  if (fieldNames[field] !== undefined) return t(fieldNames[field])
  if (channelNames[channel] !== undefined) return `${t(channelNames[channel])}: ${words(purpose)}`
  return words(field)
}

const outcomes = {
  created: ['active', 'New'],
  updated: ['processing', 'Changed'],
  unchanged: ['draft', 'As before'],
  failed: ['failed', 'Not imported'],
} as const

function Outcome({ is }: { is: keyof typeof outcomes }) {
  const [state, word] = outcomes[is]
  return <Pill state={state} word={t(word)} />
}

export function ImportedPage({ id }: PageProps) {
  const made = useLoad(id, () => customersGetImport(api, { id }))
  const { value, reload } = made
  const isRunning = value?.state === 'running'
  useEffect(() => {
    if (!isRunning) return
    const timer = setTimeout(() => void reload(), lookMs)
    return () => clearTimeout(timer)
  }, [value])
  return <Opened record={made}>{(shown) => <Imported id={id} made={shown} />}</Opened>
}

function Imported({ id, made }: { id: string; made: CustomerImport }) {
  const { state, file_name, file_bytes, bytes_read, rows_read, created, updated, unchanged, failed, reason } = made
  const share = state === 'completed' ? 1 : bytes_read / Math.max(1, file_bytes)
  const download = (): void => {
    api
      .send('GET', customersGetImportErrors.at({ id }), { headers: { accept: 'text/csv' } })
      .then(async (answer) => saved(await answer.blob(), 'import-errors.csv'))
      .catch(complain)
  }
  return (
    <Detail
      in={['/customers/imports', 'Imports']}
      id={id}
      title={file_name ?? t('File')}
      state={state}
      path={customersGetImport.at({ id })}
      raw={made}
    >
      {reason && (
        <div class="callout bad" role="alert">
          <p>{t('The file could not be read on: {reason}. Rows before that are imported.', { reason })}</p>
        </div>
      )}
      <Card title={t('Progress')} action={<span class="num">{percent(share, 0)}</span>}>
        <Meter share={share} {...(state === 'failed' ? { tone: 'bad' as const } : {})} />
        <p class="soft" role="status">
          {t('{count} rows are done.', { count: count(rows_read) })}
          {made.consents_withdrawn > 0 &&
            ` ${t('{count} consents stay withdrawn: the customers had withdrawn them before.', { count: count(made.consents_withdrawn) })}`}
        </p>
      </Card>
      <FiguresRow
        figures={[
          [t('New'), count(created)],
          [t('Changed'), count(updated)],
          [t('As before'), count(unchanged)],
          [t('Not imported'), count(failed)],
        ]}
      />
      {failed > 0 && (
        <div class="callout warn">
          <p>
            {t('{count} rows were not imported. The file of errors has the line and the reason of each.', {
              count: count(failed),
            })}
          </p>
          <button type="button" class="btn" onClick={download}>
            <Icon name="download" />
            {t('Download the errors')}
          </button>
        </div>
      )}
      {state !== 'running' && (
        <p>
          <Link to="/customers" class="btn">
            {t('Show the customers')}
          </Link>
        </p>
      )}
    </Detail>
  )
}
