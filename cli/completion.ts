// SPDX-License-Identifier: Apache-2.0
// `pamoja completion bash|zsh|fish`: a script for the shell that completes commands, areas and their operations.
import { commands } from './commands.ts'
import { table } from './operations.ts'
import { UsageError } from './usage.ts'

/** First word -> the words that may follow it. */
function tree(own: readonly string[]): Map<string, Set<string>> {
  const words = new Map<string, Set<string>>(own.map((name) => [name, new Set()]))
  for (const [area, verbs] of Object.entries(table)) words.set(area, new Set(Object.keys(verbs)))
  for (const { usage } of commands) {
    const [first = '', second = ''] = usage.split(' ')
    const next = words.get(first) ?? new Set()
    if (second !== '' && !second.startsWith('<')) next.add(second)
    words.set(first, next)
  }
  return words
}

export function completion(shell: string, own: readonly string[]): string {
  const words = tree([...own, 'completion'])
  words.set('completion', new Set(['bash', 'zsh', 'fish']))
  const first = [...words.keys()].join(' ')
  const second = [...words].filter(([, next]) => next.size > 0)
  if (shell === 'bash')
    return `_pamoja() {
  local word=\${COMP_WORDS[COMP_CWORD]} choices=
  if [ "$COMP_CWORD" = 1 ]; then choices="${first}"
  elif [ "$COMP_CWORD" = 2 ]; then case \${COMP_WORDS[1]} in
${second.map(([name, next]) => `    ${name}) choices="${[...next].join(' ')}" ;;`).join('\n')}
  esac; fi
  COMPREPLY=($(compgen -W "$choices" -- "$word"))
}
complete -o default -F _pamoja pamoja`
  if (shell === 'zsh')
    return `#compdef pamoja
_pamoja() {
  if (( CURRENT == 2 )); then compadd ${first}
  elif (( CURRENT == 3 )); then case $words[2] in
${second.map(([name, next]) => `    ${name}) compadd ${[...next].join(' ')} ;;`).join('\n')}
  esac; else _files; fi
}
compdef _pamoja pamoja`
  if (shell === 'fish')
    return [
      `complete -c pamoja -f -n __fish_use_subcommand -a "${first}"`,
      ...second.map(
        ([name, next]) => `complete -c pamoja -f -n "__fish_seen_subcommand_from ${name}" -a "${[...next].join(' ')}"`,
      ),
    ].join('\n')
  throw new UsageError('Usage: pamoja completion bash|zsh|fish')
}
