// SPDX-License-Identifier: Apache-2.0
// Switch of the phone beside the page.
import { Icon } from '../kit/icons.tsx'
import { t } from '../words.ts'

export interface PhoneSwitch {
  readonly isOpen: boolean
  toggle(): void
}

export function PhoneButton({ phone: { isOpen, toggle } }: { phone: PhoneSwitch }) {
  return (
    <button
      type="button"
      class="btn quiet square phone-toggle"
      aria-pressed={isOpen}
      onClick={toggle}
      title={t('Phone')}
    >
      <Icon name="mobile" />
      <span class="hidden">{t('Phone')}</span>
    </button>
  )
}
