// SPDX-License-Identifier: Apache-2.0
// Tags of legs, by which a leg event finds its contact, transfer, monitor or conference.

const kinds = ['offer', 'customer', 'transfer', 'monitor', 'participant'] as const
type TagKind = (typeof kinds)[number]

export function tagOf(kind: TagKind, ...words: string[]): string {
  return [kind, ...words].join(' ')
}

export function readTag(tag: string | null): { kind: TagKind; words: string[] } | null {
  const [first, ...words] = tag?.split(' ') ?? []
  const kind = kinds.find((one) => one === first)
  return kind ? { kind, words } : null
}
