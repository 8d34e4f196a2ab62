// SPDX-License-Identifier: Apache-2.0
// Lists of segments and campaigns.
import { campaignsList, segmentsList } from '#sdk/operations.ts'
import type { ListOf } from '../../kit/list-page.tsx'
import { campaignForm, segmentForm } from './forms.ts'

export const segments: ListOf = {
  title: 'Segments',
  icon: 'filter',
  path: segmentsList.at(),
  keyField: 'id',
  open: ['/segments/', 'id'],
  deeds: [{ name: 'New segment', icon: 'plus', isMain: true, scope: 'customers:write', form: segmentForm }],
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
    { name: 'Created', field: 'created_at', as: 'date', priority: 2, card: 'end' },
  ],
  none: { title: 'No segments', advice: 'A segment is a group of customers, defined by a filter or a list.' },
}

export const campaigns: ListOf = {
  title: 'Campaigns',
  icon: 'megaphone',
  path: campaignsList.at(),
  keyField: 'id',
  open: ['/campaigns/', 'id'],
  live: 'campaign.',
  deeds: [{ name: 'New campaign', icon: 'plus', isMain: true, scope: 'campaigns:write', form: campaignForm }],
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
    { name: 'State', field: 'state', as: 'state', priority: 1, card: 'state' },
    { name: 'Cost', field: 'spent', as: 'money', priority: 2, card: 'end' },
    { name: 'Started', field: 'started_at', as: 'time', priority: 3 },
    { name: 'Created', field: 'created_at', as: 'date', priority: 3, card: 'sub' },
  ],
  none: { title: 'No campaigns', advice: 'A campaign sends a message once to each customer of a segment.' },
}
