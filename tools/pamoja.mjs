#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// `pamoja`: commands of the API run at once, over the SDK; those that look after a platform start the program.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const cli = join(root, 'dist', 'program', 'cli.js')

await main(argv.slice(2))

async function main(args) {
  if (!existsSync(cli)) {
    const { prepare } = await import('./bootstrap.mjs')
    await prepare('cli')
  }
  const [first, second, ...rest] = args
  if (first === undefined || first === 'help' || first === '--help' || first === '--version')
    return (await import(cli)).run(args)
  if (first === 'ussd' && second === 'dial') return program(['handset', ...rest])
  if (first === 'listen' || first === 'handset') return program(args)
  const { isOfApi, run } = await import(cli)
  await (isOfApi(args) ? run(args) : program(args))
}

/** The program that runs the platform; profiles count for what it asks of one. */
async function program(args) {
  const { environmentOf } = await import(cli)
  const options = environmentOf(args)
  Object.assign(process.env, options.env)
  const { run } = await import('../dist/program/main.js')
  await run(options.args)
}
