// SPDX-License-Identifier: Apache-2.0
// Policy of identity checks: who is looked at by a person, how long pictures are kept, where codes go.
import { identityChangePolicy, identityGetPolicy, identityReviewFigures } from '#sdk/operations.ts'
import type { IdentityPolicyRecord } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { say } from '../../kit/dialogs.tsx'
import { FormFields, type FormOf, formOf } from '../../kit/form.tsx'
import { Card, Figures, PageHead, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { percent, words } from '../../kit/words.ts'
import { t } from '../../words.ts'

const yes = (is: boolean): string => (is ? 'yes' : 'no')

const formFor = (policy: IdentityPolicyRecord): FormOf =>
  formOf(identityChangePolicy, {
    title: 'Identity policy',
    action: 'Save',
    fields: [
      { name: 'manual_review', label: 'Send doubtful checks to manual review', as: 'flag' },
      { name: 'four_eyes', label: 'Require a second person to approve', as: 'flag' },
      { name: 'consent_required', label: 'Refuse checks without consent', as: 'flag' },
      { name: 'registry_on_outage', label: 'If a registry does not respond', among: ['retry', 'fail'] },
      { name: 'accept_passive_liveness', label: 'Accept passive liveness', among: ['low_risk', 'never'] },
      { name: 'minimum_age', label: 'Minimum age', as: 'number' },
      { name: 'capture_tries', label: 'Maximum attempts on the hosted page', as: 'number' },
      { name: 'privacy_notice_url', label: 'Privacy notice URL' },
      { name: 'image_days', label: 'Picture retention (days)', as: 'number' },
      { name: 'record_days', label: 'Record retention (days)', as: 'number' },
      { name: 'otp_guard', label: 'Suspicious codes', among: ['block', 'monitor'] },
      { name: 'otp_countries', label: 'Allowed countries for codes', as: 'list', hint: 'Empty: all' },
      { name: 'otp_daily_limit', label: 'Maximum codes per day', as: 'number' },
    ],
    initial: {
      ...{ manual_review: yes(policy.manual_review), four_eyes: yes(policy.four_eyes) },
      ...{ consent_required: yes(policy.consent_required), registry_on_outage: policy.registry_on_outage },
      ...{ accept_passive_liveness: policy.accept_passive_liveness, minimum_age: String(policy.minimum_age) },
      ...{ capture_tries: String(policy.capture_tries), privacy_notice_url: policy.privacy_notice_url ?? undefined },
      ...{ image_days: String(policy.image_days), record_days: String(policy.record_days) },
      ...{ otp_guard: policy.otp_guard, otp_countries: policy.otp_countries.join(', ') || undefined },
      otp_daily_limit: String(policy.otp_daily_limit),
    },
  })

/** How people decide, and how often they turn round what the machine said. */
function Reviews() {
  const { value } = useLoad('reviews', () => identityReviewFigures(api))
  if (!value || value.verdicts + value.doubts.approved + value.doubts.rejected === 0) return null
  const { doubts, overturned, overturned_percent: part, verdicts } = value
  const counts = (approved: number, rejected: number) => [String(approved), String(rejected)]
  return (
    <Card title="Reviewer decisions, 90 days">
      <p>
        {t('Reviewers overturned {share} of {count} automatic verdicts.', {
          count: String(verdicts),
          share: percent((part ?? 0) / 100),
        })}
      </p>
      <Figures
        names={['Decision', 'Approved', 'Rejected']}
        rows={[
          {
            key: 'overturned',
            name: t('Overturned verdicts'),
            figures: counts(overturned.approved, overturned.rejected),
          },
          { key: 'doubts', name: t('Doubtful checks'), figures: counts(doubts.approved, doubts.rejected) },
          ...doubts.by_check.map(({ check, approved, rejected }) => ({
            key: `by ${check}`,
            name: words(check ?? 'other'),
            figures: counts(approved, rejected),
          })),
        ]}
      />
    </Card>
  )
}

export function PolicyPage() {
  const policy = useLoad('policy', () => identityGetPolicy(api))
  const { value } = policy
  return (
    <div class="page narrow">
      <PageHead title="Identity policy" />
      {policy.error && <Problem error={policy.error} retry={policy.reload} />}
      {!value && !policy.error && <Waiting lines={8} />}
      <Reviews />
      {value && (
        <Card title="Rules for all checks">
          <fieldset class="bare" disabled={!may('identity:write')}>
            <FormFields
              key={value.version}
              form={formFor(value)}
              class="form"
              onMade={() => {
                say(t('Saved'))
                void policy.reload()
              }}
            />
          </fieldset>
        </Card>
      )}
    </div>
  )
}
