// SPDX-License-Identifier: Apache-2.0
// The import law: the table below is the architecture. Imports point down; an area is entered through its door, by those that
// declare it; and within an area, or any other folder, the rooms import each other in one direction.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { areas } from '../../src/areas.ts'
import { doors as doorsThatOpen } from '../../src/doors.ts'
import { dialectNames, doorNames } from '../../src/kernel/door-names.ts'
import { sourceFiles } from './sources.ts'

/** Folder -> the folders it may import from (its own always). */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'src/kernel': [],
  'src/protocols': ['src/kernel'],
  'src/platform': ['src/kernel', 'src/config.ts', 'src/config/setting.ts'],
  'src/ledger': ['src/platform', 'src/kernel', 'src/config.ts'],
  'src/areas': ['src/ledger', 'src/platform', 'src/protocols', 'src/kernel', 'src/config.ts', 'src/config/setting.ts'],
  'src/doors': ['src/platform/api', 'src/protocols', 'src/kernel'],
  'src/simulators': ['src/protocols', 'src/kernel'],
  'src/config.ts': ['src/config/setting.ts', 'src/kernel'],
  'src/config/setting.ts': [],
}

/** Imports of every source file, once they were read. */
let read: ReadonlyMap<string, readonly string[]> | undefined

/** Area -> the areas whose door (area.ts) it may use, as it declares. Everything else crosses as an event. */
const doors = new Map(areas.map(({ name, uses = [] }) => [name, uses]))

test('imports point down, and areas meet only at their doors', () => {
  const broken: string[] = []
  for (const [file, targets] of importsOfSources()) {
    for (const target of targets) {
      const problem = judge(file, target)
      if (problem) broken.push(`${file} imports ${target}: ${problem}`)
    }
  }
  assert.deepEqual(broken, [])
})

test('an area says that it uses another only where it does', () => {
  const used = new Set<string>()
  for (const file of sourceFiles(['src/areas'])) {
    const [, , here] = file.split('/')
    for (const target of importsOf(file)) {
      const [, folder, there] = target.split('/')
      if (folder === 'areas' && there !== here) used.add(`${here} uses ${there}`)
    }
  }
  const said = [...doors].flatMap(([here, uses]) => uses.map((there) => `${here} uses ${there}`))
  assert.deepEqual(
    said.filter((line) => !used.has(line)),
    [],
  )
})

test('no imports run in a circle, those of types included', () => {
  assert.deepEqual(inCircles(importsOfSources()), [])
})

test('the rooms of a folder import each other in one direction', () => {
  assert.deepEqual(roundTrips(importsOfSources()), [])
})

/** Files in one folder of voice or the call centre: their calls were 27 and 26 files side by side once. */
const maxFilesOfCalls = 16

/**
 * Rooms with a part that the frame names and a part that uses it. A file in one of them is on one side only, since no imports
 * run in a circle; a room that is not listed here is whole on one side.
 */
const onBothSides = ['api', 'events', 'http', 'nodes', 'operator', 'outbound', 'program']

test('the frame of the platform and its rooms form no circle', () => {
  const imports = importsOfSources()
  const frame = ['src/platform/app.ts', 'src/platform/area.ts']
  const named = new Set([...reachableFrom(imports, 'src/platform/app.ts')])
  const leaning = [...named].filter((file) => imports.get(file)?.some((target) => frame.includes(target)))
  assert.deepEqual(leaning, [], 'what app.ts names does not use app.ts')
  assert.deepEqual(roomsOnBothSides(imports), onBothSides, 'a further room would tie the frame to it')
})

/** Rooms of the platform of which the frame names a file, and of which another file imports the frame. */
function roomsOnBothSides(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const frame = ['src/platform/app.ts', 'src/platform/area.ts']
  const named = new Set(frame.flatMap((file) => imports.get(file) ?? []).map((name) => roomOf('src/platform', name)))
  const using = [...imports]
    .filter(([, targets]) => targets.some((target) => frame.includes(target)))
    .map(([file]) => roomOf('src/platform', file))
  return [...new Set(using)].flatMap((room) => (room !== null && named.has(room) ? [room] : [])).sort()
}

test('calls have rooms named after those who act, and no folder of theirs is a heap', () => {
  const rooms = ['voice/caller', 'callcenter/agent', 'callcenter/caller', 'callcenter/supervisor']
  assert.deepEqual(
    rooms.filter((room) => !existsSync(`src/areas/${room}`)),
    [],
  )
  const sizes = new Map<string, number>()
  for (const file of sourceFiles(['src/areas/voice', 'src/areas/callcenter']).filter(
    (name) => !name.endsWith('.test.ts'),
  ))
    sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1)
  const heaps = [...sizes].filter(([, size]) => size > maxFilesOfCalls)
  assert.deepEqual(heaps, [], 'part it by who acts: src/areas/callcenter has agent, caller and supervisor')
})

test('the README of the platform lists its rooms, each below those that it imports', () => {
  const [page = ''] = readFileSync('src/platform/README.md', 'utf8').split('\n## ')
  const listed = [...page.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) =>
    cell.replaceAll('`', '').split(', '),
  )
  const imports = [...importsOfSources()].map(([file, targets]) =>
    [file, ...targets].map((name) => roomOf('src/platform', name)),
  )
  const rooms = new Set(imports.flatMap(([room]) => room ?? []))
  assert.deepEqual([...listed].sort(), [...rooms].sort())
  const broken = imports.flatMap(([room = null, ...others]) =>
    others
      .filter((other) => room !== null && other !== null && listed.indexOf(other) > listed.indexOf(room))
      .map((other) => `${room} imports ${other}, which is below it`),
  )
  assert.deepEqual([...new Set(broken)], [])
})

test('the law sees what breaks it', () => {
  const circle = new Map([
    ['top', ['one']],
    ['one', ['two', 'leaf']],
    ['two', ['one']],
    ['leaf', []],
  ])
  assert.deepEqual(inCircles(circle), ['top', 'one', 'two'])
  circle.set('two', ['leaf'])
  assert.deepEqual(inCircles(circle), [])
  const rooms = new Map([
    ['src/areas/a/area.ts', ['src/areas/a/one/x.ts']],
    ['src/areas/a/one/x.ts', ['src/areas/a/noun.ts', 'src/areas/a/two/y.ts']],
    ['src/areas/a/one/z.ts', []],
    ['src/areas/a/two/y.ts', []],
    ['src/areas/a/noun.ts', []],
  ])
  assert.deepEqual(roundTrips(rooms), [])
  rooms.set('src/areas/a/noun.ts', ['src/areas/a/one/z.ts'])
  rooms.set('src/areas/a/two/y.ts', ['src/areas/a/one/z.ts'])
  assert.deepEqual(roundTrips(rooms), [
    'src/areas/a: noun.ts, one, two import each other (noun.ts imports one/z.ts; one/x.ts imports noun.ts; one/x.ts imports two/y.ts; two/y.ts imports one/z.ts)',
  ])
  const platform = new Map([
    ['src/platform/app.ts', ['src/platform/db.ts', 'src/platform/work/y.ts']],
    ['src/platform/db.ts', ['src/platform/db/x.ts', 'src/platform/app.ts']],
    ['src/platform/db/x.ts', []],
    ['src/platform/work/y.ts', ['src/platform/db.ts', 'src/platform/app.ts']],
  ])
  assert.deepEqual(roundTrips(platform), [])
  platform.set('src/platform/db/x.ts', ['src/platform/work/y.ts'])
  assert.deepEqual(roundTrips(platform), [
    'src/platform: db, work import each other (db/x.ts imports work/y.ts; work/y.ts imports db.ts)',
  ])
  const split = new Map([
    ['src/platform/app.ts', ['src/platform/db.ts', 'src/platform/work/y.ts']],
    ['src/platform/work/y.ts', []],
    ['src/platform/work/z.ts', ['src/platform/app.ts']],
    ['src/platform/db.ts', []],
  ])
  assert.deepEqual(roomsOnBothSides(split), ['work'])
  assert.match(judge('src/kernel/ids.ts', 'src/platform/db.ts') ?? '', /may import nothing/)
  assert.match(judge('src/platform/http.ts', 'src/areas/accounts/area.ts') ?? '', /src\/platform may import/)
  assert.match(judge('src/areas/events/area.ts', 'src/areas/accounts/area.ts') ?? '', /does not say that it uses/)
  assert.match(judge('src/areas/sandbox/area.ts', 'src/areas/accounts/keys.ts') ?? '', /only its area\.ts/)
  assert.match(judge('src/simulators/smsc.ts', 'src/platform/db.ts') ?? '', /src\/simulators may import/)
  assert.equal(judge('src/areas/sandbox/area.ts', 'src/areas/accounts/area.ts'), null)
  assert.match(judge('src/areas/sms/settings.ts', 'src/kernel/ids.ts') ?? '', /nothing else/)
  assert.match(judge('src/config.ts', 'src/areas/sms/area.ts') ?? '', /may import src\/config\/setting.ts/)
  assert.equal(judge('src/config.ts', 'src/areas/sms/settings.ts'), null)
  assert.equal(judge('src/node/server.ts', 'src/areas/accounts/area.ts'), null)
  assert.match(judge('src/doors/twilio/door.ts', 'src/platform/db.ts') ?? '', /a door may import/)
  assert.match(judge('src/doors/twilio/door.ts', 'src/doors/africastalking/xml.ts') ?? '', /a door may import/)
  assert.match(judge('src/doors/twilio/door.ts', 'src/areas/voice/store.ts') ?? '', /a door may import/)
  assert.equal(judge('src/doors/twilio/door.ts', 'src/areas/voice/area.ts'), null)
})

/** Settings of an area, which config.ts joins before the rest of the program is read. */
const areaSettings = /^src\/areas\/\w+\/settings\.ts$/

function judge(file: string, target: string): string | null {
  if (areaSettings.test(file))
    return target === 'src/config/setting.ts'
      ? null
      : 'the settings of an area may import src/config/setting.ts and nothing else'
  if (file === 'src/config.ts' && areaSettings.test(target)) return null
  const from = folderOf(file)
  const to = folderOf(target)
  if (from === null || (from === to && from !== 'src/areas' && from !== 'src/doors')) return null
  if (from === 'src/areas' && to === 'src/areas') {
    const [here, there] = [file.split('/')[2] ?? '', target.split('/')[2] ?? '']
    if (here === there) return null
    if (!doors.get(here)?.includes(there))
      return `${here} does not say that it uses ${there}: let it cross as an event, or say so in its area.ts`
    return target.endsWith('/area.ts') ? null : 'only its area.ts may be imported'
  }
  if (from === 'src/doors') return doorProblem(file, target)
  const allowed = mayImport[from] ?? []
  if (to !== null && allowed.includes(to)) return null
  return `${from} may import ${allowed.length > 0 ? allowed.join(', ') : 'nothing of ours'}`
}

/** A door translates: it knows what a door is given, wire formats and the kernel, and meets areas at their doors. */
function doorProblem(file: string, target: string): string | null {
  if (target.startsWith(`${file.split('/').slice(0, 3).join('/')}/`)) return null
  const isAllowed =
    /^src\/(kernel|protocols)\//.test(target) ||
    /^src\/platform\/api\/(dialect|door|hook)\.ts$/.test(target) ||
    /^src\/areas\/\w+\/area\.ts$/.test(target)
  return isAllowed
    ? null
    : 'a door may import its own folder, src/kernel, src/protocols, dialect.ts, door.ts and hook.ts of platform/api, and area.ts of areas'
}

test('a door keeps nothing: no variable of a module changes', () => {
  const stateful = sourceFiles(['src/doors']).filter((file) =>
    /^(export )?(let|var) |^(export )?const \w+(: [^=]+)? = (new (Map|Set|WeakMap|Array)\(\)|\[\]|\{\})/m.test(
      readFileSync(file, 'utf8'),
    ),
  )
  assert.deepEqual(stateful, [])
})

test('every folder of src/doors is a door of its name, and the names are those of the kernel', () => {
  const folders = readdirSync('src/doors').sort()
  assert.deepEqual(doorsThatOpen.map(({ name }) => name).sort(), folders, 'list the door in src/doors.ts')
  assert.deepEqual([...doorNames].sort(), folders)
  const told = doorsThatOpen.filter(({ dialect }) => dialect).map(({ name }) => name)
  assert.deepEqual([...dialectNames].sort(), told.sort())
})

/** The row of the table a file belongs to; null for the composition at the top, which may import everything. */
function folderOf(file: string): string | null {
  return Object.keys(mayImport).find((folder) => file === folder || file.startsWith(`${folder}/`)) ?? null
}

/**
 * Rooms whose imports run in a circle, folder by folder. A room is a folder, or a file beside the folders. Imports of types
 * count: they tie a reader to the other room as much as any, and a shape that two rooms need has a place in a third. In
 * src/platform `db.ts` and `db/` are one room, and app.ts and area.ts are none: they name all the others.
 */
function roundTrips(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const folders = new Set([...imports.keys()].flatMap(foldersOf))
  return [...folders].sort().flatMap((folder) => {
    const rooms = new Map<string, Map<string, string[]>>()
    for (const [file, targets] of imports) {
      const room = roomOf(folder, file)
      if (room === null) continue
      const others = rooms.get(room) ?? new Map<string, string[]>()
      rooms.set(room, others)
      for (const target of targets) {
        const other = roomOf(folder, target)
        if (other === null || other === room) continue
        const line = `${file.slice(folder.length + 1)} imports ${target.slice(folder.length + 1)}`
        others.set(other, [...(others.get(other) ?? []), line])
      }
    }
    const graph = new Map([...rooms].map(([room, others]) => [room, [...others.keys()]]))
    return tied(graph).map((circle) => {
      const lines = circle.flatMap((room) => circle.flatMap((other) => rooms.get(room)?.get(other) ?? []))
      return `${folder}: ${circle.join(', ')} import each other (${lines.join('; ')})`
    })
  })
}

/** Folders that a file is in, and that are asked. */
function foldersOf(file: string): string[] {
  const folder = dirname(file)
  return ['src', 'src/areas'].includes(folder) ? [] : [folder, ...foldersOf(folder)]
}

function roomOf(folder: string, file: string): string | null {
  if (!file.startsWith(`${folder}/`)) return null
  const [room = ''] = file.slice(folder.length + 1).split('/')
  if (folder !== 'src/platform') return room
  return room === 'app.ts' || room === 'area.ts' ? null : room.replace(/\.ts$/, '')
}

/** Groups of names each of which leads to every other. */
function tied(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const reached = new Map([...graph.keys()].map((name) => [name, reachableFrom(graph, name)]))
  const groups = new Map<string, string[]>()
  for (const name of [...graph.keys()].sort()) {
    const group = [...(reached.get(name) ?? [])].filter((other) => reached.get(other)?.has(name)).sort()
    if (group.length > 1) groups.set(group.join(), group)
  }
  return [...groups.values()]
}

function reachableFrom(graph: ReadonlyMap<string, readonly string[]>, start: string): Set<string> {
  const found = new Set<string>()
  const waiting = [start]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop())
    for (const next of graph.get(name) ?? [])
      if (!found.has(next)) {
        found.add(next)
        waiting.push(next)
      }
  return found
}

function importsOfSources(): ReadonlyMap<string, readonly string[]> {
  const files = sourceFiles(['src']).filter((name) => !name.endsWith('.test.ts'))
  read ??= new Map(files.map((file) => [file, importsOf(file)]))
  return read
}

/** Files in circles, and those above them: what is left when files that import nothing more are taken away again and again. */
function inCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Map(imports)
  const isLeaf = ([, targets]: [string, readonly string[]]) => !targets.some((target) => left.has(target))
  for (let leaves = [...left].filter(isLeaf); leaves.length > 0; leaves = [...left].filter(isLeaf))
    for (const [file] of leaves) left.delete(file)
  return [...left.keys()]
}

function importsOf(file: string): string[] {
  const found = readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return [...found].map(([, path = '']) => normalize(join(dirname(file), path)))
}
