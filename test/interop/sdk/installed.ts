// SPDX-License-Identifier: Apache-2.0
// SDKs installed from their packs, into a folder of the test, as a user would install them, without a network.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface InstalledSdk {
  readonly name: 'Node' | 'Python' | 'PHP'
  /** Program that runs a file, and before it what it needs. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

interface Packs {
  readonly typescript: string
  readonly python: string | null
  readonly php: string
}

/** Installs all three; those whose interpreter is missing are told of in `missing`. */
export async function installSdks(): Promise<{
  folder: string
  sdks: InstalledSdk[]
  missing: string[]
  remove(): void
}> {
  const folder = mkdtempSync(join(tmpdir(), 'pamoja-sdks-'))
  const { packSdks } = await import(new URL('../../../../tools/sdk.mjs', import.meta.url).href)
  const packs: Packs = packSdks(join(folder, 'packs'))
  const missing: string[] = []
  const sdks: InstalledSdk[] = [node(folder, packs.typescript)]
  const pythonSdk = packs.python === null ? null : python(folder, packs.python)
  if (pythonSdk) sdks.push(pythonSdk)
  else missing.push('python3 with pip is not installed (packages python3 python3-pip)')
  const phpSdk = php(folder, packs.php)
  if (phpSdk) sdks.push(phpSdk)
  else missing.push('php with cURL is not installed (packages php-cli php-curl)')
  return { folder, sdks, missing, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function node(folder: string, pack: string): InstalledSdk {
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', pack], folder)
  return { name: 'Node', command: [process.execPath], env: {} }
}

function python(folder: string, wheel: string): InstalledSdk | null {
  const target = join(folder, 'python')
  const options = ['--no-index', '--no-deps', '--quiet', '--disable-pip-version-check', '--root-user-action=ignore']
  const installed = spawnSync('python3', ['-m', 'pip', 'install', ...options, '--target', target, wheel])
  return installed.status === 0 ? { name: 'Python', command: ['python3'], env: { PYTHONPATH: target } } : null
}

/** By Composer's path repository where there is Composer, else by the autoloader in the pack. */
function php(folder: string, pack: string): InstalledSdk | null {
  if (spawnSync('php', ['-r', 'exit(function_exists("curl_init") ? 0 : 1);']).status !== 0) return null
  const target = join(folder, 'php', 'pamoja')
  mkdirSync(target, { recursive: true })
  run('tar', ['-xzf', pack, '-C', target], folder)
  const hasComposer = spawnSync('composer', ['--version']).status === 0
  if (!hasComposer) return { name: 'PHP', command: ['php'], env: { PAMOJA_AUTOLOAD: join(target, 'autoload.php') } }
  const repositories = [{ type: 'path', url: './pamoja' }, { packagist: false }]
  const wanted = { repositories, require: { 'pamoja/pamoja': '*' } }
  writeFileSync(join(folder, 'php', 'composer.json'), JSON.stringify(wanted))
  run('composer', ['install', '--quiet', '--no-interaction'], join(folder, 'php'))
  return { name: 'PHP', command: ['php'], env: { PAMOJA_AUTOLOAD: join(folder, 'php', 'vendor', 'autoload.php') } }
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${stdout}${stderr}`)
}
