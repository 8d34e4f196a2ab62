// SPDX-License-Identifier: Apache-2.0
// Kinds of files, declared by areas: which types are taken, how large they may be, how long they are kept, and what is
// looked at before a file counts as arrived.

export interface FileKind {
  /** `area.noun`. */
  readonly name: `${string}.${string}`
  /** Content type -> the most bytes of such a file. The type `*` stands for all others. */
  readonly types: Readonly<Record<string, number>>
  /** Days for which a file is kept; null: until it is dropped, or its account is. */
  readonly keepDays: number | null
  /** Reads in a file that has come whole, and gives what is wrong with it: the rest of a sentence that begins with "the file". */
  check?(file: ArrivedBytes): Promise<string | null>
}

/** A file that has come whole, to be looked at. */
interface ArrivedBytes {
  readonly type: string
  readonly name: string | null
  readonly bytes: number
  /** Bytes from a place on: as many as asked for, fewer at the end of the file. */
  read(start: number, length: number): Promise<Buffer>
}

/** Every kind of the program, for the law that each has a bound. */
export const fileKinds = new Map<string, FileKind>()

export function fileKind(kind: FileKind): FileKind {
  if (fileKinds.has(kind.name)) throw new Error(`two kinds of files are named ${kind.name}`)
  fileKinds.set(kind.name, kind)
  return kind
}

/** The most bytes that a kind takes of a type; null when it takes none. */
export function mostBytes(kind: FileKind, type: string): number | null {
  return kind.types[type] ?? kind.types['*'] ?? null
}

export type FileFault = 'type' | 'size' | 'empty' | 'content'

/** A file that its kind does not take. The area says it in the words of its contract. */
export class FileRefused extends Error {
  readonly fault: FileFault

  constructor(fault: FileFault, sentence: string) {
    super(sentence)
    this.name = 'FileRefused'
    this.fault = fault
  }
}
