// SPDX-License-Identifier: Apache-2.0
// The account: its name and time zone, and the look of the pages that payers see.
import { accountGet } from '#sdk/operations.ts'
import { api, may } from '../../api.ts'
import { say } from '../../kit/dialogs.tsx'
import { FormFields } from '../../kit/form.tsx'
import { Card, Facts, PageHead, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { country } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { settingsOf } from './forms.ts'

export function AccountPage() {
  const account = useLoad('account', () => accountGet(api))
  const { value } = account
  return (
    <div class="page narrow">
      <PageHead title="Account" />
      {account.error && <Problem error={account.error} retry={account.reload} />}
      {!value && !account.error && <Waiting lines={8} />}
      {value && (
        <>
          <Card title="Details">
            <Facts
              rows={[
                ['Account', <span class="mono">{value.id}</span>],
                ['Plan', value.plan],
                ['Country', country(value.country)],
                ['Currency', value.currency],
              ]}
            />
          </Card>
          <Card title="Settings">
            <fieldset class="bare" disabled={!may('account:write')}>
              <FormFields
                key={JSON.stringify(value)}
                form={settingsOf(value)}
                class="form"
                onMade={() => {
                  say(t('Saved'))
                  void account.reload()
                }}
              />
            </fieldset>
          </Card>
        </>
      )}
    </div>
  )
}
