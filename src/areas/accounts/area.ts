// SPDX-License-Identifier: Apache-2.0
// The door of the accounts area: tenants, their keys and members, what they see of themselves, and what operators do to them.

import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { requestFinder } from '../../platform/http/logged-requests.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { keyEvents } from './events.ts'
import { firstMember } from './members/first-member.ts'
import { memberHooks } from './members/hooks.ts'
import { mailInvitationJob } from './members/invitation.ts'
import { mailResetJob } from './members/reset.ts'
import { sessionChore } from './members/session.ts'
import { teamRoutes } from './members/team.ts'
import { wayHooks } from './members/ways.ts'
import { operatorRoutes } from './operator.ts'
import { operatorKeyRoutes } from './operator-keys.ts'
import { operatorNoticeJob } from './operator-notices.ts'
import { reminderChore } from './reminders.ts'
import { routes } from './routes.ts'
import { searchRoutes } from './search.ts'
import { trafficRoutes } from './traffic.ts'
import { waitingRoutes } from './waiting.ts'

export const accounts: Area = {
  name: 'accounts',
  tools: { named: ['auth.whoami', 'account.get', 'account.search', 'usage.get', 'logs.list', 'logs.get'] },
  chapters: {
    auth: { title: 'Credentials', about: 'Credentials, and access tokens that are valid for an hour at most.' },
    account: { title: 'Account', about: 'Your name, time zone and settings.' },
    apiKeys: { title: 'API keys', about: 'Keys with limited scopes, and their rotation.' },
    team: { title: 'Team', about: 'Members of the console and their roles.' },
    usage: { title: 'Usage', about: 'Requests and cost, day by day.' },
    limits: { title: 'Limits', about: 'Rate limits and remaining requests.' },
    logs: { title: 'Request log', about: 'Your requests and their replies, for troubleshooting.' },
    auditLog: { title: 'Audit log', about: 'Audit log: every change, with its actor, object and time.' },
  },
  scopes: [scopeArea('account'), scopeArea('keys'), scopeArea('logs'), scopeArea('team')],
  routes: [
    ...routes,
    ...teamRoutes,
    ...operatorRoutes,
    ...operatorKeyRoutes,
    ...searchRoutes,
    ...trafficRoutes,
    ...waitingRoutes,
    ...ofAnyAccount(routes, {
      'logs.list': ['operator.listRequests', 'List the requests of any account'],
      'logs.get': ['operator.getRequest', 'Get a request of any account'],
      'usage.get': ['operator.getUsage', 'Get usage and cost of any account'],
      'auditLog.list': ['operator.listAuditLog', 'List audit log entries of any account'],
    }),
  ],
  finders: [requestFinder],
  events: Object.values(keyEvents),
  chores: [reminderChore, sessionChore],
  hooks: [...memberHooks, ...wayHooks],
  jobs: [mailResetJob, mailInvitationJob, operatorNoticeJob],
  uses: ['email'],
  demo: async (app, { tenant, written }) => ({
    console: { url: `${app.publicUrl}/console`, ...(await firstMember(app, tenant.account, written.console)) },
  }),
}

export { moveClock, setClockBack } from './account.ts'
export { credentialStore } from './credentials.ts'
export { firstAccount, operatorKey, ownerOfOperator } from './first-account.ts'
