// SPDX-License-Identifier: Apache-2.0
// The team: who may sign in and as what, and invitations, whose link is shown once.
import { useState } from 'preact/hooks'
import { teamChange, teamInvite, teamList, teamRemove, teamResetPassword } from '#sdk/operations.ts'
import type { TeamMember } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Card, Choice, Field, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useConfirmed } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { moment } from '../../kit/words.ts'
import { t } from '../../words.ts'

type Role = TeamMember['role']

const roles: readonly Role[] = ['owner', 'admin', 'developer', 'finance', 'supervisor', 'agent', 'reviewer', 'viewer']
const roleOf = (word: string): Role => roles.find((one) => one === word) ?? 'viewer'

export function Team({ email: own }: { email: string }) {
  const { run, turn, error: refused, confirming } = useConfirmed(own)
  const { value, error, reload } = useLoad(`team ${turn}`, () => teamList(api, { query: { limit: 200 } }))
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const [reset, setReset] = useState<string | null>(null)
  const [link, setLink] = useState<string | null>(null)
  const invite = (event: Event): void => {
    event.preventDefault()
    run(async () => {
      const { invite_url } = await teamInvite(api, { body: { email, role } })
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
      {reset && (
        <div class="callout good" role="status">
          <p>{t('Pass this link on. It is shown once and works for an hour.')}</p>
          <p class="mono">{reset}</p>
        </div>
      )}
      <Card title={t('Invite somebody')}>
        <form class="form in-line" onSubmit={invite}>
          <Field label={t('E-mail address')} type="email" value={email} onInput={setEmail} required />
          <Choice
            label={t('Role')}
            value={role}
            among={roles}
            onChange={(wanted) => setRole(roleOf(wanted))}
            isRequired
          />
          <button type="submit" class="btn primary">
            {t('Invite')}
          </button>
        </form>
      </Card>
      {!value && !error && <Waiting />}
      <ul class="lines">
        {value?.data.map((member) => (
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
                onChange={(wanted) => run(() => teamChange(api, { id: member.id, body: { role: roleOf(wanted) } }))}
              />
              {member.status === 'active' && (
                <button
                  type="button"
                  class="btn small"
                  onClick={() => run(async () => setReset((await teamResetPassword(api, { id: member.id })).reset_url))}
                >
                  {t('Password link for {name}', { name: member.email })}
                </button>
              )}
              <button
                type="button"
                class="btn small danger"
                onClick={() => run(() => teamRemove(api, { id: member.id }))}
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
