// SPDX-License-Identifier: Apache-2.0
// Name of the account of a row, as a link to its page; names are read once for all rows.
import { operatorListAccounts } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { type Row, textOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { shortId } from '../../kit/words.ts'
import { Link } from '../../place.tsx'

const maxNames = 100
let names: Promise<Readonly<Record<string, string>>> | null = null

const namesById = (): Promise<Readonly<Record<string, string>>> => {
  names ??= operatorListAccounts(api, { query: { limit: maxNames } }).then(({ data }) =>
    Object.fromEntries(data.map(({ id, name }) => [id, name])),
  )
  names.catch(() => {
    names = null
  })
  return names
}

export const accountOf = (row: Row) => <AccountName id={textOf(row.account_id)} name={textOf(row.account_name)} />

function AccountName({ id, name }: { id: string; name: string }) {
  const known = useLoad('names of accounts', namesById)
  if (id === '') return <>–</>
  return (
    <Link to={`/operator/accounts/${encodeURIComponent(id)}`} title={id}>
      <span dir="auto">{name || (known.value?.[id] ?? shortId(id))}</span>
    </Link>
  )
}
