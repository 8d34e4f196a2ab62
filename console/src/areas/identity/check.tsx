// SPDX-License-Identifier: Apache-2.0
// One identity check: what was checked and found, and the decision of a reviewer.
import {
  identityErase,
  identityGetAudit,
  identityGetVerification,
  identityListVerifications,
  identityReview,
} from '#sdk/operations.ts'
import type { IdentityVerification } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened, Raw } from '../../kit/detail.tsx'
import { Card, Facts, Figures } from '../../kit/kit.tsx'
import { textOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { Story } from '../../kit/story.tsx'
import { date, shortId, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { Findings } from './findings.tsx'
import { Pictures, Readings } from './pictures.tsx'

export function CheckPage({ id }: PageProps) {
  const check = useLoad(id, () => identityGetVerification(api, { id }))
  useLive('identity.', check.reload, { about: id })
  return (
    <Opened record={check}>
      {(value) => (
        <Detail
          in={['/identity', 'Identity checks']}
          id={id}
          title={textOf(Object(value).reference) || shortId(id)}
          state={value.stage === 'awaiting_review' ? 'in_review' : value.status}
          deeds={deedsOf(value)}
          onDone={check.reload}
          path={identityGetVerification.at({ id })}
          raw={value}
        >
          <Card title={t('Result')}>
            <Facts
              rows={[
                [t('Checks'), value.checks_performed.map(words).join(', ')],
                [t('Document is authentic'), verdict(value.results.document_authentic)],
                [t('Faces match'), verdict(value.results.face_match)],
                [t('Liveness'), verdict(value.results.liveness_passed)],
                [t('Risk'), value.results.overall_risk && words(value.results.overall_risk)],
              ]}
            />
          </Card>
          <Pictures value={value} />
          <Findings value={value} />
          <Readings value={value} />
          <OtherChecks id={id} />
          <Story id={id} />
          <Trail id={id} />
        </Detail>
      )}
    </Opened>
  )
}

const maxOthers = 20

/** Other checks of this person, by the account's id of them or the number of the document. */
function OtherChecks({ id }: { id: string }) {
  const others = useLoad(id, () => identityListVerifications(api, { query: { person_of: id, limit: maxOthers } }))
  const checks = others.value?.data ?? []
  if (checks.length === 0) return null
  return (
    <Card title="Other checks of this person">
      <Figures
        names={['Check', 'State', 'Created']}
        rows={checks.map(({ verification_id, reference, status, created_at }) => ({
          key: verification_id,
          name: <Link to={`/identity/${verification_id}`}>{reference ?? shortId(verification_id)}</Link>,
          figures: [words(status), date(created_at)],
        }))}
      />
    </Card>
  )
}

/** Who looked at it and what was decided, as auditors ask for it. */
function Trail({ id }: { id: string }) {
  const trail = useLoad(id, () => identityGetAudit(api, { id, query: { limit: 100 } }))
  return trail.value === null ? null : <Raw title={t('Audit trail')} value={trail.value} />
}

const verdict = (is: boolean | null): string => (is === null ? '–' : is ? t('Yes') : t('No'))

function deedsOf(check: IdentityVerification): Deed[] {
  const id = check.verification_id
  if (!may('identity:write')) return []
  const erase: Deed = {
    name: 'Erase',
    icon: 'trash',
    isDanger: true,
    asks: {
      title: t('Erase this person’s data?'),
      consequences: [
        t('Pictures and extracted data are erased at once.'),
        t('The record of the check is kept without personal data.'),
      ],
      type: t('erase'),
      action: t('Erase for good'),
      keep: t('Keep it'),
    },
    run: () => identityErase(api, { id }),
  }
  if (check.stage !== 'awaiting_review') return check.erased_at === null ? [erase] : []
  const ask = (title: string, action: string, consequence: string) => ({
    ...{ title, action, consequences: [consequence], keep: t('Decide later') },
    reason: t('Reason, shown to the account'),
  })
  return [
    erase,
    {
      name: 'Reject',
      icon: 'x',
      isDanger: true,
      asks: ask(t('Reject this check?'), t('Reject'), t('The verification is rejected, and the person is informed.')),
      run: ({ reason }) => identityReview(api, { id, body: { decision: 'reject', reason } }),
    },
    {
      name: 'Approve',
      icon: 'check',
      isMain: true,
      asks: { ...ask(t('Approve this check?'), t('Approve'), t('The person is marked as verified.')), isDanger: false },
      run: ({ reason }) => identityReview(api, { id, body: { decision: 'approve', reason } }),
    },
  ]
}
