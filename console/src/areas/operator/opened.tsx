// SPDX-License-Identifier: Apache-2.0
// Record of any account, opened: its timeline where it has one, and what the API says of it.
import type { Environment } from '../../api.ts'
import { Timeline } from '../../timeline/timeline.tsx'

interface OpenedProps {
  id: string
  /** Path of its timeline at the operator's routes, where it has one. */
  timeline?: string | undefined
  environment: Environment
  body: unknown
}

export function OpenedThing({ id, timeline, environment, body }: OpenedProps) {
  return (
    <>
      {timeline && <Timeline path={timeline} query={{ environment }} />}
      <figure class="code">
        <figcaption>{id}</figcaption>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <pre tabIndex={0}>{JSON.stringify(body, null, 2)}</pre>
      </figure>
    </>
  )
}
