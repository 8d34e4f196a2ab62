// SPDX-License-Identifier: Apache-2.0
// Packs of the SDKs, as they are published: an npm tarball, a wheel, and a tarball for Composer. Nothing is fetched.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Writes the packs into a folder and gives their paths; null where the program that makes one is not installed. */
export function pack(root, folder) {
  mkdirSync(folder, { recursive: true })
  return { typescript: typescript(root, folder), python: python(root, folder), php: php(root, folder) }
}

function typescript(root, folder) {
  const made = join(folder, 'typescript')
  const own = join(root, 'sdk', 'typescript')
  rmSync(made, { recursive: true, force: true })
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // Types were checked by `npm run check`.
  run(process.execPath, [compiler, '-p', own, '--noCheck', '--outDir', join(made, 'dist')], root)
  for (const name of ['package.json', 'README.md', 'CHANGELOG.md']) cpSync(join(own, name), join(made, name))
  cpSync(join(root, 'LICENSE'), join(made, 'LICENSE'))
  const { version } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'))
  run('npm', ['pack', '--silent', '--pack-destination', folder], made)
  return join(folder, `pamoja-sdk-${version}.tgz`)
}

function python(root, folder) {
  const own = join(root, 'sdk', 'python')
  if (spawnSync('python3', ['-V']).error) return null
  const build =
    'import sys; sys.path.insert(0, "build_backend"); import wheel_backend; print(wheel_backend.build_wheel(sys.argv[1]))'
  return join(folder, run('python3', ['-B', '-c', build, folder], own).trim())
}

function php(root, folder) {
  const own = join(root, 'sdk', 'php')
  const { version } = JSON.parse(readFileSync(join(own, 'composer.json'), 'utf8'))
  const file = join(folder, `pamoja-php-${version}.tar.gz`)
  run('tar', ['-czf', file, '-C', own, 'composer.json', 'autoload.php', 'README.md', 'CHANGELOG.md', 'src'], own)
  return file
}

function run(program, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? ''}${stdout}${stderr}`)
  return stdout
}
