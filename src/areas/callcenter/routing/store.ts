// SPDX-License-Identifier: Apache-2.0
// SQL of routing rules and business hours.
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { HoursOf } from './hours.ts'
import type { RuleDocument } from './rule.ts'

export interface RuleRow {
  id: string
  document: RuleDocument
  created_at: Date
  updated_at: Date
}

const ruleColumns = 'id, document, created_at, updated_at'

export const insertRule = statement.tenant<One & { priority: number; document: string; at: Date }, RuleRow>(
  'callcenter.insert_rule',
  `insert into callcenter.rules (bucket, account_id, environment, id, priority, document, created_at, updated_at)
   values ($bucket, $account, $environment, $id, $priority, $document::jsonb, $at, $at)
   returning ${ruleColumns}`,
)

export const findRule = statement.tenant<One, RuleRow>(
  'callcenter.find_rule',
  `select ${ruleColumns} from callcenter.rules where ${mine} and id = $id`,
)

export const listRules = statement.tenant<Tenant, RuleRow>(
  'callcenter.list_rules',
  `select ${ruleColumns} from callcenter.rules where ${mine} order by priority, created_at, id limit 2000`,
)

export const saveRule = statement.tenant<One & { priority: number; document: string; at: Date }, RuleRow>(
  'callcenter.save_rule',
  `update callcenter.rules set priority = $priority, document = $document::jsonb, updated_at = $at where ${mine} and id = $id
   returning ${ruleColumns}`,
)

export const deleteRule = statement.tenant<One, { id: string }>(
  'callcenter.delete_rule',
  `delete from callcenter.rules where ${mine} and id = $id returning id`,
)

export interface HoursRow {
  id: string
  name: string
  document: HoursOf
  created_at: Date
  updated_at: Date
}

const hoursColumns = 'id, name, document, created_at, updated_at'

/** Inserts or update business hours by name. */
export const keepHours = statement.tenant<
  One & { name: string; document: string; at: Date },
  HoursRow & { is_new: boolean }
>(
  'callcenter.keep_hours',
  `insert into callcenter.business_hours as h (bucket, account_id, environment, id, name, document, created_at, updated_at)
   values ($bucket, $account, $environment, $id, $name, $document::jsonb, $at, $at)
   on conflict (bucket, account_id, environment, name) do update
      set document = excluded.document, updated_at = excluded.updated_at
   returning ${hoursColumns}, (h.id = $id) as is_new`,
)

export const findHours = statement.tenant<One, HoursRow>(
  'callcenter.find_hours',
  `select ${hoursColumns} from callcenter.business_hours where ${mine} and id = $id`,
)

export const listHours = statement.tenant<Tenant, HoursRow>(
  'callcenter.list_hours',
  `select ${hoursColumns} from callcenter.business_hours where ${mine} order by id desc limit 1000`,
)
