// SPDX-License-Identifier: Apache-2.0
// Start errors of the embedded server, explained in one sentence with a remedy.
import { StartError } from '../../kernel/start-error.ts'

/** Starts error: one sentence for the operator, with the tail of PostgreSQL's output. */
export class PostgresStartError extends StartError {
  override readonly name = 'PostgresStartError'
  readonly details: string

  constructor(message: string, details = '', options?: ErrorOptions) {
    super(message, options)
    this.details = details
  }
}

export const tailBytes = 8 * 1024

/** Output of PostgreSQL, initdb or the system → meaning and remedy. The first match counts. */
const explanations: readonly (readonly [says: RegExp, means: string, remedy: string])[] = [
  [
    /no space left|ENOSPC|quota exceeded|EDQUOT/i,
    'The disk that holds {place} is full',
    'free some space and start again',
  ],
  [
    /read-only file system|EROFS/i,
    '{place} is on a read-only file system',
    'choose a directory elsewhere with PAMOJA_HOME',
  ],
  [/ENOTDIR|ENAMETOOLONG/, '{place} cannot be a directory', 'choose another with PAMOJA_HOME'],
  [/spawn .*EPERM/, 'This process may not switch to the user of PostgreSQL', 'start it as an ordinary user'],
  [
    /look up effective user/,
    'PostgreSQL needs a user that has a name',
    'add this user id to /etc/passwd, or set DATABASE_URL',
  ],
  [/invalid permissions/, '{place} is open to other users', 'run chmod 700 on it'],
  [/permission denied|not permitted|EACCES|EPERM/i, 'PostgreSQL may not use {place}', 'give its user access to it'],
  [
    /PostgreSQL version/,
    '{place} is of another PostgreSQL version',
    'start that version, or restore a backup elsewhere',
  ],
  [/shared memory block|lock file .* exists/, 'Another PostgreSQL server still uses {place}', 'stop its processes'],
  [/lock file .* is empty/, 'A crash left an empty lock file in {place}', 'delete it if no PostgreSQL runs there'],
  [/parameter "|configuration parameter|contains errors/, 'PostgreSQL refuses one of its settings', 'correct it'],
  [/allocate memory|shared memory|ENOMEM/i, 'PostgreSQL has too little memory', 'free some, or lower shared_buffers'],
  [
    /not a valid data directory|control file|pg_control|checkpoint record|PANIC:|could not (open|read|access) |invalid page/,
    'The database files in {place} are damaged',
    'restore them from a backup, or move the directory away to start empty',
  ],
]

export function explain(output: string, place: string, cause?: unknown): PostgresStartError {
  const details = output.slice(-tailBytes)
  const lines = details.split('\n').map((line) => line.trim())
  const known = explanations.find(([says]) => lines.some((line) => says.test(line)))
  const [says, means, remedy] = known ?? [/FATAL:|error:/i, 'PostgreSQL in {place} did not start', 'read its log']
  const reason = lines.find((line) => says.test(line)) ?? lines.findLast((line) => line !== '') ?? 'it gave no reason'
  const plain = reason.replace(/^.*?(FATAL|PANIC|ERROR|LOG|DETAIL|[eE]rror): +/, '').replace(/\.$/, '')
  return new PostgresStartError(`${means.replace('{place}', place)} (${plain}): ${remedy}.`, details, {
    cause: cause ?? details,
  })
}
