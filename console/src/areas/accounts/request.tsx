// SPDX-License-Identifier: Apache-2.0
// One request: what was asked, what was answered, and by which key.
import { logsGet } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened, Raw } from '../../kit/detail.tsx'
import { Ago, Card, CopyId, Facts } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'

export function RequestPage({ id }: PageProps) {
  const own = { request_id: id }
  const request = useLoad(id, () => logsGet(api, own))
  return (
    <Opened record={request}>
      {(value) => (
        <Detail
          in={['/requests', 'Requests']}
          id={id}
          title={`${value.method} ${value.path}`}
          state={value.status < 400 ? 'completed' : 'failed'}
          path={logsGet.at(own)}
          raw={value}
        >
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('Status'), [value.status, value.error_code].filter(Boolean).join(' ')],
                [t('Time'), <Ago at={value.at} />],
                [t('Duration'), `${Math.round(value.duration_ms)} ms`],
                [t('Operation'), value.operation],
                [t('Key'), <CopyId id={value.key_id} />],
                [t('From'), value.ip],
                [t('Warning'), value.warning],
              ]}
            />
          </Card>
          <Raw title={t('Request')} value={pretty(value.request_body)} isOpen />
          <Raw title={t('Answered')} value={pretty(value.response_body)} isOpen />
        </Detail>
      )}
    </Opened>
  )
}

function pretty(body: string | null): string {
  if (body === null || body === '') return t('Empty')
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
