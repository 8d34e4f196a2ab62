// SPDX-License-Identifier: Apache-2.0
// One recording of a call: heard, read, removed.
import { voiceDeleteRecording, voiceGetRecording, voiceGetTranscription } from '#sdk/operations.ts'
import type { Recording } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { Card, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { recordPage } from '../../kit/record-page.tsx'
import { words } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { lasting } from './lists.ts'

export const RecordingPage = recordPage<Recording>({
  in: ['/calls', 'Calls'],
  get: (id) => voiceGetRecording(api, { recording_id: id }),
  at: (id) => voiceGetRecording.at({ recording_id: id }),
  title: ({ duration }) => t('Recording of {time}', { time: lasting(duration) }),
  facts: [
    { name: 'Call', field: 'call_id', as: 'id', to: '/calls/' },
    { name: 'Language', field: 'transcription.language' },
  ],
  deeds: ({ recording_id, file_url }) =>
    file_url === null
      ? []
      : [
          {
            name: 'Remove',
            isDanger: true,
            scope: 'voice:write',
            asks: removing(t('the recording'), t('The audio is erased permanently.')),
            run: () => voiceDeleteRecording(api, { recording_id }),
          },
        ],
  more: ({ recording_id, file_url, transcription }) => (
    <>
      {file_url && (
        <Card title="Play">
          {/* biome-ignore lint/a11y/useMediaCaption: what is said stands below, where it was written down */}
          <audio controls preload="none" src={file_url} />
        </Card>
      )}
      {transcription.available && <Transcript id={recording_id} />}
    </>
  ),
})

function Transcript({ id }: { id: string }) {
  const said = useLoad(id, () => voiceGetTranscription(api, { recording_id: id }))
  return (
    <Card title="Transcript">
      {said.error && <Problem error={said.error} retry={said.reload} />}
      <ol class="story">
        {said.value?.segments.map(({ start, speaker, text }) => (
          <li key={start}>
            <span class="soft">{lasting(start)}</span> {speaker && <span class="strong">{words(speaker)}</span>}{' '}
            <span dir="auto">{text}</span>
          </li>
        ))}
      </ol>
    </Card>
  )
}
