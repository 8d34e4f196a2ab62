// SPDX-License-Identifier: Apache-2.0
// Routes of campaigns.
import { Type } from 'typebox'
import { IdParam, list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import { listQuery, OneOf, pageQuery } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { campaignWith, shown } from './campaign.ts'
import {
  cancelCampaign,
  changeCampaign,
  createCampaign,
  pauseCampaign,
  resumeCampaign,
  startable,
  startCampaign,
} from './change.ts'
import { previewOf } from './preview.ts'
import { repliesTo } from './replies.ts'
import {
  Campaign,
  CampaignChange,
  CampaignIn,
  CampaignReply,
  CampaignStart,
  Preview,
  Stats,
  states,
  Trial,
  TrialIn,
} from './schema.ts'
import { statsOf } from './stats.ts'
import { type CampaignRow, listCampaigns } from './store.ts'
import { preparedTrial, sendTrial, sendTrialChats } from './trial.ts'

const offer = {
  name: 'March offers',
  channel: ['sms' as const],
  content: { sms: { from: 'PAMOJA', text: 'Hello {{first_name|friend}}, 20 % off until Friday. {{optout}}' } },
  budget: 500,
}

const create = write({
  method: 'POST',
  path: '/v1/campaigns',
  operation: 'campaigns.create',
  summary: 'Create a campaign',
  description:
    'Creates a draft; nothing is sent before it is started. The audience is a segment or a list of customers.',
  scope: 'campaigns:write',
  body: CampaignIn,
  reply: { status: 201, schema: Campaign, location: ({ id }) => `/v1/campaigns/${id}` },
  errors: ['NOT_FOUND', 'NO_RECIPIENTS'],
  examples: [{ name: 'Texts to a segment', body: { ...offer, segment_id: 'Regulars in Kenya' } }],
  needs: { operation: 'segments.create' },
  handle: async (_app, tx, { body }, caller) => shown(await createCampaign(tx, caller, body)),
})

const listAll = list({
  path: '/v1/campaigns',
  operation: 'campaigns.list',
  summary: 'List campaigns',
  scope: 'campaigns:read',
  query: Type.Object({
    ...listQuery,
    state: Type.Optional(OneOf(states, { description: 'Filter by state' })),
  }),
  row: Campaign,
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    return pageOf(
      window,
      await app.db.query(listCampaigns, { ...tenant, ...window, state: query.state ?? null }),
      shown,
    )
  },
})

const get = read({
  method: 'GET',
  path: '/v1/campaigns/:id',
  operation: 'campaigns.get',
  summary: 'Get a campaign',
  scope: 'campaigns:read',
  params: IdParam,
  reply: { status: 200, schema: Campaign },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => shown(await campaignWith(app.db, tenant, params.id)),
})

const change = write({
  method: 'PATCH',
  path: '/v1/campaigns/:id',
  operation: 'campaigns.update',
  summary: 'Update a campaign',
  description: 'All fields of a draft can be changed; after the start only the name, the rate and the budget.',
  scope: 'campaigns:write',
  params: IdParam,
  body: CampaignChange,
  reply: { status: 200, schema: Campaign },
  errors: ['NOT_FOUND', 'CAMPAIGN_STATE', 'CONFLICT', 'NO_RECIPIENTS'],
  examples: [{ name: 'Another budget', body: { budget: 800 } }],
  handle: async (_app, tx, { params, body }, caller) => shown(await changeCampaign(tx, caller, params.id, body)),
})

const preview = read({
  method: 'POST',
  path: '/v1/campaigns/:id/preview',
  operation: 'campaigns.preview',
  summary: 'Preview a campaign',
  description:
    'Returns ten rendered messages, the exact price, and the number of excluded customers by reason. Nothing is sent.',
  scope: 'campaigns:read',
  params: IdParam,
  reply: { status: 200, schema: Preview },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) =>
    previewOf(app, caller, await campaignWith(app.db, caller.tenant, params.id)),
})

const stats = read({
  method: 'GET',
  path: '/v1/campaigns/:id/stats',
  operation: 'campaigns.stats',
  summary: 'Get campaign statistics',
  description: 'Live counts: waiting and excluded customers, with the reasons, and messages by outcome.',
  scope: 'campaigns:read',
  params: IdParam,
  reply: { status: 200, schema: Stats },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => statsOf(app, caller, await campaignWith(app.db, caller.tenant, params.id)),
})

const replies = list({
  path: '/v1/campaigns/:id/replies',
  operation: 'campaigns.replies',
  summary: 'List the replies to a campaign',
  description: 'Texts that answer a message of the campaign, newest first, with the customers who wrote them.',
  scope: 'campaigns:read',
  params: IdParam,
  query: Type.Object(pageQuery),
  row: CampaignReply,
  errors: ['NOT_FOUND'],
  handle: async (app, { params, query }, caller) =>
    repliesTo(app, caller, await campaignWith(app.db, caller.tenant, params.id), windowOf(query)),
})

type Verb = (app: App, tx: Tx, caller: Caller, id: string) => Promise<CampaignRow>

const ofState = (
  name: string,
  summary: string,
  description: string,
  verb: Verb,
  more: readonly 'BUDGET_REACHED'[] = [],
) =>
  write({
    method: 'POST',
    path: `/v1/campaigns/:id/${name}`,
    operation: `campaigns.${name}`,
    summary,
    description,
    scope: 'campaigns:start',
    params: IdParam,
    reply: { status: 200, schema: Campaign },
    errors: ['NOT_FOUND', 'CAMPAIGN_STATE', ...more],
    handle: async (app, tx, { params }, caller) => shown(await verb(app, tx, caller, params.id)),
  })

const start = write({
  method: 'POST',
  path: '/v1/campaigns/:id/start',
  operation: 'campaigns.start',
  summary: 'Start a campaign',
  description:
    'Determines the audience and sends at the scheduled time. Each customer receives it at most once, and only with consent. Above `campaign_four_eyes` of the account settings the first call asks for the start, which `four_eyes` tells, and the same call by another member or key starts it.',
  scope: 'campaigns:start',
  params: IdParam,
  body: CampaignStart,
  reply: { status: 200, schema: Campaign },
  errors: ['NOT_FOUND', 'CAMPAIGN_STATE', 'CONFLICT', 'NO_RECIPIENTS', 'CONSENT_REQUIRED', 'FORBIDDEN'],
  prepare: async (app, { params }, caller) => {
    const row = await campaignWith(app.db, caller.tenant, params.id)
    return row.state === 'draft' ? startable(app, caller, row) : null
  },
  handle: async (app, tx, { params, body }, caller, found) =>
    shown(await startCampaign(app, tx, caller, params.id, body.unchanged_since, found)),
})

const trial = write({
  method: 'POST',
  path: '/v1/campaigns/:id/test',
  operation: 'campaigns.test',
  summary: 'Send a test message of a campaign',
  description:
    'Sends one message of each variant and channel to your own number or address, at the usual price. It is not part of the statistics, and no customer receives it.',
  scope: 'campaigns:start',
  params: IdParam,
  body: TrialIn,
  reply: { status: 200, schema: Trial },
  errors: ['NOT_FOUND', 'INVALID_PHONE', 'INVALID_EMAIL', 'INSUFFICIENT_BALANCE'],
  examples: [{ name: 'To your own phone', body: { phone: '+254711000001' } }],
  prepare: (app, { params, body }, caller) => preparedTrial(app, caller, params.id, body),
  handle: (app, tx, _input, caller, prepared) => sendTrial(app, tx, caller, prepared),
  follow: (app, { params }, caller, reply) => sendTrialChats(app, caller, params.id, reply),
})

const pause = ofState('pause', 'Pause a campaign', 'No further messages are sent until it is resumed.', pauseCampaign)
const resume = ofState(
  'resume',
  'Resume a campaign',
  'Continues a paused campaign, or one at its budget after the budget is raised.',
  resumeCampaign,
  ['BUDGET_REACHED'],
)
const cancel = ofState(
  'cancel',
  'Cancel a campaign',
  'No further messages are sent. Those already handed over are not recalled.',
  cancelCampaign,
)

export const campaignRoutes: readonly Route[] = [
  create,
  listAll,
  get,
  change,
  preview,
  trial,
  stats,
  replies,
  start,
  pause,
  resume,
  cancel,
]
