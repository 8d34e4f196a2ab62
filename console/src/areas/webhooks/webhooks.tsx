// SPDX-License-Identifier: Apache-2.0
// Webhooks: where events are sent, and how another address is told of them. In test, one click makes an address that catches.
import { useState } from 'preact/hooks'
import {
  sandboxCreateHook,
  webhooksCallbackSecret,
  webhooksCreate,
  webhooksEvents,
  webhooksList,
  webhooksOpenPortal,
  webhooksRotateCallbackSecret,
} from '#sdk/operations.ts'
import { api, currentEnvironment, may } from '../../api.ts'
import { Several } from '../../kit/choose.tsx'
import { type Deed, Deeds } from '../../kit/detail.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Field, problemOf } from '../../kit/fields.tsx'
import { listOf } from '../../kit/filled.ts'
import { formOf } from '../../kit/form.tsx'
import { PageHead, Problem } from '../../kit/kit.tsx'
import { kindsOfEvents } from '../../kit/known.ts'
import { type ListOf, ListRecords, textOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'
import { WebhookSecret } from './secret.tsx'

const webhooks: ListOf = {
  title: 'Webhooks',
  icon: 'hook',
  path: webhooksList.at(),
  keyField: 'id',
  open: ['/webhooks/', 'id'],
  columns: [
    { name: 'Address', field: 'url', as: 'mono', priority: 1, card: 'title', grows: true },
    { name: 'Events', field: 'events', priority: 3, card: 'sub', text: (events) => textOf(events) },
    { name: 'Waiting', field: 'health.pending', as: 'count', priority: 2, card: 'end' },
    { name: 'Last success', field: 'health.last_success_at', as: 'time', priority: 4 },
    { name: 'Health', field: 'health.state', as: 'state', priority: 1, card: 'state' },
  ],
  none: { title: 'No webhooks', advice: 'Webhooks that receive events are listed here.' },
}

export function Webhooks() {
  const [turn, setTurn] = useState(0)
  return (
    <div class="page">
      <PageHead title={t('Webhooks')}>
        <Deeds deeds={deeds} />
      </PageHead>
      {may('webhooks:write') && <NewWebhook onMade={() => setTurn((before) => before + 1)} />}
      <ListRecords list={webhooks} turn={turn} />
      <EventsThatAreTold />
    </div>
  )
}

const scope = 'webhooks:write'

/** What is done for all webhooks: a page for others, and the secret of the addresses that requests name. */
const deeds: readonly Deed[] = [
  {
    name: 'Share a webhook portal',
    icon: 'external',
    scope,
    form: formOf(webhooksOpenPortal, {
      title: 'Share a webhook portal',
      action: 'Create link',
      fields: [
        { name: 'read_only', label: 'Read only', as: 'flag' },
        { name: 'expires_in', label: 'Valid for (seconds)', as: 'number' },
      ],
      done: ({ url }) => url,
    }),
  },
  {
    name: 'Callback signing secret',
    icon: 'key',
    scope,
    form: {
      title: 'Callback signing secret',
      action: 'Show it',
      fields: [{ name: 'new', label: 'Rotate', as: 'flag' }],
      async make({ new: isNew }) {
        const { secret } = isNew === 'yes' ? await webhooksRotateCallbackSecret(api) : await webhooksCallbackSecret(api)
        return secret
      },
    },
  },
]

const told: ListOf = {
  title: 'Event types',
  icon: 'bolt',
  path: webhooksEvents.at(),
  keyField: 'name',
  columns: [
    { name: 'Event', field: 'name', as: 'mono', priority: 1, card: 'title' },
    { name: 'Description', field: 'summary', priority: 1, card: 'sub', grows: true },
  ],
}

function EventsThatAreTold() {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details class="card making" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{t('Event types')}</summary>
      {isOpen && <ListRecords list={told} />}
    </details>
  )
}

function NewWebhook({ onMade }: { onMade(): void }) {
  const [url, setUrl] = useState('')
  const [kinds, setKinds] = useState('*')
  const [single, setSingle] = useState('')
  const [secret, setSecret] = useState<string | null>(null)
  const { error, isBusy, run } = useDoing()
  const first = useLoad('first webhook', () => webhooksList(api, { query: { limit: 1 } }))
  const isFirst = first.value?.data.length === 0
  const make = async (address: string): Promise<void> => {
    const wanted = { url: address, events: listOf(`${kinds},${single}`) }
    const made = await webhooksCreate(api, { body: wanted })
    setSecret(made.secret ?? null)
    setUrl('')
    onMade()
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    run(() => make(url))
  }
  const ofField = ['url', 'events'].some((field) => problemOf(error, field) !== undefined)
  return (
    <details class="card making" open={isFirst || secret !== null}>
      <summary>{t('Add an endpoint')}</summary>
      {error && !ofField && <Problem error={error} />}
      {secret && <WebhookSecret secret={secret} />}
      <form class="form" onSubmit={submit}>
        <Field
          label={t('Address')}
          value={url}
          onInput={setUrl}
          required
          hint="https://…"
          problem={problemOf(error, 'url')}
        />
        <Several
          label="Events"
          value={kinds}
          onInput={setKinds}
          problem={problemOf(error, 'events')}
          among={kindsOfEvents}
        />
        <Field
          label="Individual events"
          value={single}
          onInput={setSingle}
          hint="Such as payment.completed; several with commas"
        />
        <button type="submit" class="btn primary" disabled={isBusy}>
          {t('Add')}
        </button>
        {currentEnvironment() === 'test' && may('sandbox:write') && (
          <button
            type="button"
            class="btn"
            disabled={isBusy}
            onClick={() => run(async () => make((await sandboxCreateHook(api)).url))}
          >
            {t('Catch them here')}
          </button>
        )}
      </form>
    </details>
  )
}
