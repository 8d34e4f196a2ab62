// SPDX-License-Identifier: Apache-2.0
// One queue: who waits in it, how it does today, and its settings.
import { callcenterChangeQueue, callcenterGetQueue } from '#sdk/operations.ts'
import type { QueueStatus } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Card, Figures, FiguresRow } from '../../kit/kit.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { count, numberText } from '../../kit/words.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { changeQueue, skillsText } from './forms.tsx'
import { share } from './lists.tsx'
import { useNames } from './names.ts'
import { clockOf } from './states.tsx'

const scope = 'callcenter:write'

export const QueuePage = recordPage<QueueStatus>({
  in: ['/queues', 'Queues'],
  get: (queue_id) => callcenterGetQueue(api, { queue_id }),
  at: (queue_id) => callcenterGetQueue.at({ queue_id }),
  title: ({ name }) => name,
  state: ({ status }) => status,
  live: 'call. queue.',
  facts: [
    { name: 'Distribution', field: 'strategy', as: 'words' },
    { name: 'Agents', field: 'agents', show: ({ agents }) => <AgentNames ids={Array.isArray(agents) ? agents : []} /> },
    {
      ...{ name: 'Skills', field: 'skills_required' },
      text: (skills) => skillsText(Array.isArray(skills) ? skills : []) || '–',
    },
    {
      ...{ name: 'Service level', field: 'sla' },
      text: (sla) =>
        t('{percent} % within {seconds} s', {
          percent: Object(sla).target_percent,
          seconds: Object(sla).threshold_seconds,
        }),
    },
    { name: 'Maximum wait, seconds', field: 'max_wait_seconds', as: 'count' },
    { name: 'Wrap-up time, seconds', field: 'wrap_up_seconds', as: 'count' },
    { name: 'Record it', field: 'record', as: 'flag' },
    { name: 'Language', field: 'language' },
  ],
  deeds: (queue) => [
    { name: 'Change', icon: 'pencil', scope, form: changeQueue(queue) },
    queue.status === 'open'
      ? {
          ...{ name: 'Pause', icon: 'pause', scope },
          run: () => callcenterChangeQueue(api, { queue_id: queue.queue_id, body: { status: 'paused' } }),
        }
      : {
          ...{ name: 'Open', icon: 'play', isMain: true, scope },
          run: () => callcenterChangeQueue(api, { queue_id: queue.queue_id, body: { status: 'open' } }),
        },
  ],
  more: ({ live }) => (
    <>
      <FiguresRow
        figures={[
          [t('Waiting'), count(live.waiting)],
          [t('Longest wait'), clockOf(live.longest_wait_seconds)],
          [t('Free'), t('{count} of {limit}', { count: live.agents.available, limit: live.agents.logged_in })],
          [t('Within target today'), share(live.service_level_percent)],
        ]}
      />
      {live.calls.length > 0 && (
        <Card title="Waiting callers">
          <Figures
            names={['Phone', 'Position', 'Waited', 'Priority']}
            rows={live.calls.map(({ call_id, from, position, waited_seconds, priority }) => ({
              key: call_id,
              name: <Link to={`/calls/${call_id}`}>{numberText(from)}</Link>,
              figures: [count(position), clockOf(waited_seconds), count(priority)],
            }))}
          />
        </Card>
      )}
    </>
  ),
})

function AgentNames({ ids }: { ids: readonly string[] }) {
  const names = useNames().agents
  return <>{ids.map((id) => names[id] ?? id).join(', ') || '–'}</>
}
