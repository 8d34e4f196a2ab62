// SPDX-License-Identifier: Apache-2.0
// Saved versions of a voice menu: who saved each and when, its map, and a way back, which itself can be undone.
import { useState } from 'preact/hooks'
import { callcenterGetIvrVersion, callcenterListIvrVersions, callcenterRestoreIvrVersion } from '#sdk/operations.ts'
import type { Ivr, IvrVersionSummary } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { undoable } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Ago, Card, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { t } from '../../words.ts'
import { MenuMap } from './menu-map.tsx'

export function Versions({ menu, onRestored }: { menu: Ivr; onRestored(): Promise<void> }) {
  const { ivr_id, version: current } = menu
  const versions = useLoad(`versions ${ivr_id} ${current}`, () =>
    callcenterListIvrVersions(api, { ivr_id, query: { limit: 50 } }),
  )
  const [shown, setShown] = useState<number | null>(null)
  const { run, error, isBusy } = useDoing()
  const goTo = (version: number) => async () => {
    await callcenterRestoreIvrVersion(api, { ivr_id, version: String(version) })
    await onRestored()
  }
  const restore = (version: number): void =>
    run(() => undoable(t('Version {count} is back', { count: version }), goTo(version), goTo(current)))
  return (
    <Card title="Versions">
      {(versions.error ?? error) && <Problem error={versions.error ?? error ?? new Error()} />}
      {versions.value === null && !versions.error && <Waiting lines={2} />}
      <ul class="versions">
        {versions.value?.data.map((one) => (
          <li key={one.version}>
            <p class="row">
              <strong>{t('Version {count}', { count: one.version })}</strong>
              {one.version === current && <Pill state="active" word={t('Current')} tone="good" />}
              <span class="soft">
                <Ago at={one.saved_at} /> · {aboutOf(one)}
              </span>
              <span class="push row">
                <button
                  type="button"
                  class="btn small"
                  aria-expanded={shown === one.version}
                  onClick={() => setShown(shown === one.version ? null : one.version)}
                >
                  {shown === one.version ? t('Close') : t('Look at it')}
                </button>
                {one.version !== current && may('callcenter:write') && (
                  <button type="button" class="btn small" disabled={isBusy} onClick={() => restore(one.version)}>
                    {t('Restore')}
                  </button>
                )}
              </span>
            </p>
            {shown === one.version && <VersionMap ivr_id={ivr_id} version={one.version} />}
          </li>
        ))}
      </ul>
    </Card>
  )
}

function aboutOf({ menu_count, restored_from }: IvrVersionSummary): string {
  const steps = menu_count === 1 ? t('1 step') : t('{count} steps', { count: menu_count })
  return restored_from === null ? steps : `${steps}, ${t('a copy of version {count}', { count: restored_from })}`
}

function VersionMap({ ivr_id, version }: { ivr_id: string; version: number }) {
  const one = useLoad(`version ${ivr_id} ${version}`, () =>
    callcenterGetIvrVersion(api, { ivr_id, version: String(version) }),
  )
  if (one.error) return <Problem error={one.error} retry={one.reload} />
  if (one.value === null) return <Waiting lines={3} />
  const { entry, menus, business_hours_id, closed } = one.value
  return (
    <>
      <MenuMap
        entry={entry}
        steps={menus}
        hours={business_hours_id === null ? null : { closed }}
        problem={() => undefined}
        onOpen={() => undefined}
      />
      <dl class="said">
        {Object.entries(menus).map(([name, { prompt }]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{prompt?.text ?? prompt?.url ?? (prompt?.prompt_id ? t('An uploaded sound') : '–')}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}
