// SPDX-License-Identifier: Apache-2.0
// The team: who may sign in and as what, and invitations, whose link is shown once.
import { useState } from 'preact/hooks'
import { teamChange, teamInvite, teamList, teamRemove, teamResetPassword } from '#sdk/operations.ts'
import type { TeamMember } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { confirm } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Choice, Field } from '../../kit/fields.tsx'
import { Card, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { ago } from '../../kit/words.ts'
import { t } from '../../words.ts'

type Role = TeamMember['role']

const roles: readonly Role[] = ['owner', 'admin', 'developer', 'finance', 'supervisor', 'agent', 'reviewer', 'viewer']
const roleOf = (word: string): Role => roles.find((one) => one === word) ?? 'viewer'

export function Team() {
  const { run, turn, error: refused } = useDoing()
  const { value, error, reload } = useLoad(`team ${turn}`, () => teamList(api, { query: { limit: 200 } }), {
    keeps: true,
  })
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
  const remove = async ({ id, email: address }: TeamMember): Promise<void> => {
    const answer = await confirm({
      title: t('Remove {name}?', { name: address }),
      consequences: [t('The member is signed out at once.'), t('Keys created by the member are revoked.')],
      action: t('Remove {name}', { name: address }),
      keep: t('Keep'),
    })
    if (answer !== null) run(() => teamRemove(api, { id }))
  }
  const problem = refused ?? error
  return (
    <div class="page">
      <PageHead title={t('Team')} />
      {problem && <Problem error={problem} retry={reload} />}
      {link && (
        <div class="callout good" role="status">
          <p>
            {t(
              'The invitation is mailed. If no mail arrives, pass this link on: it is shown once and works for a week.',
            )}
          </p>
          <p class="mono">{link}</p>
        </div>
      )}
      {reset && (
        <div class="callout good" role="status">
          <p>{t('Pass this link on. It is shown once and works for an hour.')}</p>
          <p class="mono">{reset}</p>
        </div>
      )}
      <Card title={t('Invite a member')}>
        <form class="form in-line" onSubmit={invite}>
          <Field label={t('Email address')} type="email" value={email} onInput={setEmail} required />
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
      <p class="soft">{t('Keys that a member made stop with the member. Rotate a key to take it over.')}</p>
      {!value && !error && <Waiting />}
      <ul class="lines members">
        {value?.data.map((member) => (
          <li key={member.id}>
            <div>
              <p class="strong">{member.name || member.email}</p>
              <p class="soft">
                {member.name && `${member.email}, `}
                {t('last active {time}', { time: ago(member.last_login_at) })}
                {member.totp_enabled && `, ${t('second factor')}`}
                {member.status === 'active' && !member.email_verified && `, ${t('address not verified')}`}
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
                  aria-label={t('Password link for {name}', { name: member.email })}
                >
                  {t('Password link')}
                </button>
              )}
              <button
                type="button"
                class="btn small danger"
                aria-label={t('Remove {name}', { name: member.email })}
                onClick={() => void remove(member)}
              >
                {t('Remove')}
              </button>
            </div>
          </li>
        ))}
      </ul>
    </div>
  )
}
