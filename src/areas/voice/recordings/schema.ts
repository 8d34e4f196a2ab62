// SPDX-License-Identifier: Apache-2.0
// Fields of a recording, as its route replies with them and its events carry them.
import { Type } from 'typebox'
import { At, Nullable, OneOf } from '../../../platform/schema/fields.ts'

export const recordingFields = {
  recording_id: Type.String({ description: 'Id of the recording, such as `rec_…`' }),
  call_id: Nullable(Type.String({ description: 'The call; null for a conference' })),
  conference_id: Nullable(Type.String({ description: 'The conference; null for a call' })),
  duration: Type.Integer({ description: 'Seconds of sound' }),
  file_url: Nullable(Type.String({ description: 'Signed, for an hour; null until the recording is ready' })),
  transcription: Type.Object(
    {
      available: Type.Boolean({ description: 'Whether the text is there' }),
      language: Nullable(Type.String({ description: 'Which language was understood' })),
      url: Nullable(Type.String({ description: 'Where the text is read' })),
      confidence: Nullable(Type.Number({ description: '0 to 1' })),
      error: Nullable(
        Type.String({ description: 'Why there is no text: language_unavailable, engine_unavailable, engine_failed' }),
      ),
    },
    { description: 'What was said, as text' },
  ),
  status: OneOf(['recording', 'processing', 'ready', 'failed', 'deleted'], {
    description: '`file_url` is there once it is `ready`',
  }),
  format: OneOf(['wav', 'mp3'], { description: 'Of the file' }),
  channels: Type.Integer({ description: 'Of two, the caller is left and the others are right' }),
  size_bytes: Nullable(Type.Integer({ description: 'Of the file' })),
  sha256: Nullable(Type.String({ description: 'Of the file, in hexadecimal' })),
  started_at: At({ description: 'When it began' }),
  expires_at: Nullable(At({ description: 'When the file is erased' })),
  reason: Nullable(Type.String({ description: 'Why it failed or was deleted' })),
}
