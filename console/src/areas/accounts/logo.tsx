// SPDX-License-Identifier: Apache-2.0
// A picture that is chosen as a file and kept in the account itself: drawn anew, small enough for every page that shows it.
import { useState } from 'preact/hooks'
import { FileField } from '../../kit/fields.tsx'
import type { Control } from '../../kit/form.tsx'
import { t } from '../../words.ts'

/** Letters that the account takes: 8 KiB as a data URL. */
const maxLetters = 10_900
const sizesPx = [128, 96, 64, 48]

export function LogoField({ label, hint, value, problem, onInput }: Control) {
  const [failed, setFailed] = useState<string>()
  const choose = (file: File | undefined): void => {
    setFailed(undefined)
    if (!file) return
    smallPicture(file).then(onInput, () => setFailed(t('This file is not a picture.')))
  }
  return (
    <div class="logo-field">
      <FileField
        label={label}
        {...(hint === undefined ? {} : { hint })}
        problem={failed ?? problem}
        accept="image/png,image/jpeg,image/webp"
        onFile={choose}
      />
      {value.startsWith('data:') && (
        <div class="row">
          <img src={value} alt={t('Logo')} width="48" height="48" />
          <button type="button" class="btn small" onClick={() => onInput('')}>
            {t('Remove')}
          </button>
        </div>
      )}
    </div>
  )
}

/** The picture as a PNG or, where that is too large, a JPEG: as large as fits. */
async function smallPicture(file: File): Promise<string> {
  const picture = await createImageBitmap(file)
  for (const size of sizesPx) {
    const share = Math.min(1, size / Math.max(picture.width, picture.height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(picture.width * share))
    canvas.height = Math.max(1, Math.round(picture.height * share))
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
    const found = [canvas.toDataURL('image/png'), canvas.toDataURL('image/jpeg', 0.85)].find(
      (url) => url.length <= maxLetters,
    )
    if (found) return found
  }
  throw new Error('no size fits')
}
