// SPDX-License-Identifier: Apache-2.0
// After a call: its outcome by a key, notes and tags, and being free again. It works after the call was passed on as well.
import { useState } from 'preact/hooks'
import { callcenterChangeCall, callcenterSetAgentStatus } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { say } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Field, TextField } from '../../kit/fields.tsx'
import { listOf } from '../../kit/filled.ts'
import { Card, Problem } from '../../kit/kit.tsx'
import { t } from '../../words.ts'
import { type DeskNow, noted } from './connection.ts'
import { useNotes } from './in-call.tsx'
import { useKeys } from './keys.ts'
import { clockOf, Since } from './states.tsx'
import type { ToNote } from './to-note.ts'

/** Outcomes as reports have them, with their words. */
const outcomes: readonly (readonly [outcome: string, name: string])[] = [
  ['solved', 'Solved'],
  ['passed_on', 'Passed on'],
  ['call_back', 'Call back'],
  ['complaint', 'Complaint'],
  ['wrong_number', 'Wrong number'],
  ['cut_off', 'Cut off'],
]

export function AfterCall({
  now: { agent },
  agentId,
  toNote: { call_id, who },
  more,
}: {
  now: DeskNow
  agentId: string
  toNote: ToNote
  /** Further calls without an outcome. */
  more: number
}) {
  const { run, error, isBusy } = useDoing()
  const [outcome, setOutcome] = useState<string | null>(null)
  const [tags, setTags] = useState('')
  const [notes, keepNotes] = useNotes(call_id)
  const isAfter = agent?.status === 'wrap_up'
  const save = (next: 'available' | 'break'): void =>
    run(async () => {
      const wrap_up = {
        ...(outcome === null ? {} : { disposition: outcome }),
        ...(notes === '' ? {} : { notes }),
        ...(tags === '' ? {} : { tags: listOf(tags) }),
      }
      if (Object.keys(wrap_up).length > 0) await callcenterChangeCall(api, { call_id, body: { wrap_up } })
      keepNotes('')
      noted(agentId, call_id)
      say(t('Saved'))
      if (agent && ((isAfter && more === 0) || next === 'break'))
        await callcenterSetAgentStatus(api, { body: { agent_id: agent.agent_id, status: next } })
    })
  useKeys({
    ...Object.fromEntries(outcomes.map(([one], i) => [String(i + 1), () => setOutcome(one)])),
    'Ctrl Enter': () => save('available'),
  })
  return (
    <Card
      title={t('Outcome of the call with {name}', { name: who })}
      action={
        isAfter && (
          <span class="push call-time">
            <Since at={agent.since} role="timer" />
            {agent.until && (
              <small class="soft">
                {t('of {time}', { time: clockOf((Date.parse(agent.until) - Date.parse(agent.since)) / 1_000) })}
              </small>
            )}
          </span>
        )
      }
    >
      {more > 0 && <p class="hint">{t('{count} more calls have no outcome yet.', { count: more })}</p>}
      <fieldset class="outcomes" aria-label={t('Outcome')}>
        {outcomes.map(([one, name], i) => (
          <button key={one} type="button" class="btn" aria-pressed={outcome === one} onClick={() => setOutcome(one)}>
            <kbd>{i + 1}</kbd> {t(name)}
          </button>
        ))}
      </fieldset>
      <TextField
        label="Notes"
        value={notes}
        onInput={keepNotes}
        rows={3}
        maxLength={4_000}
        hint="Shown to the next agent"
      />
      <Field label="Tags" value={tags} onInput={setTags} hint="Separated by commas" />
      {error && <Problem error={error} />}
      <p class="row">
        <button type="button" class="btn primary" disabled={isBusy} onClick={() => save('available')}>
          {t('Save and be free')} <kbd>Ctrl ↵</kbd>
        </button>
        <button type="button" class="btn" disabled={isBusy} onClick={() => save('break')}>
          {t('Save, then a break')}
        </button>
      </p>
    </Card>
  )
}
