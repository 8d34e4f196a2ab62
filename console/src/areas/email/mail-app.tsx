// SPDX-License-Identifier: Apache-2.0
// Mail catcher: all test mail that arrived, and one message as text.
import { useState } from 'preact/hooks'
import { sandboxCheckEmail, sandboxGetEmail, sandboxGetRawEmail, sandboxListEmails } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { clockTime } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Screen } from '../../phone/screen.tsx'
import { t } from '../../words.ts'

export function Mail() {
  const { value, error, reload } = useLoad('mail', () => sandboxListEmails(api, { query: { limit: 30 } }))
  const [opened, setOpened] = useState<string | null>(null)
  useLive('email.', reload, { everyMs: 2_000 })
  if (opened !== null) return <Opened id={opened} onBack={() => setOpened(null)} />
  return (
    <Screen label={t('Mail')} newest={value?.data[0]?.id ?? ''}>
      {error && <Problem error={error} retry={reload} />}
      {value?.data.length === 0 && <p class="soft">{t('No mail yet. Mail sent in test arrives here.')}</p>}
      {value?.data.map((mail) => (
        <button key={mail.id} type="button" class="mail" onClick={() => setOpened(mail.id)}>
          <span class="strong">{mail.subject || t('No subject')}</span>
          <span class="soft">{mail.to}</span>
          <span class="soft">{clockTime(mail.received_at)}</span>
        </button>
      ))}
    </Screen>
  )
}

function Opened({ id, onBack }: { id: string; onBack(): void }) {
  const { value, error, reload } = useLoad(id, () => sandboxGetEmail(api, { id }))
  return (
    <Screen label={t('Message')}>
      <button type="button" class="btn small" onClick={onBack}>
        {t('Back to the mail')}
      </button>
      {error && <Problem error={error} retry={reload} />}
      {!value && !error && <Waiting />}
      {value && (
        <article>
          <h3>{value.subject}</h3>
          <p class="soft">{t('From {name}', { name: value.from })}</p>
          <p class="soft">{t('To {name}', { name: value.to })}</p>
          <p class="text">{value.text ?? inWords(value.html ?? '')}</p>
          <Checks id={id} />
          {value.attachments.map(({ filename, size }) => (
            <p key={filename} class="soft">
              {filename}, {size} B
            </p>
          ))}
        </article>
      )}
    </Screen>
  )
}

/** What a receiving server makes of it, and its source. */
function Checks({ id }: { id: string }) {
  const { value } = useLoad(`checks ${id}`, () => sandboxCheckEmail(api, { id }))
  if (!value) return null
  const results = [
    ...value.dkim.map(({ result, domain }) => ({ name: 'DKIM', result, domain })),
    { name: 'SPF', ...value.spf },
    { name: 'DMARC', ...value.dmarc },
  ]
  return (
    <details>
      <summary>{t('Checks by the receiving server')}</summary>
      <ul class="checks">
        {results.map(({ name, result, domain }) => (
          <li key={`${name} ${domain}`}>
            {name} <Pill state={result === 'pass' ? 'valid' : 'warning'} word={result} />{' '}
            <span class="soft">{domain}</span>
          </li>
        ))}
      </ul>
      <a href={sandboxGetRawEmail.at({ id })} target="_blank" rel="noreferrer">
        {t('Source')}
      </a>
    </details>
  )
}

/** Words of a page, and nothing that it would do. */
function inWords(html: string): string {
  return new DOMParser().parseFromString(html, 'text/html').body.textContent ?? ''
}
