// SPDX-License-Identifier: Apache-2.0
// List of identity checks.
import { identityListDocumentTypes, identityListVerifications } from '#sdk/operations.ts'
import { created, type ListOf, state, textOf } from '../../kit/list-page.tsx'
import { shortId } from '../../kit/words.ts'
import { checkCode, checkSomebody, erasePerson, scoreRisk, sendCode } from './forms.ts'

export const checks: ListOf = {
  title: 'Identity checks',
  icon: 'face',
  deeds: [
    { name: 'Erase a person', icon: 'trash', isDanger: true, scope: 'identity:write', form: erasePerson },
    { name: 'Score risk', icon: 'gauge', scope: 'identity:write', form: scoreRisk },
    { name: 'Send a code', icon: 'key', scope: 'identity:write', form: sendCode },
    { name: 'Check a code', icon: 'check', scope: 'identity:write', form: checkCode },
    { name: 'Start identity check', icon: 'plus', isMain: true, scope: 'identity:write', form: checkSomebody },
  ],
  none: { title: 'No identity checks', advice: 'Checks of documents and faces are listed here.' },
  path: identityListVerifications.at(),
  keyField: 'verification_id',
  open: ['/identity/', 'verification_id'],
  live: 'identity.',
  dates: ['created_from', 'created_to'],
  sorts: true,
  columns: [
    created,
    {
      ...{ name: 'Reference', field: 'reference', priority: 1, card: 'title' },
      text: (value, row) => textOf(value ?? shortId(textOf(row.verification_id))),
    },
    { name: 'Checks', field: 'checks_performed', as: 'words', priority: 2, card: 'sub', grows: true },
    { name: 'Stage', field: 'stage', as: 'words', priority: 2, card: 'end' },
    state,
  ],
  filters: [
    { name: 'status', label: 'State', among: ['pending', 'verified', 'rejected', 'expired'] },
    {
      ...{ name: 'stage', label: 'Stage' },
      among: ['queued', 'processing', 'awaiting_registry', 'awaiting_review', 'done'],
    },
    { name: 'reference', label: 'Reference' },
  ],
}

export const documents: ListOf = {
  title: 'Documents',
  note: 'supported',
  icon: 'file',
  path: identityListDocumentTypes.at(),
  keyField: 'document_type',
  columns: [
    { name: 'Country', field: 'country', as: 'country', priority: 1, card: 'end' },
    { name: 'Document', field: 'document_type', as: 'words', priority: 1, card: 'title' },
    { name: 'Sides', field: 'sides', as: 'count', priority: 2 },
    { name: 'Checks', field: 'checks', as: 'words', priority: 3, card: 'sub', grows: true },
    { name: 'Registry', field: 'registry', as: 'flag', priority: 2 },
  ],
  filters: [{ name: 'country', label: 'Country' }],
}
