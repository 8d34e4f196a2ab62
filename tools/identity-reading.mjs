// SPDX-License-Identifier: Apache-2.0
// `node tools/identity-reading.mjs` (after `npm run build`): how well documents are read from pictures made of the specimens by
// turning, tilting, shrinking, darkening, blurring and the like. Prints the table of docs/identity.md: of each kind of picture, how
// many zones were read without a mistake and how many printed fields were read as on the specimen itself.

import { fork } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import sharp from 'sharp'

const specimens = ['passport_ke', 'id_gh_back', 'id_za']
const folder = new URL('../src/areas/identity/specimens/', import.meta.url)

/** A light from one side, from white to nothing or from black to nothing. */
const light = (width, height, colour, strength, x) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><radialGradient id="l" cx="${x}" cy="0.3" r="0.35"><stop offset="0" stop-color="${colour}" stop-opacity="${strength}"/><stop offset="1" stop-color="${colour}" stop-opacity="0"/></radialGradient><rect width="100%" height="100%" fill="url(#l)"/></svg>`,
  )

const kinds = {
  'as it is': (picture) => [picture],
  'held sideways or upside down': (picture) => [90, 180, 270].map((angle) => picture.clone().rotate(angle)),
  'tilted by 3 and 6 degrees': (picture) =>
    [-6, -3, 3, 6].map((angle) => picture.clone().rotate(angle, { background: '#6b5a4a' })),
  '800, 600 and 480 pixels wide': (picture) => [800, 600, 480].map((width) => picture.clone().resize(width)),
  'a third of the light': (picture) => [picture.clone().linear(0.33, 4)],
  'a shadow': (picture, { width, height }) =>
    [0.2, 0.8].map((x) => picture.clone().composite([{ input: light(width, height, '#000', 0.7, x) }])),
  'a reflection beside the zone': (picture, { width, height }) =>
    [0.2, 0.8].map((x) => picture.clone().composite([{ input: light(width, height, '#fff', 0.95, x) }])),
  'a little out of focus': (picture) => [picture.clone().blur(1.2)],
  'out of focus': (picture) => [picture.clone().blur(2.4)],
  'a JPEG of quality 20': (picture) => [picture.clone().jpeg({ quality: 20 })],
}

/** Pictures are read in another process: the reader lets sharp open nothing but photographs. */
if (process.send) await serve()
else await measure()

async function measure() {
  const reader = fork(new URL(import.meta.url))
  const read = (bytes) =>
    new Promise((resolve) => {
      reader.once('message', resolve)
      reader.send(bytes.toString('base64'))
    })
  const truth = new Map()
  for (const name of specimens) truth.set(name, await read(await readFile(new URL(`${name}.jpg`, folder))))
  process.stdout.write('| Picture | Zones read | Printed fields read |\n|---|---|---|\n')
  for (const [kind, make] of Object.entries(kinds)) {
    const count = { zones: 0, zonesRead: 0, fields: 0, fieldsRead: 0 }
    for (const name of specimens) {
      const bytes = await readFile(new URL(`${name}.jpg`, folder))
      const known = truth.get(name)
      for (const one of make(sharp(bytes), await sharp(bytes).metadata())) {
        const found = await read(await one.jpeg({ quality: kind.includes('quality 20') ? 20 : 85 }).toBuffer())
        count.zones += known.zone === null ? 0 : 1
        count.zonesRead += known.zone !== null && found.zone === known.zone ? 1 : 0
        const printed = Object.entries(known.fields)
        count.fields += printed.length
        count.fieldsRead += printed.filter(([field, value]) => found.fields[field] === value).length
      }
    }
    const { zones, zonesRead, fields, fieldsRead } = count
    process.stdout.write(`| ${kind} | ${zonesRead} of ${zones} | ${fieldsRead} of ${fields} |\n`)
  }
  reader.disconnect()
}

async function serve() {
  const engines = new URL('../dist/src/areas/identity/engines/', import.meta.url)
  const { decode, greyOf, turned } = await import(new URL('image.js', engines))
  const { readMrz } = await import(new URL('mrz/read.js', engines))
  const { readText } = await import(new URL('ocr.js', engines))
  const { findFaces } = await import(new URL('faces/faces.js', engines))
  const { printedFields } = await import(new URL('../documents/visual-zone.js', engines))
  process.on('message', async (text) => {
    const { image: held } = await decode(Buffer.from(text, 'base64'), 2_000)
    const zone = await readMrz(greyOf(held))
    let image = turned(held, zone?.turn ?? 0)
    for (const degrees of zone ? [] : [0, 90, 180, 270]) {
      image = turned(held, degrees)
      if ((await findFaces(image)).length > 0) break
    }
    const printed = Object.entries(printedFields(await readText(image, zone?.box ?? null)))
    const fields = Object.fromEntries(printed.map(([name, { value }]) => [name, value]))
    process.send({ zone: zone && zone.failing.length === 0 ? zone.lines.join('\n') : null, fields })
  })
}
