// SPDX-License-Identifier: Apache-2.0
// Id of a record as a link to its page, where its kind has one.
import { Link } from '../place.tsx'
import { placeOf } from '../records.ts'
import { CopyId } from './kit.tsx'
import { shortId } from './words.ts'

export function RecordLink({ id }: { id: string | null }) {
  if (id === null || id === '') return <>–</>
  const place = placeOf(id)
  if (place === null) return <CopyId id={id} />
  return (
    <Link to={place} class="mono" title={id}>
      {shortId(id)}
    </Link>
  )
}
