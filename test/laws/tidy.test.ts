// SPDX-License-Identifier: Apache-2.0
// Small habits that a reader should be able to rely on. Each failure names the file and what to do instead.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sourceFiles } from './sources.ts'

interface Habit {
  name: string
  pattern: RegExp
  instead: string
  /** Files that are the one place for it. */
  except?: readonly string[]
}

const unfinished = ['TO', 'DO|FIX', 'ME|XX', 'X'].join('')

const habits: readonly Habit[] = [
  {
    name: 'the time of day',
    pattern: /\bDate\.now\(\)|new Date\(\)/,
    instead: 'ask the injected clock',
    except: ['src/platform/clock.ts'],
  },
  { name: 'printing', pattern: /\bconsole\.\w+\(/, instead: 'use the log, or process.stdout in a command' },
  { name: 'unfinished work', pattern: new RegExp(`\\b(${unfinished})\\b`), instead: 'finish it, or write a decision' },
  {
    name: 'silencing the compiler',
    pattern: /@ts-(ignore|expect-error|nocheck)|\bas any\b|\bas unknown as\b/,
    instead: 'mend the type',
  },
  {
    name: 'a story in an error or a line of the log',
    pattern:
      /\b(AppError|invalid(At)?|log\.\w+)\(.*['`][^'`]*\b(whoever|somebody|nobody|anybody|everybody|meanwhile|just now|any more|(is|was|are|were) told)\b/,
    instead: 'say what is wrong, what follows from it and what to do',
  },
  {
    name: 'a member that is private by its type alone',
    pattern: /^\s+private (?!constructor\b)/,
    instead: 'name it #…, which holds when the program runs too',
  },
  { name: 'a limit named most…', pattern: /\bmost[A-Z]/, instead: 'name it max…' },
  { name: 'reaching far', pattern: /from '(\.\.\/){4,}/, instead: 'move the file to where it belongs' },
]

test('the source keeps its habits', () => {
  const broken: string[] = []
  for (const file of sourceFiles(['src'])) {
    if (file.endsWith('.test.ts')) continue
    const lines = readFileSync(file, 'utf8').split('\n')
    for (const { name, pattern, instead, except = [] } of habits)
      lines.forEach((line, i) => {
        if (pattern.test(line) && !except.includes(file)) broken.push(`${file}:${i + 1} ${name}: ${instead}`)
      })
  }
  assert.deepEqual(broken, [])
})

/** Verbs that are no nouns, and those that are one unless an object follows. */
const commands = new RegExp(
  `^(${[
    'Accept|Acquire|Add|Adjust|Advance|Append|Apply|Assign|Await|Begin|Bring|Build|Carry|Choose|Clear|Collect',
    'Connect|Convert|Create|Decide|Declare|Decode|Decrypt|Delete|Deliver|Derive|Describe|Destroy|Detect|Disable',
    'Discard|Dispatch|Emit|Enable|Encode|Encrypt|Ensure|Erase|Execute|Extend|Fetch|Find|Forget|Generate|Get|Give|Go|Have',
    'Hear|Ignore|Join|Keep|Kill|Leave|Let|Load|Make|Notify|Open|Parse|Pay|Pick|Prepare|Produce|Prove|Publish',
    'Receive|Recreate|Redact|Refresh|Refuse|Register|Reject|Reload|Remember|Remove|Render|Renew|Replace|Replay|Require',
    'Reserve|Resolve|Restore|Resume|Revoke|Rotate|Save|Say|Schedule|Serve|Settle|Show|Speak|Split|Spend|Stop|Store',
    'Submit|Subscribe|Suspend|Swap|Take|Tell|Throw|Translate|Try|Undo|Unlock|Use|Validate|Verify|Withdraw',
  ].join('|')}|(${[
    'Answer|Ask|Call|Cancel|Charge|Check|Claim|Close|Compare|Compute|Confirm|Count|Cut|Drop|End|Format|Handle|Hang|Hash',
    'Insert|List|Lock|Log|Mark|Match|Merge|Note|Order|Pack|Poll|Press|Put|Queue|Read|Record|Release|Report|Retry|Return',
    'Ring|Run|Send|Set|Sort|Start|Stream|Sum|Test|Update|Wait|Wake|Write',
  ].join('|')})(?= (a|an|the|all|any|each|every|its|it|this|these|those|them|what|whether|until) )) [a-z]`,
)

test('comments describe and do not command', () => {
  const files = ['src', 'test', 'bench', 'cli', 'tools', 'console/src'].flatMap((folder) =>
    ['.ts', '.tsx', '.mjs'].flatMap((ending) => sourceFiles([folder], ending)),
  )
  const broken = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    const heads = [...text.matchAll(/\/\*\*\s+(?:\* )?(.*)|^\/\/ SPDX.*\n\/\/ (.*)/g)]
    return heads
      .map(([, comment, head]) => comment ?? head ?? '')
      .flatMap((said) => (commands.test(said) ? [`${file}: ${said}`] : []))
  })
  assert.deepEqual(broken, [], 'say what it does: Adds, Creates, Refuses …')
})

test('every file says its licence, and every source file what it is', () => {
  const broken = sourceFiles(['src', 'test', 'bench']).filter((file) => {
    const [licence, about] = readFileSync(file, 'utf8').split('\n')
    return (
      licence !== '// SPDX-License-Identifier: Apache-2.0' || (!file.endsWith('.test.ts') && !about?.startsWith('// '))
    )
  })
  assert.deepEqual(broken, [], 'start the file with the SPDX line and a comment that says what it is')
})

test('no test is left out or alone', () => {
  const marks = /\btest\.(only|skip|todo)\(|\b(only|todo|skip): true/
  const broken = sourceFiles(['src', 'test']).filter(
    (file) => file.endsWith('.test.ts') && marks.test(readFileSync(file, 'utf8').replace(/const marks = .*/, '')),
  )
  assert.deepEqual(broken, [], 'a test that cannot run here says why at run time')
})
