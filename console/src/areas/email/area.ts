// SPDX-License-Identifier: Apache-2.0
// What email brings to the console.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    { group: 'Email', order: 40, to: '/emails', name: 'Emails', icon: 'mail', scope: 'email:read' },
    {
      group: 'Email',
      order: 41,
      to: '/email-templates',
      name: 'Email templates',
      icon: 'template',
      scope: 'email:read',
    },
    { group: 'Email', order: 42, to: '/domains', name: 'Domains', icon: 'globe', scope: 'email:read' },
    { group: 'Email', order: 43, to: '/suppressions', name: 'Suppressions', icon: 'ban', scope: 'email:read' },
    { group: 'Email', order: 44, to: '/email-figures', name: 'Email statistics', icon: 'chart', scope: 'email:read' },
    { group: 'Build', order: 45, to: '/smtp', name: 'SMTP credentials', icon: 'key', scope: 'email:read' },
  ],
  pages: {
    emails: list(() => import('./lists.ts').then(({ emails }) => emails)),
    'emails/*': page(() => import('./mail.tsx').then(({ MailPage }) => MailPage)),
    'email-templates': list(() => import('./templates.tsx').then(({ templates }) => templates)),
    'email-templates/*': page(() => import('./templates.tsx').then(({ TemplatePage }) => TemplatePage)),
    domains: list(() => import('./domains.tsx').then(({ domains }) => domains)),
    'domains/*': page(() => import('./domains.tsx').then(({ DomainPage }) => DomainPage)),
    suppressions: list(() => import('./lists.ts').then(({ suppressions }) => suppressions)),
    'suppressions/*': page(() => import('./bulk.tsx').then(({ SuppressionPage }) => SuppressionPage)),
    smtp: list(() => import('./lists.ts').then(({ credentials }) => credentials)),
    'email-figures': page(() => import('./figures.tsx').then(({ EmailFigures }) => EmailFigures)),
    'email-bulk/*': page(() => import('./bulk.tsx').then(({ EmailBulkPage }) => EmailBulkPage)),
  },
  records: { em: '/emails', emb: '/email-bulk', tmpl: '/email-templates', dom: '/domains' },
}
