// SPDX-License-Identifier: Apache-2.0
// The team: who may sign in and as what, and invitations, whose link is shown once.
import { useState } from 'preact/hooks'
import { list, patch, post, remove } from '../../api.ts'
import { Card, Choice, Field, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useConfirmed } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { moment } from '../../kit/words.ts'
import { t } from '../../words.ts'

interface Member {
  id: string
  email: string
  name: string
  role: string
  status: string
  totp_enabled: boolean
  last_login_at: string | null
}

const roles = ['owner', 'admin', 'developer', 'finance', 'supervisor', 'agent', 'reviewer', 'viewer']

export function Team({ email: own }: { email: string }) {
  const { run, turn, error: refused, confirming } = useConfirmed(own)
  const { value, error, reload } = useLoad(`team ${turn}`, () => list<Member>('/v1/team/members', { limit: '100' }))
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('developer')
  const [link, setLink] = useState<string | null>(null)
  const invite = (event: Event): void => {
    event.preventDefault()
    run(async () => {
      const { invite_url } = await post<{ invite_url: string }>('/v1/team/members', { email, role })
      setLink(invite_url)
      setEmail('')
    })
  }
  const problem = refused ?? error
  return (
    <div class="page">
      <PageHead title={t('Team')} />
      {problem && <Problem error={problem} retry={reload} />}
      {confirming}
      {link && (
        <div class="callout good" role="status">
          <p>{t('Pass this link on. It is shown once and works for a week.')}</p>
          <p class="mono">{link}</p>
        </div>
      )}
      <Card title={t('Invite somebody')}>
        <form class="form in-line" onSubmit={invite}>
          <Field label={t('E-mail address')} type="email" value={email} onInput={setEmail} required />
          <Choice label={t('Role')} value={role} among={roles} onChange={setRole} isRequired />
          <button type="submit" class="btn primary">
            {t('Invite')}
          </button>
        </form>
      </Card>
      {!value && !error && <Waiting />}
      <ul class="lines">
        {value?.rows.map((member) => (
          <li key={member.id}>
            <div>
              <p class="strong">{member.name || member.email}</p>
              <p class="soft">
                {member.email}, {t('last here {time}', { time: moment(member.last_login_at) })}
                {member.totp_enabled && `, ${t('second factor')}`}
              </p>
            </div>
            <div class="row">
              <Pill state={member.status} />
              <Choice
                label={t('Role of {name}', { name: member.email })}
                value={member.role}
                among={roles}
                isRequired
                onChange={(wanted) => run(() => patch(`/v1/team/members/${member.id}`, { role: wanted }))}
              />
              <button
                type="button"
                class="btn small danger"
                onClick={() => run(() => remove(`/v1/team/members/${member.id}`))}
              >
                {t('Remove {name}', { name: member.email })}
              </button>
            </div>
          </li>
        ))}
      </ul>
    </div>
  )
}
