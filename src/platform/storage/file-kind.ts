// SPDX-License-Identifier: Apache-2.0
// File kinds declared by areas: accepted types, size limits, retention, and a content check.

export interface FileKind {
  /** `area.noun`. */
  readonly name: `${string}.${string}`
  /** Content type → size limit in bytes; `*` for all others. */
  readonly types: Readonly<Record<string, number>>
  /** Retention in days; null: until the file or its account is deleted. */
  readonly keepDays: number | null
  /** Bytes of an unfinished file can be had when its node dies (`salvage`): for what comes over minutes, not at once. */
  readonly isSalvaged?: boolean
  /** Checks a complete file; returns the problem as the rest of a sentence that begins with "the file". */
  check?(file: ArrivedBytes): Promise<string | null>
}

/** Complete file, for the check. */
interface ArrivedBytes {
  readonly type: string
  readonly name: string | null
  readonly bytes: number
  /** Bytes from a position: as many as requested, fewer at the end of the file. */
  read(start: number, length: number): Promise<Buffer>
}

/** All kinds, for the law that each has a limit. */
export const fileKinds = new Map<string, FileKind>()

export function fileKind(kind: FileKind): FileKind {
  if (fileKinds.has(kind.name)) throw new Error(`two kinds of files are named ${kind.name}`)
  fileKinds.set(kind.name, kind)
  return kind
}

/** Size limit of a type; null when it is not accepted. */
export function maxBytes(kind: FileKind, type: string): number | null {
  return kind.types[type] ?? kind.types['*'] ?? null
}

export type FileFault = 'type' | 'size' | 'empty' | 'content'

/** File refused by its kind. The area translates it for its contract. */
export class FileRefused extends Error {
  readonly fault: FileFault

  constructor(fault: FileFault, sentence: string) {
    super(sentence)
    this.name = 'FileRefused'
    this.fault = fault
  }
}
