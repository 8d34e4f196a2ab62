// SPDX-License-Identifier: Apache-2.0
// SQL of uploaded prompts.
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

export interface PromptRow {
  id: string
  name: string
  duration_ms: number
  bytes: bigint
  created_at: Date
}

const columns = 'id, name, duration_ms, bytes, created_at'

export const insertPrompt = statement.tenant<
  One & { name: string; durationMs: number; bytes: bigint; at: Date },
  PromptRow
>(
  'callcenter.insert_prompt',
  `insert into callcenter.prompts (bucket, account_id, environment, id, name, duration_ms, bytes, created_at)
   values ($bucket, $account, $environment, $id, $name, $durationMs, $bytes, $at)
   returning ${columns}`,
)

export const listPrompts = statement.tenant<Tenant, PromptRow>(
  'callcenter.list_prompts',
  `select ${columns} from callcenter.prompts where ${mine} order by id desc limit 1000`,
)

/** Those of the prompts that are there. */
export const promptsAmong = statement.tenant<Tenant & { ids: readonly string[] }, { id: string }>(
  'callcenter.prompts_among',
  `select id from callcenter.prompts where ${mine} and id = any($ids::uuid[])`,
)

/** Name of an IVR that plays a prompt, by the public id of it. */
export const ivrWithPrompt = statement.tenant<Tenant & { prompt: string }, { name: string }>(
  'callcenter.ivr_with_prompt',
  `select document ->> 'name' as name from callcenter.ivrs
    where ${mine} and position($prompt in document::text) > 0 limit 1`,
)

export const deletePrompt = statement.tenant<One, { id: string }>(
  'callcenter.delete_prompt',
  `delete from callcenter.prompts where ${mine} and id = $id returning id`,
)
