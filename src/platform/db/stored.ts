// SPDX-License-Identifier: Apache-2.0
// Parts of a statement that stores a row, made from one list of its columns. Each column has a parameter of its own name, so that a
// row is stored as it was read.

interface Stored {
  /** `name, tags` */
  readonly names: string
  /** `$name, $tags::text[]` */
  readonly values: string
  /** `name = $name, tags = $tags::text[]` */
  readonly set: string
  /** `name = excluded.name, tags = excluded.tags` */
  readonly taken: string
}

/** Columns of a list such as `name, tags::text[]`, where `::` is followed by the type of the parameter. */
export function stored(list: string): Stored {
  const columns = list.split(',').map((column) => {
    const [name = '', type] = column.trim().split('::')
    return { name, value: type === undefined ? `$${name}` : `$${name}::${type}` }
  })
  const each = (write: (column: { name: string; value: string }) => string): string => columns.map(write).join(', ')
  return {
    names: each(({ name }) => name),
    values: each(({ value }) => value),
    set: each(({ name, value }) => `${name} = ${value}`),
    taken: each(({ name }) => `${name} = excluded.${name}`),
  }
}
