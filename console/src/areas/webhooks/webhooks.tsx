// SPDX-License-Identifier: Apache-2.0
// Webhooks: where events are sent, and how another address is told of them. In test, one click makes an address that catches.
import { useState } from 'preact/hooks'
import { sandboxCreateHook, webhooksCreate, webhooksList } from '#sdk/operations.ts'
import type { Webhook } from '#sdk/schemas.ts'
import { api, currentEnvironment, may } from '../../api.ts'
import { Card, Field, PageHead, Pill, Problem } from '../../kit/kit.tsx'
import { none, Records } from '../../kit/records.tsx'
import { moment } from '../../kit/words.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'

export function Webhooks() {
  const [turn, setTurn] = useState(0)
  return (
    <div class="page">
      <PageHead title={t('Webhooks')} />
      {may('webhooks:write') && <NewWebhook onMade={() => setTurn((before) => before + 1)} />}
      <Records<Webhook>
        key={turn}
        label={t('Webhooks')}
        path={webhooksList.at()}
        keyOf={({ id }) => id}
        empty={none(
          t('No webhooks'),
          may('webhooks:write')
            ? t('An address that you enter above is told of events.')
            : t('Addresses that are told of events are listed here.'),
        )}
        columns={[
          {
            name: t('Address'),
            show: ({ id, url }) => (
              <Link to={`/webhooks/${id}`} class="mono">
                {url}
              </Link>
            ),
          },
          { name: t('Events'), show: ({ events }) => <span class="cut">{events.join(', ')}</span> },
          { name: t('State'), show: ({ enabled }) => <Pill state={enabled ? 'active' : 'disabled'} /> },
          { name: t('Since'), show: ({ created_at }) => moment(created_at) },
        ]}
      />
    </div>
  )
}

function NewWebhook({ onMade }: { onMade(): void }) {
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState('*')
  const [error, setError] = useState<Error | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const make = (address: string): Promise<void> => {
    setError(null)
    const wanted = { url: address, events: events.split(/[\s,]+/).filter(Boolean) }
    return webhooksCreate(api, { body: wanted }).then((made) => {
      setSecret(made.secret ?? null)
      setUrl('')
      onMade()
    }, setError)
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    void make(url)
  }
  const caught = (): void => {
    sandboxCreateHook(api).then((hook) => make(hook.url), setError)
  }
  return (
    <Card title={t('Tell another address')}>
      {error && <Problem error={error} />}
      {secret && (
        <div class="callout good" role="status">
          <p>{t('What it is signed with is shown once. Copy it now.')}</p>
          <p class="mono">{secret}</p>
        </div>
      )}
      <form class="form in-line" onSubmit={submit}>
        <Field label={t('Address')} value={url} onInput={setUrl} required hint="https://…" />
        <Field
          label={t('Events')}
          value={events}
          onInput={setEvents}
          required
          hint={t('such as sms.* payment.completed')}
        />
        <button type="submit" class="btn primary">
          {t('Add it')}
        </button>
        {currentEnvironment() === 'test' && may('sandbox:write') && (
          <button type="button" class="btn" onClick={caught}>
            {t('Catch them here')}
          </button>
        )}
      </form>
    </Card>
  )
}
