// SPDX-License-Identifier: Apache-2.0
// The door of the voice area: programmable calls.

import { idOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { orphanChore } from '../../platform/nodes/live-sessions.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { finder } from '../../platform/operator/finding.ts'
import { history } from '../../platform/operator/history.ts'
import { traffic } from '../../platform/operator/traffic.ts'
import { audioPoolOf } from './browser/browser-audio.ts'
import { takeIncoming } from './caller/incoming-call.ts'
import { callSessions, conferenceSessions } from './calls/call-sessions.ts'
import { tellJob } from './calls/event-delivery.ts'
import { voiceCharges } from './calls/minute-price.ts'
import { clockOffsetOf } from './clock-offset.ts'
import { placeJob } from './customer/place-call.ts'
import { soundEnginesOf, soundReaderOf, speakersOf } from './engines/engines.ts'
import { erasables } from './erase.ts'
import { callEvents } from './events.ts'
import { numberRoutes } from './numbers/routes.ts'
import { encodeJob } from './recordings/encode.ts'
import { retentionChore } from './recordings/ending.ts'
import { recordingEvents } from './recordings/events.ts'
import { recordingFileHook, recordingRoutes } from './recordings/routes.ts'
import { salvageJob } from './recordings/salvage.ts'
import { transcribeJob } from './recordings/transcribe.ts'
import { callRoutes } from './routes.ts'
import { phoneSocket } from './sandbox/phone-line.ts'
import { sandboxRoutes } from './sandbox/routes.ts'
import { voiceSettings } from './settings.ts'
import { timelineRoutes } from './timeline.ts'
import { givenNumberRoutes } from './trunks/given-numbers.ts'
import { rateRoutes } from './trunks/rates.ts'
import { trunkRoutes } from './trunks/routes.ts'
import { simulatedCarrier } from './trunks/sandbox-carrier.ts'
import { trunkTopic } from './trunks/store.ts'
import { telephoneNetworkOf } from './trunks/telephone-network.ts'

export { wavHeader } from '../../protocols/audio/wav.ts'
export type { BrowserAudio } from './browser/audio-pool.ts'
export { iceServers, openBrowserAudio } from './browser/browser-audio.ts'
export { isBlocked } from './calls/blocked-prefixes.ts'
export { checkNumbers, newCall, requireFreeCalls } from './customer/create-call.ts'
export { callEvents } from './events.ts'
export {
  type CallFacts,
  type CallFollower,
  type Flow,
  type FlowRecording,
  followCalls,
  type LegChange,
  type Refusal,
} from './followers.ts'
export { type LegToRing, liveCalls } from './live-calls.ts'
export { maxPromptSeconds, maxPromptUploadBytes, openPrompt, storePrompt } from './media/stored-prompts.ts'
export { firstNumber, numberTarget } from './numbers/store.ts'
export { CustomData } from './schema.ts'
export { localeFor, locales as spokenLanguages } from './speech/voices.ts'

export const voice: Area = {
  name: 'voice',
  tools: { named: ['voice.createCall', 'voice.getCall', 'voice.listCalls'] },
  chapters: {
    voice: {
      title: 'Voice',
      about: 'Place and receive calls: flows of actions, speech, keys, recordings, charged by the second.',
    },
  },
  uses: ['webhooks', 'numbers'],
  scopes: [scopeArea('voice', { limit: 'voice' })],
  limits: [planLimit('voice')],
  settings: voiceSettings,
  simulators: [simulatedCarrier],
  erasables,
  histories: [
    history({
      ...{ name: 'voice_calls', kind: 'call', scope: 'voice:read' },
      ...{ from: 'voice.calls t', id: 't.id', order: 't.id', status: 't.status', createdAt: 't.started_at' },
      ...{
        title: `case when t.direction = 'inbound' then t.to_number else t.from_number end`,
        path: (id) => `/voice/${id}`,
      },
      by: [
        {
          ...{ column: 't.from_number', where: `t.direction = 'inbound' and t.parent is null`, knownBy: 'phones' },
          ...{ direction: `'inbound'`, prefix: 'call' },
        },
        {
          ...{ column: 't.to_number', where: `t.direction = 'outbound' and t.parent is null`, knownBy: 'phones' },
          ...{ direction: `'outbound'`, prefix: 'call' },
        },
      ],
    }),
  ],
  listeners: [
    {
      name: 'sip',
      role: 'carriers',
      over: 'udp',
      scheme: 'sip',
      host: 'PAMOJA_SIP_HOST',
      port: 'PAMOJA_SIP_PORT',
      open: (app, place) => telephoneNetworkOf(app).open(place, takeIncoming),
    },
  ],
  topics: [trunkTopic],
  routes: [
    ...trunkRoutes,
    ...rateRoutes,
    ...givenNumberRoutes,
    ...numberRoutes,
    ...recordingRoutes,
    ...callRoutes,
    ...sandboxRoutes,
    ...timelineRoutes,
    ...ofAnyAccount([...callRoutes, ...timelineRoutes], {
      'voice.getCall': ['operator.getCall', 'Get a call of any account'],
      'voice.timeline': ['operator.getCallTimeline', 'Get the timeline of a call of any account'],
    }),
  ],
  sockets: [phoneSocket],
  traffic: [traffic({ name: 'calls', scope: 'voice:read', from: 'voice.calls', at: 't.started_at' })],
  finders: [
    finder({
      kind: 'call',
      prefix: 'call',
      table: 'voice.calls',
      status: 't.status',
      words: ['from_number', 'to_number'],
      ...{ scope: 'voice:read', label: `case t.direction when 'inbound' then t.from_number else t.to_number end` },
      path: (id) => `/voice/${idOf('call', id)}`,
    }),
  ],
  jobs: [placeJob, tellJob, transcribeJob, encodeJob, salvageJob],
  chores: [orphanChore([callSessions, conferenceSessions]), retentionChore],
  hooks: [recordingFileHook],
  events: [...Object.values(callEvents), ...Object.values(recordingEvents)],
  charges: voiceCharges,
  start: async (app) => {
    followClocks(app)
    const unfollow = await telephoneNetworkOf(app).trunks.follow()
    return async () => {
      await unfollow()
      await audioPoolOf.made(app)?.close()
      soundEnginesOf(app).stop()
      soundReaderOf(app).stop()
      speakersOf(app).stop()
    }
  },
}

/** Timers of test calls follow their account's sandbox clock. */
function followClocks(app: App): void {
  const network = telephoneNetworkOf(app)
  app.signals.on('accounts', (account) => {
    network
      .clockMoved(account, () => clockOffsetOf(app, account, 'test'))
      .catch((error) =>
        app.log.warn(
          { error },
          'calls not notified of a moved test clock: their timers follow the old one; nothing to do',
        ),
      )
  })
}
