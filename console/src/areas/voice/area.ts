// SPDX-License-Identifier: Apache-2.0
// What calls bring to the console.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    { group: 'Calls', order: 40, to: '/calls', name: 'Calls', icon: 'call', scope: 'voice:read' },
    { group: 'Calls', order: 50, to: '/voice-numbers', name: 'Numbers to call', icon: 'hash', scope: 'voice:read' },
    { group: 'Calls', order: 60, to: '/voices', name: 'Voices', icon: 'speaker', scope: 'voice:read' },
    { group: 'Calls', order: 61, to: '/recognition', name: 'Speech recognition', icon: 'ear', scope: 'voice:read' },
  ],
  pages: {
    calls: list(() => import('./lists.ts').then(({ calls }) => calls)),
    'calls/*': page(() => import('./call.tsx').then(({ CallPage }) => CallPage)),
    'voice-numbers': list(() => import('./lists.ts').then(({ numbers }) => numbers)),
    voices: list(() => import('./lists.ts').then(({ voices }) => voices)),
    recognition: list(() => import('./lists.ts').then(({ recognition }) => recognition)),
    'recordings/*': page(() => import('./recording.tsx').then(({ RecordingPage }) => RecordingPage)),
  },
  records: { call: '/calls', rec: '/recordings' },
}
