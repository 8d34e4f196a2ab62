// SPDX-License-Identifier: Apache-2.0
// Jobs that need a person, because they used up their attempts or wait at a place that no node serves: list, run again,
// or drop them.
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, uuidOf } from '../../kernel/ids.ts'
import { record } from '../../platform/api/audit.ts'
import { IdParam, list, type Route, writeAcross } from '../../platform/api/route.ts'
import { At, listQuery, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../platform/schema/lists.ts'
import { discardFailed, failedJobs, retryFailed } from '../../platform/work/queues.ts'

const FailedJob = Type.Object(
  {
    id: Type.String({ description: 'Id of the job, such as `job_…`' }),
    lane: Type.String({ description: 'Kind of job, such as `sms.batch`' }),
    account_id: Nullable(Type.String({ description: 'Id of the job’s account; null for one of the installation' })),
    environment: Nullable(Type.String({ description: '`test` or `live`; null for one of the installation' })),
    attempts: Type.Integer({ description: 'Number of attempts' }),
    last_error: Nullable(Type.String({ description: 'Error of the last attempt; null if there is none' })),
    created_at: At({ description: 'Time it was queued' }),
    state: OneOf(['failed', 'stranded'], {
      description: '`stranded`: it has waited for more than a minute at a place (`lane@place`) that no node serves',
    }),
  },
  { title: 'FailedJob' },
)

const JobAction = Type.Object(
  {
    id: Type.String({ description: 'Id of the job, such as `job_…`' }),
    status: OneOf(['queued', 'discarded'], { description: '`queued`: runs again; `discarded`: removed' }),
  },
  { title: 'JobAction' },
)

const listFailed = list({
  path: '/v1/operator/jobs',
  operation: 'operator.listJobs',
  summary: 'List failed and stranded jobs',
  scope: 'operator',
  query: Type.Object({
    ...listQuery,
    lane: Type.Optional(
      Type.String({
        maxLength: 60,
        description: 'Kind of job, such as `voice.transcribe`, exactly as in `lane` of a row',
      }),
    ),
  }),
  row: FailedJob,
  examples: [{ name: 'All failed jobs' }],
  handle: async ({ db }, { query }) => {
    const window = windowOf(query)
    return pageOf(window, await failedJobs(db, window, query.lane ?? null), ({ id, account_id, attempt, ...job }) => ({
      id: idOf('job', id),
      account_id: account_id && idOf('account', account_id),
      attempts: attempt,
      ...job,
    }))
  },
})

const retry = writeAcross({
  method: 'POST',
  path: '/v1/operator/jobs/:id/retry',
  operation: 'operator.retryJob',
  summary: 'Retry a failed job',
  description: 'A stranded job is re-queued to any node that serves its lane.',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: JobAction },
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, caller) => {
    if (!(await retryFailed(tx, jobUuid(params.id)))) throw noSuchJob()
    await record(tx, caller, 'job.retry', params.id)
    return { id: params.id, status: 'queued' as const }
  },
})

const discard = writeAcross({
  method: 'DELETE',
  path: '/v1/operator/jobs/:id',
  operation: 'operator.discardJob',
  summary: 'Discard a failed job',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: JobAction },
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, caller) => {
    if (!(await discardFailed(tx, jobUuid(params.id)))) throw noSuchJob()
    await record(tx, caller, 'job.discard', params.id)
    return { id: params.id, status: 'discarded' as const }
  },
})

function jobUuid(id: string): string {
  const uuid = uuidOf('job', id)
  if (uuid === null) throw noSuchJob()
  return uuid
}

function noSuchJob(): AppError {
  return new AppError('NOT_FOUND', 'there is no failed job of that id; job ids begin with job_')
}

export const jobRoutes: readonly Route[] = [listFailed, retry, discard]
