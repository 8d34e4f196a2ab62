// SPDX-License-Identifier: Apache-2.0
// What deliveries are signed with, shown once.
import { CopyText } from '../../kit/detail.tsx'
import { t } from '../../words.ts'

export function WebhookSecret({ secret }: { secret: string }) {
  return (
    <div class="callout good" role="status">
      <p>{t('The signing secret is shown once. Copy it now.')}</p>
      <p class="mono">{secret}</p>
      <CopyText text={secret} />
    </div>
  )
}
