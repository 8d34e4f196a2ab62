// SPDX-License-Identifier: Apache-2.0
// Title of the tab: the thing, then the account and whether it is test, or that it is the operator's. History, tabs and screen readers tell pages apart by it.
import { useEffect } from 'preact/hooks'
import { currentEnvironment } from './api.ts'
import { usePlace } from './place.tsx'
import { t } from './words.ts'

let account = ''

/** Name of the account that is signed in. */
export function titleAccount(name: string): void {
  account = name
}

export function useTitle(title: string): void {
  const isOperating = usePlace().path.startsWith('/operator')
  useEffect(() => {
    const ofAccount = currentEnvironment() === 'test' ? `${account} (${t('Test')})` : account
    document.title = [title, isOperating ? t('Operator') : ofAccount, 'Pamoja'].filter(Boolean).join(' · ')
  }, [title, isOperating])
}
