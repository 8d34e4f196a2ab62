// SPDX-License-Identifier: Apache-2.0
// Events of recordings: ready, transcribed, deleted, failed.
import { type Static, Type } from 'typebox'
import { eventType } from '../../../platform/events.ts'
import { recordingFields } from './schema.ts'

const Recording = Type.Object(
  { account_id: Type.String({ description: 'Id of the recording’s account, such as `acc_…`' }), ...recordingFields },
  { title: 'RecordingEvent' },
)

const ready: Static<typeof Recording> = {
  account_id: 'acc_01jb2c3d4e5f6g7h8j9kamnpqr',
  recording_id: 'rec_01jb2c3d4e5f6g7h8j9kamnpqr',
  call_id: 'call_01jb2c3d4e5f6g7h8j9kamnpqr',
  duration: 73,
  file_url: 'https://recordings.example/rec_01jb2c3d4e5f6g7h8j9kamnpqr.wav?exp=1772360130&sig=5f2a',
  transcription: { available: false, language: null, url: null, confidence: null, error: null },
  conference_id: null,
  status: 'ready',
  format: 'wav',
  channels: 2,
  size_bytes: 2_336_044,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  started_at: new Date('2026-03-01T09:14:10Z'),
  expires_at: new Date('2026-05-30T09:15:30Z'),
  reason: null,
}
const transcribed = {
  available: true,
  language: 'en-KE',
  url: 'https://recordings.example/files/77c1',
  confidence: 0.91,
  error: null,
}
const gone = { file_url: null, size_bytes: null, sha256: null }

const recording = (name: string, summary: string, sample = ready) =>
  eventType({ name, summary, payload: Recording, sample })

export const recordingEvents = {
  ready: recording('recording.ready', 'A recording is ready for download'),
  transcribed: recording('recording.transcribed', 'The text of a recording is ready', {
    ...ready,
    transcription: transcribed,
  }),
  deleted: recording('recording.deleted', 'A recording was erased', {
    ...ready,
    ...gone,
    status: 'deleted',
    reason: 'retention',
  }),
  failed: recording('recording.failed', 'A recording was lost', {
    ...ready,
    ...gone,
    status: 'failed',
    reason: 'the file could not be written',
  }),
}
