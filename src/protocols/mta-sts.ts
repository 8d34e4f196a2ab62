// SPDX-License-Identifier: Apache-2.0
// MTA-STS (RFC 8461): the TXT record that says which policy a domain has, the policy itself, and which mail servers it
// allows. Reading is strict: a record or policy that breaks the grammar is none.

/** Largest policy that is read, and the longest that one is kept (RFC 8461 §3.2, §3.3). */
export const maxPolicyBytes = 64 * 1024
const maxAgeSeconds = 31_557_600
const maxPatterns = 500

export interface StsPolicy {
  readonly mode: 'enforce' | 'testing' | 'none'
  /** Lower-case names of servers; `*.` in front stands for one label. Empty only with the mode `none`. */
  readonly mx: readonly string[]
  readonly maxAgeSeconds: number
}

/** Id of the policy, from the TXT records at `_mta-sts.<domain>`; null without exactly one good record. */
export function policyIdOf(texts: readonly string[]): string | null {
  const ours = texts.filter((text) => /^v=STSv1[ \t]*;/.test(text))
  const [text] = ours
  if (text === undefined || ours.length > 1) return null
  const [, ...fields] = text.split(';').map((field) => field.trim())
  if (fields.at(-1) === '') fields.pop()
  if (!fields.every((field) => /^[A-Za-z0-9][\w.-]{0,31}=[\x21-\x3a\x3c\x3e-\x7e]+$/.test(field))) return null
  const id = fields.find((field) => field.startsWith('id='))?.slice(3) ?? ''
  return /^[A-Za-z0-9]{1,32}$/.test(id) ? id : null
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const pattern = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`)

/** Policy, or what is wrong with it. Unknown fields are passed over; of a field that is given twice the first counts. */
export function parsePolicy(text: string): StsPolicy | { problem: string } {
  const fields = new Map<string, string>()
  const mx: string[] = []
  const lines = text.split(/\r?\n/)
  // Editors leave empty lines at the end; a policy lost to one would be a domain without protection.
  while (lines.at(-1) === '') lines.pop()
  for (const line of lines) {
    // One repetition only: what is fetched may be made to keep a pattern with several busy for hours.
    const [, name = '', rest = ''] = /^([A-Za-z0-9][\w.-]{0,31}):([\t\P{Cc}]*)$/u.exec(line) ?? []
    const value = rest.trim()
    if (name === '' || value === '') return { problem: 'a line is not a name, a colon and a value' }
    if (name === 'mx') mx.push(value.toLowerCase())
    else if (!fields.has(name)) fields.set(name, value)
  }
  if (fields.get('version') !== 'STSv1') return { problem: 'the version is not STSv1' }
  const mode = (['enforce', 'testing', 'none'] as const).find((one) => one === fields.get('mode'))
  if (mode === undefined) return { problem: 'the mode is not enforce, testing or none' }
  const age = fields.get('max_age') ?? ''
  if (!/^\d{1,10}$/.test(age)) return { problem: 'max_age is not a number of seconds' }
  if (!mx.every((one) => one.length <= 255 && pattern.test(one)))
    return { problem: 'an mx is not the name of a server' }
  if (mx.length > maxPatterns) return { problem: `there are more than ${maxPatterns} lines of mx` }
  if (mx.length === 0 && mode !== 'none') return { problem: 'it allows no mx' }
  return { mode, mx, maxAgeSeconds: Math.min(Number(age), maxAgeSeconds) }
}

/** Whether a policy allows a mail server; `*.` stands for exactly one label (RFC 8461 §4.1). */
export function allowsServer({ mx }: Pick<StsPolicy, 'mx'>, server: string): boolean {
  const name = server.toLowerCase().replace(/\.$/, '')
  const parent = name.slice(name.indexOf('.') + 1)
  return mx.some((one) => (one.startsWith('*.') ? name.includes('.') && one.slice(2) === parent : one === name))
}
