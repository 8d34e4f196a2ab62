// SPDX-License-Identifier: Apache-2.0
// One segment: its filter, and how many customers it has while the filter is changed.
import { useState } from 'preact/hooks'
import { segmentsCount, segmentsCountFilter, segmentsDelete, segmentsGet, segmentsUpdate } from '#sdk/operations.ts'
import type { Segment } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Detail, Opened } from '../../kit/detail.tsx'
import { complain, removing, say } from '../../kit/dialogs.tsx'
import { TextField } from '../../kit/fields.tsx'
import { Card, FiguresRow, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { count } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { ConditionRows, conditionsOf, type Tree, treeWith } from './conditions.tsx'

export function SegmentPage({ id }: PageProps) {
  const segment = useLoad(id, () => segmentsGet(api, { id }))
  return (
    <Opened record={segment}>
      {(value) => (
        <Detail
          in={['/segments', 'Segments']}
          id={value.id}
          title={value.name}
          path={segmentsGet.at({ id })}
          raw={value}
          deeds={[
            {
              ...{ name: 'Delete', isDanger: true, scope: 'customers:write', leadsTo: '/segments' },
              asks: removing(value.name, t('The customers stay.')),
              run: () => segmentsDelete(api, { id }),
            },
          ]}
        >
          <Conditions key={value.updated_at} segment={value} onDone={segment.reload} />
        </Detail>
      )}
    </Opened>
  )
}

/** Filter that was typed; null while it is no JSON object. */
function treeOf(text: string): Tree | null {
  try {
    const tree: unknown = JSON.parse(text)
    return typeof tree === 'object' && tree !== null && !Array.isArray(tree) ? { ...tree } : null
  } catch {
    return null
  }
}

function Conditions({ segment, onDone }: { segment: Segment; onDone(): Promise<void> }) {
  const { id, filter } = segment
  const stored = filter === null ? '' : JSON.stringify(filter, null, 2)
  const [text, setText] = useState(stored)
  const tree = treeOf(text)
  const counted = useLoad(
    tree === null ? `${id} ${filter === null}` : JSON.stringify(tree),
    () =>
      tree === null || text === stored
        ? segmentsCount(api, { id })
        : segmentsCountFilter(api, { body: { filter: tree } }),
    { keeps: true },
  )
  useLive('customer.', counted.reload, { everyMs: 10_000 })
  const { value, error } = counted
  const rows = tree === null ? null : conditionsOf(tree)
  const save = (): void => {
    if (tree === null) return
    segmentsUpdate(api, { id, body: { filter: tree } })
      .then(() => onDone())
      .then(() => say(t('Saved')), complain)
  }
  return (
    <div class="stack">
      <FiguresRow
        figures={[
          [
            t('Customers'),
            value ? (value.estimated ? `≈ ${count(value.count)} ± ${count(value.margin)}` : count(value.count)) : null,
            <Link key="all" to={`/customers?segment=${id}`}>
              {t('Show them')}
            </Link>,
          ],
        ]}
      />
      <Card title={t('Conditions')}>
        {filter === null ? (
          <p class="soft">{t('This segment is a fixed list of customers.')}</p>
        ) : (
          <>
            {rows && (
              <ConditionRows value={rows} onChange={(next) => setText(JSON.stringify(treeWith(next), null, 2))} />
            )}
            <details open={rows === null}>
              <summary>{t('As JSON')}</summary>
              <TextField
                label="Filter"
                rows={12}
                value={text}
                onInput={setText}
                hint="and, or, not, and conditions with field, op and value"
                {...(tree === null ? { problem: t('This is not a JSON object yet.') } : {})}
              />
            </details>
            {tree !== null && error && <Problem error={error} />}
            {may('customers:write') && (
              <button type="button" class="btn main" disabled={tree === null || text === stored} onClick={save}>
                {t('Save')}
              </button>
            )}
          </>
        )}
      </Card>
    </div>
  )
}
