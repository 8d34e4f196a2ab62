// SPDX-License-Identifier: Apache-2.0
// Uploaded prompts: chosen among or uploaded where a step of a menu is made, heard as callers hear them, and listed.
import {
  callcenterDeletePrompt,
  callcenterDownloadPrompt,
  callcenterListPrompts,
  callcenterUploadPrompt,
} from '#sdk/operations.ts'
import { api, may } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Choice, FileField } from '../../kit/fields.tsx'
import type { FormOf } from '../../kit/form.tsx'
import { Problem } from '../../kit/kit.tsx'
import { type ListOf, textOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { playFile } from '../../kit/sound.ts'
import { t } from '../../words.ts'
import { HearButton } from './hear.tsx'
import { clockOf } from './states.tsx'

const scope = 'callcenter:write'
const accept = '.wav,.mp3,audio/wav,audio/mpeg'
const hint = 'WAV or MP3, at most 5 minutes and 10 MB'

async function upload(file: File, name = file.name): Promise<string> {
  const body = new FormData()
  body.append('name', name.slice(0, 64))
  body.append('file', file)
  return (await callcenterUploadPrompt(api, { body })).prompt_id
}

const heard = (prompt_id: string) => async (signal: AbortSignal) => {
  const answer = await api.send('GET', callcenterDownloadPrompt.at({ prompt_id }))
  await playFile(await answer.arrayBuffer(), signal)
}

/** The uploaded sound of a step: one of those that are there, or a new one. */
export function PromptField({
  value,
  problem,
  onInput,
}: {
  value: string
  problem: string | undefined
  onInput(id: string): void
}) {
  const prompts = useLoad('prompts', () => callcenterListPrompts(api, { query: { limit: 200 } }), { keeps: true })
  const { run, error } = useDoing()
  const names = Object.fromEntries((prompts.value?.data ?? []).map(({ prompt_id, name }) => [prompt_id, name]))
  const take = (file: File | undefined): void => {
    if (!file) return
    run(async () => {
      const id = await upload(file)
      await prompts.reload()
      onInput(id)
    })
  }
  return (
    <div class="form in-line">
      <Choice
        label="Uploaded sound"
        value={value}
        among={['', ...Object.keys(names), ...(value !== '' && names[value] === undefined ? [value] : [])]}
        names={{
          '': t('None yet'),
          ...names,
          ...(names[value] === undefined && value !== '' ? { [value]: value } : {}),
        }}
        isRequired
        onChange={onInput}
      />
      {value !== '' && <HearButton isReady play={heard(value)} />}
      {may(scope) && <FileField label="Upload a sound" accept={accept} hint={hint} problem={problem} onFile={take} />}
      {error && <Problem error={error} />}
    </div>
  )
}

const uploadForm: FormOf = {
  title: 'Upload a sound',
  action: 'Upload',
  fields: [
    { name: 'file', label: 'File', as: 'file', isRequired: true, hint },
    { name: 'name', label: 'Name', hint: 'Default: the file name' },
  ],
  async make({ name }, { file }) {
    if (file) await upload(file, name)
    return null
  },
}

export const prompts: ListOf = {
  title: 'Uploaded prompts',
  icon: 'speaker',
  deeds: [{ name: 'Upload a sound', icon: 'plus', isMain: true, scope, form: uploadForm }],
  path: callcenterListPrompts.at(),
  keyField: 'prompt_id',
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
    { name: 'Length', field: 'duration_seconds', priority: 1, card: 'end', text: (one) => clockOf(Number(one)) },
    { name: 'Uploaded', field: 'created_at', as: 'time', priority: 2, card: 'sub' },
    {
      ...{ name: 'Sound', field: 'prompt_id', priority: 1 },
      show: ({ prompt_id }) => <HearButton isReady play={heard(textOf(prompt_id))} />,
    },
  ],
  actions: [
    {
      ...{ name: 'Remove', scope, isDanger: true },
      asks: ({ name }) => removing(textOf(name), t('Prompts used by a menu cannot be deleted.')),
      run: ({ prompt_id }) => callcenterDeletePrompt(api, { prompt_id: textOf(prompt_id) }),
    },
  ],
  none: { title: 'No uploaded prompts', advice: 'Menus can play an uploaded sound instead of a spoken text.' },
}
