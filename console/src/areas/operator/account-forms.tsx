// SPDX-License-Identifier: Apache-2.0
// What an operator sets for one account: plan, overdraft, countries that it may text, and a shortcode.
import {
  messengerApproveTemplate,
  messengerRejectTemplate,
  operatorAssignUssdShortcode,
  operatorChangeSmsAccount,
  operatorGetSmsAccount,
  operatorSetOverdraft,
  operatorUpdateAccount,
  operatorUpdateApiKey,
} from '#sdk/operations.ts'
import type { OperatorAccountDetail } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { oneOf } from '../../kit/choose.tsx'
import { say } from '../../kit/dialogs.tsx'
import { FormFields, type FormOf } from '../../kit/form.tsx'
import { Card } from '../../kit/kit.tsx'
import { accountPlans } from '../../kit/known.ts'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'

export function AccountForms({ account, onDone }: { account: OperatorAccountDetail; onDone(): unknown }) {
  const { id, plan, currency } = account
  const sms = useLoad(id, () => operatorGetSmsAccount(api, { id }))
  const done = (title: string) => (): void => {
    say(t('Done: {name}', { name: t(title) }))
    void onDone()
    void sms.reload()
  }
  const forms: readonly [form: FormOf, initial: Readonly<Record<string, string>>][] = [
    [
      {
        title: 'Plan',
        action: 'Change the plan',
        fields: [{ name: 'plan', label: 'Plan', isRequired: true, show: oneOf(accountPlans) }],
        make: async (filled) => {
          await operatorUpdateAccount(api, { id, body: { plan: filled.plan } })
          return null
        },
      },
      { plan },
    ],
    [
      {
        title: 'Overdraft',
        action: 'Set the overdraft',
        fields: [
          { name: 'amount', label: 'Amount', isRequired: true, hint: 'Maximum negative balance; 0 removes it' },
          { name: 'currency', label: 'Currency', isRequired: true },
          { name: 'environment', label: 'Environment', among: ['live', 'test'] },
        ],
        make: async ({ amount = '', currency: of = '', environment }) => {
          const where = environment === 'test' ? 'test' : 'live'
          await operatorSetOverdraft(api, { id, body: { amount, currency: of, environment: where } })
          return null
        },
      },
      { currency },
    ],
    [
      {
        title: 'Allowed countries',
        action: 'Limit the countries',
        fields: [{ name: 'countries', label: 'Countries', hint: 'Two letters each, with commas; empty: all' }],
        make: async ({ countries = '' }) => {
          const list = countries.split(/[\s,]+/).filter(Boolean)
          await operatorChangeSmsAccount(api, { id, body: { countries: list.length > 0 ? list : null } })
          return null
        },
      },
      { countries: sms.value?.countries?.join(', ') ?? '' },
    ],
    [
      {
        title: 'USSD short code',
        action: 'Assign short code',
        fields: [{ name: 'shortcode', label: 'Short code', isRequired: true, hint: 'Such as *384*7#' }],
        make: async ({ shortcode = '' }) => {
          await operatorAssignUssdShortcode(api, { body: { account_id: id, shortcode } })
          return null
        },
      },
      {},
    ],
    [
      {
        title: 'Decide a chat template',
        action: 'Submit decision',
        fields: [
          { name: 'template', label: 'Template', isRequired: true, hint: 'Its id, tpl_…' },
          { name: 'decision', label: 'Decision', among: ['approve', 'reject'] },
          { name: 'reason', label: 'Reason, shown to the account' },
          { name: 'environment', label: 'Environment', among: ['live', 'test'] },
        ],
        make: async ({ template = '', decision, reason, environment }) => {
          const decide = decision === 'reject' ? messengerRejectTemplate : messengerApproveTemplate
          const where = environment === 'test' ? 'test' : 'live'
          await decide(api, { id: template, body: { account_id: id, environment: where, reason } })
          return null
        },
      },
      {},
    ],
    [
      {
        title: 'Rate limit of a key',
        action: 'Set the limit',
        fields: [
          { name: 'key', label: 'Key', isRequired: true, hint: 'Its id, key_…' },
          { name: 'limit', label: 'Requests a second', hint: 'Empty: as the plan says' },
        ],
        make: async ({ key = '', limit }) => {
          const rate_limit_per_second = limit === undefined ? null : Number(limit)
          await operatorUpdateApiKey(api, { id: key, body: { rate_limit_per_second } })
          return null
        },
      },
      {},
    ],
  ]
  return (
    <>
      {forms.map(([form, initial]) => (
        <Card key={form.title} title={t(form.title)}>
          <FormFields key={JSON.stringify(initial)} form={form} initial={initial} onMade={done(form.title)} />
        </Card>
      ))}
    </>
  )
}
