// SPDX-License-Identifier: Apache-2.0
// Picture of a chat: PNG, JPEG, WebP and what else the browser can draw. It is read with the rights of the member, and drawn on a
// canvas, since the policy of the page takes no pictures from elsewhere.
import { useEffect, useRef } from 'preact/hooks'
import { messengerGetMedia } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { Problem } from '../../kit/kit.tsx'
import { textOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'

/** Picture with the id of a file, which is erased after 30 days. */
export function Picture({ id, name }: { id: string; name: string }) {
  const { value, error } = useLoad(id, async () =>
    createImageBitmap(await (await messengerGetMedia(api, { id })).blob()),
  )
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    if (value) canvas.current?.getContext('2d')?.drawImage(value, 0, 0)
  }, [value])
  if (error) return <Problem error={error} />
  return (
    value && (
      <canvas ref={canvas} class="picture" width={value.width} height={value.height} role="img" aria-label={name} />
    )
  )
}

/** Picture or sticker of a message, where it has one; one that was sent by its address is a link. */
export function PictureOf({ message }: { message: object }) {
  const { image, sticker } = Object(message)
  const { id, link, caption } = Object(image ?? sticker)
  const name = textOf(caption) || t('Picture')
  if (id) return <Picture id={textOf(id)} name={name} />
  if (!/^https?:/.test(textOf(link))) return null
  return (
    <a href={textOf(link)} target="_blank" rel="noreferrer">
      {name}
    </a>
  )
}
