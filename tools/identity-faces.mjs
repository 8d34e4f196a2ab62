// SPDX-License-Identifier: Apache-2.0
// Makes the faces of the identity specimens from one public-domain portrait (NASA, Eileen Collins; `astronaut.png` of
// scikit-image): node tools/identity-faces.mjs astronaut.png [frame_blink ...]. The 468 points of the mesh are moved, and the
// pixels with them: turned, nodding, smiling, or with lids drawn over the eyes. The other person is drawn. A picture that is
// cut out already, such as the specimen face_a.jpg, serves as well.

import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const engines = join(root, 'dist/src/areas/identity/engines')
const out = join(root, 'src/areas/identity/specimens')
const { decode } = await import(join(engines, 'image.js'))
const { findFaces } = await import(join(engines, 'faces/faces.js'))
const { findMesh } = await import(join(engines, 'faces/mesh.js'))

const side = 480
const cut = { left: 112, top: 12, width: 224, height: 224 }

const [file, ...wanted] = process.argv.slice(2)
const given = sharp(readFileSync(file))
const portrait = await ((await given.metadata()).width === side ? given : given.extract(cut))
  .resize(side, side, { kernel: 'lanczos3' })
  .png()
  .toBuffer()
const { image } = await decode(portrait, side)
// The engine reads three formats only; drawing needs one more.
sharp.unblock({ operation: ['VipsForeignLoad'] })
const [face] = await findFaces(image)
const { points: mesh } = await findMesh(image, face.box)
const middle = { x: side / 2, y: mesh.reduce((sum, p) => sum + p.y, 0) / mesh.length }

const upperLids = [246, 161, 160, 159, 158, 157, 173, 466, 388, 387, 386, 385, 384, 398]
const lowerLids = [7, 163, 144, 145, 153, 154, 155, 249, 390, 373, 374, 380, 381, 382]
const innerUpper = [78, 191, 80, 81, 82, 13, 312, 311, 310, 415, 308]
const innerLower = [324, 318, 402, 317, 14, 87, 178, 88, 95]
const outerLower = [375, 321, 405, 314, 17, 84, 181, 91, 146]

const still = (p) => ({ x: p.x, y: p.y })
const turn = (angle) => (p) => {
  const x = p.x - middle.x
  return { x: middle.x + x * Math.cos(angle) - p.z * Math.sin(angle), y: p.y }
}
const nod = (angle) => (p) => {
  const y = p.y - middle.y
  return { x: p.x, y: middle.y + y * Math.cos(angle) - p.z * Math.sin(angle) }
}
/** The jaw drops: most in the middle, hardly at the corners of the mouth. */
const openMouth = (p, i) => {
  const isBelow = innerLower.includes(i) || outerLower.includes(i) || p.y > mesh[17].y
  const aside = Math.exp(-(((p.x - lips.x) / (side * 0.085)) ** 4))
  return { x: p.x, y: p.y + (isBelow ? side * 0.085 * aside : 0) }
}
const lips = { x: (mesh[61].x + mesh[291].x) / 2, y: (mesh[61].y + mesh[291].y) / 2 }
const smile = (p) => {
  const [x, y] = [p.x - lips.x, p.y - lips.y]
  const near = Math.exp(-((y / (side * 0.075)) ** 2)) * Math.exp(-((x / (side * 0.2)) ** 4))
  return { x: p.x + x * 0.42 * near, y: p.y - Math.abs(x) * 0.16 * near }
}
/** Displacement of each pixel by that of the points near it, faded out away from the face. */
async function moved(move, finish = (picture) => picture) {
  const points = mesh.map((p, i) => ({ to: move(p, i), from: p }))
  const edge = Array.from({ length: 33 }, (_, i) => (i * side) / 32)
  for (const at of edge)
    for (const [x, y] of [
      [at, 0],
      [at, side],
      [0, at],
      [side, at],
    ])
      points.push({ to: { x, y }, from: { x, y } })
  const data = Buffer.alloc(side * side * 3)
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      let [dx, dy, sum] = [0, 0, 0]
      for (const { to, from } of points) {
        const near = (to.x - x) ** 2 + (to.y - y) ** 2 + 9
        const weight = 1 / (near * near)
        dx += (from.x - to.x) * weight
        dy += (from.y - to.y) * weight
        sum += weight
      }
      sample(data, (y * side + x) * 3, x + dx / sum, y + dy / sum)
    }
  return finish(sharp(data, { raw: { width: side, height: side, channels: 3 } }))
}

function sample(to, offset, x, y) {
  const left = Math.min(Math.max(x, 0), side - 1.001)
  const top = Math.min(Math.max(y, 0), side - 1.001)
  const [column, row] = [Math.floor(left), Math.floor(top)]
  for (let channel = 0; channel < 3; channel++) {
    const at = (r, c) => image.data[((row + r) * side + column + c) * 3 + channel]
    const above = at(0, 0) * (1 - left + column) + at(0, 1) * (left - column)
    const below = at(1, 0) * (1 - left + column) + at(1, 1) * (left - column)
    to[offset + channel] = above * (1 - top + row) + below * (top - row)
  }
}

const outline = (indices, move = still) => indices.map((i) => `${move(mesh[i], i).x},${move(mesh[i], i).y}`).join(' ')

/** Lids of skin over both eyes, with lashes along their lower edge. */
function closed(picture) {
  const lids = [0, 7].map((from) => {
    const [upper, lower] = [upperLids.slice(from, from + 7), lowerLids.slice(from, from + 7)]
    const above = mesh[upper[3]]
    const at = (Math.round(above.y - side * 0.018) * side + Math.round(above.x)) * 3
    const skin = `rgb(${image.data[at]},${image.data[at + 1]},${image.data[at + 2]})`
    return `<polygon points="${outline([...upper, ...[...lower].reverse()])}" fill="${skin}" stroke="${skin}" stroke-width="7"/>
      <polyline points="${outline(lower)}" fill="none" stroke="#3a2a22" stroke-width="3.5" stroke-linecap="round"/>`
  })
  return overlaid(picture, lids.join(''), 0.8)
}

/** An open mouth: a lower lip, above it the dark, and teeth below the upper lip. */
const darkMouth = (picture) => {
  const teeth = innerUpper.toReversed().map((i) => `${mesh[i].x},${mesh[i].y + side * 0.012}`)
  return overlaid(
    picture,
    `<polygon points="${outline([innerUpper[0], ...innerLower.toReversed(), innerUpper.at(-1), ...outerLower], openMouth)}" fill="#b5716a"/>
      <polygon points="${outline([...innerUpper, ...innerLower], openMouth)}" fill="#2a0f10"/>
      <polygon points="${outline(innerUpper)} ${teeth.join(' ')}" fill="#e9e2da"/>`,
    1.2,
  )
}

async function overlaid(picture, shapes, softness) {
  const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}">${shapes}</svg>`)
  const layer = await sharp(svg).blur(softness).png().toBuffer()
  return sharp(await picture.png().toBuffer()).composite([{ input: layer }])
}

/** Face of somebody who does not exist: drawn, not photographed. */
function drawn() {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="480">
  <defs><radialGradient id="s" cx="0.42" cy="0.38" r="0.75"><stop offset="0" stop-color="#9a6748"/><stop offset="0.6" stop-color="#7a4c33"/><stop offset="1" stop-color="#3f2517"/></radialGradient>
  <linearGradient id="n" x1="0" x2="1"><stop offset="0" stop-color="#5d3724" stop-opacity="0"/><stop offset="0.35" stop-color="#a9775a"/><stop offset="1" stop-color="#4f2e1d" stop-opacity="0.9"/></linearGradient></defs>
  <rect width="480" height="480" fill="#b9c0c4"/>
  <path d="M40 480 Q70 385 180 372 L300 372 Q410 385 440 480 Z" fill="#24405e"/>
  <path d="M190 320 L188 392 Q240 425 292 392 L290 320 Z" fill="#5f3a27"/>
  <ellipse cx="240" cy="222" rx="104" ry="140" fill="url(#s)"/>
  <ellipse cx="136" cy="236" rx="13" ry="32" fill="#6d432d"/><ellipse cx="344" cy="236" rx="13" ry="32" fill="#452919"/>
  <path d="M132 205 Q128 78 240 72 Q352 78 348 205 Q338 130 290 118 Q240 108 190 118 Q142 130 132 205 Z" fill="#15100e"/>
  <path d="M164 186 Q192 170 222 184" stroke="#17100c" stroke-width="9" fill="none" stroke-linecap="round"/>
  <path d="M258 184 Q288 170 316 186" stroke="#17100c" stroke-width="9" fill="none" stroke-linecap="round"/>
  <ellipse cx="194" cy="212" rx="32" ry="19" fill="#4a2c1e" opacity="0.55"/><ellipse cx="286" cy="212" rx="32" ry="19" fill="#3c2216" opacity="0.6"/>
  <path d="M168 214 Q194 194 220 214 Q194 228 168 214 Z" fill="#efe6df"/><path d="M260 214 Q286 194 312 214 Q286 228 260 214 Z" fill="#e6ddd6"/>
  <circle cx="195" cy="211" r="11" fill="#22130c"/><circle cx="287" cy="211" r="11" fill="#22130c"/><circle cx="191" cy="207" r="3" fill="#fff"/><circle cx="283" cy="207" r="3" fill="#fff"/>
  <path d="M166 213 Q194 190 222 214" stroke="#120b08" stroke-width="4" fill="none"/><path d="M258 214 Q286 190 314 213" stroke="#120b08" stroke-width="4" fill="none"/>
  <path d="M228 200 Q222 250 206 268 Q214 286 240 284 Q266 286 274 268 Q258 250 252 200 Z" fill="url(#n)"/>
  <ellipse cx="222" cy="278" rx="9" ry="5" fill="#2c170e"/><ellipse cx="258" cy="278" rx="9" ry="5" fill="#2c170e"/>
  <path d="M188 318 Q216 302 240 309 Q264 302 292 318 Q264 324 240 322 Q216 324 188 318 Z" fill="#6e2f2c"/>
  <path d="M188 318 Q216 324 240 322 Q264 324 292 318 Q270 348 240 347 Q210 348 188 318 Z" fill="#8a4541"/>
  <path d="M188 318 Q240 328 292 318" stroke="#35120f" stroke-width="3" fill="none"/></svg>`
}

const shifted = (angle, gain) => (picture) =>
  picture.rotate(angle, { background: '#777777' }).resize(side, side, { fit: 'cover' }).linear(gain, 4)

const pictures = {
  face_a: await moved(still),
  face_a2: await moved(turn(0.12), shifted(2.5, 0.86)),
  face_b: sharp(await sharp(Buffer.from(drawn())).png().toBuffer()).blur(1.1),
  frame_frontal_1: await moved(still, shifted(0.6, 0.98)),
  frame_frontal_2: await moved(still, shifted(-1.4, 1)),
  frame_frontal_3: await moved(still, shifted(2.2, 0.96)),
  frame_frontal_4: await moved(still, shifted(-2.8, 1.02)),
  frame_turn_left: await moved(turn(-0.5)),
  frame_turn_right: await moved(turn(0.5)),
  frame_nod: await moved(nod(0.4)),
  frame_blink: await moved(still, closed),
  frame_smile: await moved(smile),
  frame_open_mouth: await moved(openMouth, darkMouth),
}
for (const [name, picture] of Object.entries(pictures))
  if (wanted.length === 0 || wanted.includes(name))
    writeFileSync(join(out, `${name}.jpg`), await picture.jpeg({ quality: 84 }).toBuffer())
