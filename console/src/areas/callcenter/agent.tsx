// SPDX-License-Identifier: Apache-2.0
// One agent: what they do now, and how their last thirty days were.
import { callcenterAgentContext, callcenterReport } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { Card, Facts, FiguresRow } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count } from '../../kit/words.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { share } from './lists.tsx'
import { useNames } from './names.ts'
import { AgentState, clockOf } from './states.tsx'

export function AgentPage({ id: agent_id }: PageProps) {
  const names = useNames()
  const agent = useLoad(agent_id, () => callcenterAgentContext(api, { agent_id }))
  const report = useLoad(`report ${agent_id}`, () => callcenterReport(api, { query: { agent_id, interval: 'month' } }))
  const totals = report.value?.totals
  return (
    <Opened record={agent}>
      {(value) => (
        <Detail
          in={['/agents', 'Agents']}
          id={agent_id}
          title={names.agents[agent_id] ?? agent_id}
          note={<AgentState status={value.status} />}
          path={callcenterAgentContext.at({ agent_id })}
          raw={value}
        >
          <FiguresRow
            figures={[
              [t('Answered in 30 days'), totals ? count(totals.answered ?? 0) : null],
              [t('Passed on'), totals ? count(totals.transferred ?? 0) : null],
              [t('Average call'), totals ? clockOf(totals.aht_seconds ?? 0) : null],
              [t('Busy'), totals ? share(totals.occupancy_percent) : null],
            ]}
          />
          <Card title="Call now">
            {value.call ? (
              <Facts
                rows={[
                  [t('Phone'), <Link to={`/calls/${value.call.call_id}`}>{value.customer?.phone ?? ''}</Link>],
                  [t('Queue'), value.call.queue_id && (names.queues[value.call.queue_id] ?? value.call.queue_id)],
                  [t('Waited'), clockOf(value.call.wait_seconds)],
                ]}
              />
            ) : (
              <p class="soft">{t('No call')}</p>
            )}
          </Card>
        </Detail>
      )}
    </Opened>
  )
}
