// SPDX-License-Identifier: Apache-2.0
// The door of the identity area.

import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { history } from '../../platform/operator/history.ts'
import { waitingRows } from '../../platform/operator/waiting.ts'
import { followCalls } from '../voice/area.ts'
import { sealHeads } from './audit-heads.ts'
import { blocklistRoutes } from './blocklist.ts'
import { identityCharges } from './charging.ts'
import { documentRoutes } from './documents/routes.ts'
import { computeOf } from './engines/engines.ts'
import { identityEvents } from './events.ts'
import { faceRoutes } from './faces/routes.ts'
import { codeSpeaker } from './otp/by-voice.ts'
import { eraseCodes } from './otp/erase.ts'
import { otpChore } from './otp/retention.ts'
import { otpRoutes } from './otp/routes.ts'
import { registryClientOf } from './registry/adapter.ts'
import { registryRoutes } from './registry/routes.ts'
import { simulatedRegistry } from './registry/simulated.ts'
import { riskRoutes } from './risk/routes.ts'
import { sessionChores } from './sessions/chores.ts'
import { sessionHooks } from './sessions/hosted.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { sessionEvents } from './sessions/schema.ts'
import { identitySettings } from './settings.ts'
import { sightingChore } from './signals/contact.ts'
import { verificationChores } from './verify/chores.ts'
import { eraseChecks } from './verify/erase.ts'
import { verifyJob } from './verify/process.ts'
import { verificationRoutes } from './verify/routes.ts'
import { verdictWaits } from './verify/waiting.ts'

export const identity: Area = {
  name: 'identity',
  uses: ['sms', 'messenger', 'email', 'voice'],
  tools: { named: ['identity.sendOtp', 'identity.verifyOtp', 'identity.listVerifications'] },
  chapters: {
    identity: {
      title: 'Identity',
      about: 'Documents, faces, liveness, risk and one-time codes, all checked on this installation.',
    },
  },
  scopes: [scopeArea('identity', { words: { otp: ['write'], review: [], audit: [], erase: [] }, limit: 'identity' })],
  limits: [planLimit('identity')],
  settings: identitySettings,
  simulators: [simulatedRegistry],
  waiting: [
    waitingRows({
      ...{
        name: 'identity_to_review',
        description: 'Identity checks that wait for a reviewer',
        scope: 'identity:read',
      },
      ...{ from: 'identity.verifications', where: `t.stage = 'awaiting_review' and t.erased_at is null` },
    }),
  ],
  erasables: [eraseChecks, eraseCodes],
  histories: [
    history({
      ...{ name: 'verifications', kind: 'identity_check', scope: 'identity:read' },
      ...{ from: 'identity.verifications t', id: 't.id', order: 't.id', status: 't.status', createdAt: 't.created_at' },
      path: (id) => `/identity/verification/${id}`,
      by: [
        {
          ...{ column: "t.metadata ->> 'phone'", where: "t.metadata ? 'phone'" },
          ...{ knownBy: 'phones', prefix: 'verification' },
        },
      ],
    }),
  ],
  routes: [
    ...verificationRoutes,
    ...sessionRoutes,
    ...documentRoutes,
    ...faceRoutes,
    ...riskRoutes,
    ...otpRoutes,
    ...blocklistRoutes,
    ...registryRoutes,
  ],
  hooks: sessionHooks,
  jobs: [verifyJob],
  chores: [...verificationChores, ...sessionChores, sealHeads, otpChore, sightingChore],
  events: [...Object.values(identityEvents), ...Object.values(sessionEvents)],
  charges: identityCharges,
  waits: [verdictWaits],
  start: async (app) => {
    followCalls(app, codeSpeaker)
    return async () => {
      await computeOf(app).stop()
      await registryClientOf(app).close()
    }
  },
}
