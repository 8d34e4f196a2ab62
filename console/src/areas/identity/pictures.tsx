// SPDX-License-Identifier: Apache-2.0
// Pictures of a check for whoever decides, with what was read where. They are fetched when asked for, because each look is noted
// in the audit, and drawn on a canvas: nothing of them stays in the browser.
import { useEffect, useRef, useState } from 'preact/hooks'
import { identityGetImage } from '#sdk/operations.ts'
import type { IdentityVerification } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { useDoing } from '../../kit/doing.ts'
import { Card, Figures, Problem } from '../../kit/kit.tsx'
import { words } from '../../kit/words.ts'
import { t } from '../../words.ts'

const names = ['document_front', 'document_back', 'portrait', 'selfie'] as const
type Name = (typeof names)[number]
type Region = IdentityVerification['regions'][number]

export function Pictures({ value }: { value: IdentityVerification }) {
  const { verification_id: id, pictures, regions } = value
  const [shown, setShown] = useState<readonly { name: Name; bitmap: ImageBitmap }[]>([])
  const doing = useDoing()
  const kept = names.filter((name) => pictures.includes(name))
  if (kept.length === 0 || !may('identity:review')) return null
  const show = async (): Promise<void> => {
    const fetched = kept.map(async (name) => {
      const answer = await identityGetImage(api, { id, query: { name } })
      return { name, bitmap: await createImageBitmap(await answer.blob()) }
    })
    setShown(await Promise.all(fetched))
  }
  return (
    <Card title="Pictures">
      {doing.error && <Problem error={doing.error} />}
      {shown.length === 0 && (
        <>
          <p>{t('Each access is recorded in the audit trail.')}</p>
          <p>
            <button type="button" class="btn" disabled={doing.isBusy} onClick={() => doing.run(show)}>
              {t('Show the pictures')}
            </button>
          </p>
        </>
      )}
      <div class="pictures">
        {shown.map(({ name, bitmap }) => (
          <figure key={name}>
            <Drawn name={name} bitmap={bitmap} regions={regions.filter(({ image }) => image === name)} />
            <figcaption>{words(name)}</figcaption>
          </figure>
        ))}
      </div>
    </Card>
  )
}

const colours: Readonly<Record<string, string>> = { zone: '#d97706', portrait: '#2563eb' }
const fieldColour = '#0f8a5f'
/** What is wrong with a picture, where it is. */
const flawed = ['glare', 'blurred', 'covered', 'cut_off']
const flawColour = '#dc2626'

function Drawn({ name, bitmap, regions }: { name: Name; bitmap: ImageBitmap; regions: readonly Region[] }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    const { width, height } = bitmap
    context.drawImage(bitmap, 0, 0)
    const line = Math.max(2, Math.round(width / 400))
    context.lineWidth = line
    for (const { name: what, box } of regions) {
      const [left = 0, top = 0, wide = 0, high = 0] = box
      context.strokeStyle = colours[what] ?? (flawed.includes(what) ? flawColour : fieldColour)
      context.strokeRect(left * width - line, top * height - line, wide * width + 2 * line, high * height + 2 * line)
    }
  }, [bitmap, regions])
  return <canvas ref={canvas} width={bitmap.width} height={bitmap.height} role="img" aria-label={words(name)} />
}

const compared = ['document_number', 'first_name', 'last_name', 'date_of_birth', 'sex', 'expiry_date'] as const

/** What machine-readable lines, barcode and print say, each by itself. */
export function Readings({ value: { readings } }: { value: IdentityVerification }) {
  if (!readings?.zone && !readings?.barcode) return null
  const { zone, barcode, print } = readings
  const columns = [
    { name: 'Machine-readable zone', read: zone },
    ...(barcode ? [{ name: 'Barcode', read: barcode }] : []),
    { name: 'Printed text', read: print },
  ]
  return (
    <Card title="Readings by source">
      <Figures
        names={['Field', ...columns.map(({ name }) => name)]}
        rows={compared.map((field) => ({
          ...{ key: field, name: words(field) },
          figures: columns.map(({ read }) => read?.[field] ?? '–'),
        }))}
      />
    </Card>
  )
}
