// SPDX-License-Identifier: Apache-2.0
// Figures of a node for /metrics: events of every channel, the database pool, group commits, jobs and queues.
import { msOfId } from '../kernel/ids.ts'
import type { App } from '../platform/app.ts'
import { atMostEvery } from '../platform/telemetry/metrics.ts'
import { queues } from '../platform/work/queues.ts'

/** Least time between two queries of the queues, however often /metrics is read. */
const queueCacheMs = 5_000

export function watchFigures({ metrics, db, committer, work, requestLog, timeline, outbox }: App): void {
  // Every channel tells its outcomes as events, which are counted here.
  outbox.onCommitted(({ environment }, { row, status, nowMs, clockOffsetMs }) => {
    const madeMs = msOfId(row.resource_id)
    const ageMs = madeMs === null ? 0 : Math.max(0, nowMs - clockOffsetMs - madeMs)
    metrics.event(environment, row.type, status, ageMs / 1000)
  })
  metrics.gauge('pamoja_db_pool_connections', 'Connections of the pool.', () => db.stats().total)
  metrics.gauge('pamoja_db_pool_waiting', 'Callers waiting for a connection.', () => db.stats().waiting)
  metrics.total('pamoja_db_replica_reads_total', 'Reads served by a replica.', () => db.lateReads)
  metrics.gauge('pamoja_commit_waiting', 'Writes waiting for a group commit.', () => committer.waiting())
  metrics.total('pamoja_commit_items_total', 'Writes committed since the start.', () => committer.stats.items)
  metrics.total('pamoja_commit_commits_total', 'Group commits since the start.', () => committer.stats.commits)
  metrics.gauge('pamoja_work_running', 'Jobs running on this node.', () => work.load().running)
  metrics.gauge(
    'pamoja_work_waiting',
    'Jobs waiting on this node that leased them at creation.',
    () => work.load().waiting,
  )
  metrics.total(
    'pamoja_request_log_dropped_total',
    'Request log lines that were not written.',
    () => requestLog.dropped,
  )
  metrics.total('pamoja_timeline_dropped_total', 'Frames of timelines that were not written.', () => timeline.dropped)
  const lanes = atMostEvery(queueCacheMs, () => queues(db))
  metrics.gauges(
    'pamoja_work_queue_jobs',
    'Jobs in the table, of all nodes, by what they wait for.',
    ['lane', 'state'],
    async () =>
      (await lanes()).flatMap(({ lane, due, running, scheduled, failed }) => [
        { labels: { lane, state: 'due' }, value: due },
        { labels: { lane, state: 'running' }, value: running },
        { labels: { lane, state: 'scheduled' }, value: scheduled },
        { labels: { lane, state: 'failed' }, value: failed },
      ]),
  )
  metrics.gauges('pamoja_work_queue_oldest_seconds', 'How long the oldest due job has waited.', ['lane'], async () =>
    (await lanes()).map(({ lane, oldest_seconds }) => ({ labels: { lane }, value: oldest_seconds })),
  )
}
