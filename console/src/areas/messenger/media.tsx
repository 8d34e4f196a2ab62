// SPDX-License-Identifier: Apache-2.0
// Pictures and files for chats: uploaded, found again by their id; and one person's consent.
import { useState } from 'preact/hooks'
import {
  messengerDeleteMedia,
  messengerGetMedia,
  messengerGetMediaInfo,
  messengerGetOptIn,
  messengerOptOut,
} from '#sdk/operations.ts'
import type { MessengerMediaRecord, MessengerOptIn } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Deeds } from '../../kit/detail.tsx'
import { removing } from '../../kit/dialogs.tsx'
import { Field } from '../../kit/fields.tsx'
import { Card, PageHead } from '../../kit/kit.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'
import { upload } from './forms.ts'
import { Picture } from './picture.tsx'

export function Media() {
  const [id, setId] = useState('')
  const open = (event: Event): void => {
    event.preventDefault()
    go(`/media/${encodeURIComponent(id.trim())}`)
  }
  return (
    <div class="page narrow">
      <PageHead title="Pictures and files">
        <Deeds
          deeds={[{ name: 'Upload a file', icon: 'plus', isMain: true, scope: 'messenger:write', form: upload }]}
        />
      </PageHead>
      <Card title="Open a file">
        <form class="form in-line" onSubmit={open}>
          <Field label="Id of the file" value={id} onInput={setId} required />
          <button type="submit" class="btn">
            {t('Open')}
          </button>
        </form>
      </Card>
    </div>
  )
}

export const MediaPage = recordPage<MessengerMediaRecord>({
  in: ['/media', 'Pictures and files'],
  get: (id) => messengerGetMediaInfo(api, { id }),
  at: (id) => messengerGetMediaInfo.at({ id }),
  title: ({ filename, media_id }) => filename ?? media_id,
  facts: [
    { name: 'Kind', field: 'type' },
    { name: 'Bytes', field: 'file_size', as: 'count' },
    { name: 'Kept until', field: 'expires_at', as: 'time' },
  ],
  before: ({ media_id, type, filename }) =>
    type.startsWith('image/') && (
      <Card title="Picture">
        <Picture id={media_id} name={filename ?? media_id} />
      </Card>
    ),
  deeds: ({ media_id, filename }) => [
    {
      name: 'Remove',
      isDanger: true,
      scope: 'messenger:write',
      asks: removing(filename ?? media_id, t('Messages that use it are refused.')),
      run: async () => {
        await messengerDeleteMedia(api, { id: media_id })
        go('/media')
      },
    },
    {
      name: 'Download',
      icon: 'download',
      run: async () => {
        const address = URL.createObjectURL(await (await messengerGetMedia(api, { id: media_id })).blob())
        const link = document.createElement('a')
        link.href = address
        link.download = filename ?? media_id
        link.click()
        URL.revokeObjectURL(address)
      },
    },
  ],
})

export const OptInPage = recordPage<MessengerOptIn>({
  in: ['/opt-ins', 'Opt-ins'],
  get: (phone) => messengerGetOptIn(api, { phone }),
  at: (phone) => messengerGetOptIn.at({ phone }),
  title: ({ phone }) => phone,
  state: ({ status }) => status,
  facts: [
    { name: 'Agreed', field: 'opted_in_at', as: 'time' },
    { name: 'Opted out', field: 'opted_out_at', as: 'time' },
    { name: 'Source', field: 'source' },
  ],
  deeds: ({ phone }) => [
    {
      name: 'Opt out',
      isDanger: true,
      scope: 'messenger:write',
      asks: removing(phone, t('Nothing more is sent to this number.')),
      run: () => messengerOptOut(api, { phone }),
    },
  ],
})
