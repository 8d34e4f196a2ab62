// SPDX-License-Identifier: Apache-2.0
// Page of one record by description: how it is read, its name and state, its facts, what can be done with it.
import type { ComponentChildren, ComponentType } from 'preact'
import type { PageProps } from '../area.tsx'
import { useLive } from '../live.ts'
import { t } from '../words.ts'
import { type Deed, Detail, Opened } from './detail.tsx'
import { Card, Facts } from './kit.tsx'
import { type ColumnOf, cellOf, type Row } from './list-page.tsx'
import { useLoad } from './load.ts'

export interface RecordOf<T extends object> {
  /** List that it belongs to: its address and its name. */
  readonly in: readonly [to: string, name: string]
  get(id: string): Promise<T>
  /** Path of the API. */
  at(id: string): string
  title(value: T): string
  note?(value: T): string | null
  state?(value: T): string | null
  /** Fields that are told, as columns of a list tell them. */
  readonly facts: readonly ColumnOf[]
  deeds?(value: T): readonly Deed[]
  /** Events after which it is read again. */
  readonly live?: string
  /** What stands above its facts: what the page is opened for. */
  before?(value: T): ComponentChildren
  /** What stands below its facts. */
  more?(value: T, reload: () => Promise<void>): ComponentChildren
}

export function recordPage<T extends object>(of: RecordOf<T>): ComponentType<PageProps> {
  return function RecordPage({ id }: PageProps) {
    const record = useLoad(id, () => of.get(id))
    useLive(of.live ?? null, record.reload, { about: id })
    return (
      <Opened record={record}>
        {(value) => {
          const row: Row = Object.fromEntries(Object.entries(value))
          return (
            <Detail
              in={of.in}
              id={id}
              title={of.title(value)}
              note={of.note?.(value)}
              state={of.state?.(value) ?? null}
              deeds={of.deeds?.(value) ?? []}
              onDone={record.reload}
              path={of.at(id)}
              raw={value}
            >
              {of.before?.(value)}
              <Card title={t('Details')}>
                <Facts rows={of.facts.map((fact) => [fact.name, fact.show ? fact.show(row) : cellOf(row, fact)])} />
              </Card>
              {of.more?.(value, record.reload)}
            </Detail>
          )
        }}
      </Opened>
    )
  }
}
