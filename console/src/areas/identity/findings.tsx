// SPDX-License-Identifier: Apache-2.0
// What a check found, for whoever decides: the document as it was read, each check in words, faces on a scale with the limit.
import type { IdentityVerification } from '#sdk/schemas.ts'
import { Meter } from '../../kit/chart.tsx'
import { Card, Facts, Figures, Pill } from '../../kit/kit.tsx'
import { country, date, percent, words } from '../../kit/words.ts'
import { sentenceOf } from '../../refusals.ts'
import { t } from '../../words.ts'

const tones = { pass: 'good', fail: 'bad', warn: 'warn', skipped: 'idle', unavailable: 'idle' } as const

export function Findings({ value }: { value: IdentityVerification }) {
  const { document, checks, face_match, liveness, risk_assessment, failure_reasons, doubt, review, engine } = value
  return (
    <>
      {failure_reasons.map(({ code, message }) => (
        <div class="callout bad" key={code}>
          <p>{sentenceOf({ message })}</p>
        </div>
      ))}
      {doubt && !review && (
        <div class="callout warn">
          <p>
            {t('Manual review required:')} {doubt.message}
          </p>
        </div>
      )}
      {document && (
        <Card title="Document">
          <Facts
            rows={[
              ['Kind', `${words(document.document_type)}, ${country(document.country)}`],
              ['Number', document.document_number && <span class="mono">{document.document_number}</span>],
              ['Name', [document.first_name, document.last_name].filter(Boolean).join(' ') || null],
              ['Date of birth', document.date_of_birth && date(document.date_of_birth)],
              ['Expires', document.expiry_date && date(document.expiry_date)],
              [
                'Machine-readable zone',
                document.mrz && (document.mrz.valid ? t('Check digits are right') : t('Check digits are wrong')),
              ],
            ]}
          />
          {document.mrz && (
            <pre class="mono" dir="ltr">
              {document.mrz.lines.join('\n')}
            </pre>
          )}
        </Card>
      )}
      {face_match && (
        <Card title="Faces">
          <Facts
            rows={[
              ['Faces match', face_match.match ? t('Yes') : t('No')],
              [
                'Similarity',
                `${percent(face_match.similarity_score)} · ${t('limit {share}', { share: percent(engine?.threshold ?? 0) })}`,
              ],
              ['Liveness', liveness && `${liveness.passed ? t('Passed') : t('Failed')}, ${words(liveness.method)}`],
            ]}
          />
          <Meter share={face_match.similarity_score} />
        </Card>
      )}
      {checks.length > 0 && (
        <Card title="Checks">
          <Figures
            names={['Check', 'Weight', 'Result']}
            rows={checks.map(({ check, weight, result, detail }) => ({
              key: check,
              name: (
                <>
                  <Pill state={result} tone={tones[result]} /> {words(check)}
                </>
              ),
              figures: [words(weight), detail],
            }))}
          />
        </Card>
      )}
      {risk_assessment && (
        <Card title="Risk">
          <Facts
            rows={[
              ['Points (of 100)', String(risk_assessment.risk_score)],
              ['Level', words(risk_assessment.risk_level)],
              ['Flags', risk_assessment.flags.map(words).join(', ') || null],
            ]}
          />
        </Card>
      )}
      {review?.decision && (
        <Card title="Decision">
          <Facts
            rows={[
              ['Decision', words(review.decision)],
              ['Reason', review.reason],
              ['Reviewer', review.by],
            ]}
          />
        </Card>
      )}
    </>
  )
}
