// SPDX-License-Identifier: Apache-2.0
// Record of any account, opened: its timeline where it has one, and what the API says of it.
import type { Environment } from '../../api.ts'
import { Timeline } from '../../timeline/timeline.tsx'

interface OpenedProps {
  id: string
  /** Path of the record at the operator's routes. */
  path: string
  environment: Environment
  body: unknown
  hasTimeline: boolean
}

export function OpenedThing({ id, path, environment, body, hasTimeline }: OpenedProps) {
  return (
    <>
      {hasTimeline && <Timeline path={`${path}/timeline`} live="" query={{ environment }} />}
      <figure class="code">
        <figcaption>{id}</figcaption>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <pre tabIndex={0}>{JSON.stringify(body, null, 2)}</pre>
      </figure>
    </>
  )
}
