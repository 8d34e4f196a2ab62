// SPDX-License-Identifier: Apache-2.0
// The door of the identity area.
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { history } from '../../platform/operator/history.ts'
import { followCalls } from '../voice/area.ts'
import { blocklistRoutes } from './blocklist.ts'
import { identityCharges } from './charging.ts'
import { documentRoutes } from './documents/routes.ts'
import { computeOf } from './engines/engines.ts'
import { identityEvents } from './events.ts'
import { faceRoutes } from './faces/routes.ts'
import { codeSpeaker } from './otp/by-voice.ts'
import { otpChore } from './otp/retention.ts'
import { otpRoutes } from './otp/routes.ts'
import { registryClientOf } from './registry/adapter.ts'
import { registryRoutes } from './registry/routes.ts'
import { simulatedRegistry } from './registry/simulated.ts'
import { riskRoutes } from './risk/routes.ts'
import { identitySettings } from './settings.ts'
import { sightingChore } from './signals/contact.ts'
import { verificationChores } from './verify/chores.ts'
import { verifyJob } from './verify/process.ts'
import { verificationRoutes } from './verify/routes.ts'
import { verdictWaits } from './verify/waiting.ts'

export const identity: Area = {
  name: 'identity',
  uses: ['sms', 'messenger', 'email', 'voice'],
  chapters: {
    identity: {
      title: 'Identity',
      about: 'Documents, faces, liveness, risk and one-time codes, all looked at on this installation.',
    },
  },
  scopes: [scopeArea('identity', { words: { otp: ['write'], review: [], audit: [], erase: [] }, limit: 'identity' })],
  limits: [planLimit('identity')],
  settings: identitySettings,
  simulators: [simulatedRegistry],
  histories: [
    history({
      name: 'verifications',
      prefix: 'verification',
      from: 'identity.verifications t',
      id: 't.id',
      order: 't.id',
      status: 't.status',
      createdAt: 't.created_at',
      by: "t.metadata ->> 'phone'",
      knownBy: 'phone',
    }),
  ],
  routes: [
    ...verificationRoutes,
    ...documentRoutes,
    ...faceRoutes,
    ...riskRoutes,
    ...otpRoutes,
    ...blocklistRoutes,
    ...registryRoutes,
  ],
  jobs: [verifyJob],
  chores: [...verificationChores, otpChore, sightingChore],
  events: Object.values(identityEvents),
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
