// SPDX-License-Identifier: Apache-2.0
// Events of campaigns.
import { type Static, Type } from 'typebox'
import { eventType } from '../../../platform/events.ts'
import { Campaign } from './schema.ts'

const { content: _, variants: __, ...told } = Campaign.properties

const CampaignTold = Type.Object({ campaign: Type.Object(told, { description: 'The campaign, without its content' }) })
export type ToldCampaign = Static<typeof CampaignTold>['campaign']

const sample: Static<typeof CampaignTold> = {
  campaign: {
    id: 'cmp_01jb2c3d4e5f6g7h8j9kamnpqr',
    name: 'March offers',
    state: 'running',
    reason: null,
    segment_id: 'seg_01jb2c3d4e5f6g7h8j9kamnpqr',
    channel: ['sms'],
    schedule: {},
    quiet_hours: { from: '21:00', to: '08:00' },
    rate: null,
    budget: 500_000_000n,
    spent: 0n,
    currency: 'KES',
    four_eyes: null,
    started_at: new Date('2026-03-01T09:15:30Z'),
    finished_at: null,
    created_at: new Date('2026-03-01T09:15:30Z'),
    updated_at: new Date('2026-03-01T09:15:30Z'),
  },
}
const over = { finished_at: new Date('2026-03-01T10:00:00Z'), spent: 320_000_000n }

const told_ = (
  name: string,
  summary: string,
  title: string,
  state: ToldCampaign['state'],
  more: Partial<ToldCampaign> = {},
) =>
  eventType({
    name,
    summary,
    payload: Type.Object(CampaignTold.properties, { title }),
    sample: { campaign: { ...sample.campaign, state, ...more } },
  })

export const campaignEvents = {
  asked: told_(
    'campaign.approval_requested',
    'A campaign awaits a second person, who starts it',
    'CampaignApprovalRequestedEvent',
    'draft',
    {
      started_at: null,
      four_eyes: { asked_by: 'member:mem_01jb2c3d4e5f6g7h8j9kamnpqr', asked_at: new Date('2026-03-01T09:15:30Z') },
    },
  ),
  started: told_('campaign.started', 'A campaign started sending', 'CampaignStartedEvent', 'running'),
  paused: told_('campaign.paused', 'A campaign was paused, by request or by itself', 'CampaignPausedEvent', 'paused', {
    reason: 'INSUFFICIENT_BALANCE',
  }),
  ended: told_(
    'campaign.completed',
    'A campaign ended: completed, cancelled, or at its budget',
    'CampaignCompletedEvent',
    'completed',
    over,
  ),
}
