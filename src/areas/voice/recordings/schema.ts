// SPDX-License-Identifier: Apache-2.0
// Fields of a recording, as its route replies with them and its events carry them.
import { Type } from 'typebox'
import { At, Nullable, OneOf } from '../../../platform/schema/fields.ts'

export const recordingFields = {
  recording_id: Type.String({ description: 'Id of the recording, such as `rec_…`' }),
  call_id: Nullable(Type.String({ description: 'The call; null for a conference' })),
  conference_id: Nullable(Type.String({ description: 'The conference; null for a call' })),
  duration: Type.Integer({ description: 'Duration in seconds' }),
  file_url: Nullable(Type.String({ description: 'Signed URL, valid for an hour; null until the recording is ready' })),
  transcription: Type.Object(
    {
      available: Type.Boolean({ description: 'True if the text is available' }),
      language: Nullable(Type.String({ description: 'Recognised language' })),
      url: Nullable(Type.String({ description: 'URL of the text' })),
      confidence: Nullable(Type.Number({ description: 'Confidence, 0 to 1' })),
      error: Nullable(
        Type.String({
          description: 'Reason for a missing text: language_unavailable, engine_unavailable, engine_failed',
        }),
      ),
    },
    { description: 'Text of the recording' },
  ),
  status: OneOf(['recording', 'processing', 'ready', 'failed', 'deleted'], {
    description: 'Status of the recording; `file_url` is available once it is `ready`',
  }),
  format: OneOf(['wav', 'mp3'], { description: 'File format' }),
  channels: Type.Integer({
    description: 'Number of channels; with two, the caller is on the left and the others on the right',
  }),
  size_bytes: Nullable(Type.Integer({ description: 'File format' })),
  sha256: Nullable(Type.String({ description: 'SHA-256 of the file, in hexadecimal' })),
  started_at: At({ description: 'Start time' }),
  expires_at: Nullable(At({ description: 'Time at which the file is erased' })),
  reason: Nullable(Type.String({ description: 'Reason for the failure or deletion' })),
}
