// SPDX-License-Identifier: Apache-2.0
// Confined process: may read files and compute, nothing else. Node's permission model forbids writing files and
// starting processes; where the kernel allows it (Linux, `unshare`), the network is empty. Its environment has none of
// our settings, hence no credentials.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Command prefix that gives a process an empty network. */
const unshare = ['unshare', '--user', '--map-current-user', '--net', '--'] as const
const probeMs = 5_000

/** Bounds the JavaScript heap; pixels and tensors lie outside of it. */
const heapMb = 512

let canUnshare: Promise<boolean> | null = null

export async function startConfined(program: URL, programArguments: readonly string[]): Promise<ChildProcess> {
  canUnshare ??= probe()
  const prefix = (await canUnshare) ? unshare : []
  const [command = process.execPath, ...rest] = [...prefix, process.execPath, ...nodeArguments()]
  return spawn(command, [...rest, fileURLToPath(program), ...programArguments], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    // Fewer malloc arenas: pictures come and go, and each arena would keep its own memory.
    env: { PATH: process.env.PATH ?? '', MALLOC_ARENA_MAX: '2' },
    cwd: '/',
  })
}

function nodeArguments(): string[] {
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission'
  return ['--no-warnings', `--max-old-space-size=${heapMb}`, permission, '--allow-fs-read=*', '--allow-addons']
}

function probe(): Promise<boolean> {
  const [command, ...rest] = unshare
  return new Promise((resolve) => {
    execFile(command, [...rest, 'true'], { timeout: probeMs }, (problem) => resolve(problem === null))
  })
}
