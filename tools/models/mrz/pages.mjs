// SPDX-License-Identifier: Apache-2.0
// Independent test pages: SVG text (librsvg, OCR-B from the system) composed with sharp; real JPEG. Nothing here is shared with the training generator.
import fs from 'node:fs'
import sharp from 'sharp'

const out = process.argv[2] ?? 'pages',
  N = +(process.argv[3] ?? 240)
let seed = +(process.argv[4] ?? 20261)
fs.mkdirSync(out, { recursive: true })
const rnd = () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}
const U = (a, b) => a + (b - a) * rnd(),
  I = (a, b) => Math.floor(U(a, b + 1)),
  pick = (a) => a[I(0, a.length - 1)]
const val = (c) => (c === '<' ? 0 : c <= '9' ? +c : c.charCodeAt(0) - 55)
const cd = (s) => String([...s].reduce((t, c, i) => t + val(c) * [7, 3, 1][i % 3], 0) % 10)
const L = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  D = '0123456789'
const str = (al, n) => Array.from({ length: n }, () => pick([...al])).join('')
const SN = [
  'NDLOVU',
  'OKORO',
  'ABEBE',
  'TOURE',
  'MWANGI',
  'BANDA',
  'CHUKWU',
  'HASSAN',
  'BOTHA',
  'NAIDOO',
  'SOW',
  'BA',
  'MOYO',
  'ZULU',
  'QUARSHIE',
  'FERREIRA',
  'JANSEN VAN VUUREN',
  'EL MANSOURI',
  'RAKOTOMALALA',
  'KABILA',
  'WOLDEMARIAM',
  'OBI',
  'YEO',
  'XABA',
]
const GN = [
  'GRACE',
  'JOSEPH',
  'AMINA',
  'PIERRE',
  'LULAMA',
  'KEBEDE',
  'FATOU',
  'SAMUEL',
  'ZANELE',
  'IBRAHIMA',
  'MERCY',
  'YUSUF',
  'QUEEN',
  'OBIAGELI',
  'VICTOR',
  'JOY',
  'HABIBA',
  'WALTER',
  'XOLANI',
]
const CC = [
  'ZAF',
  'NGA',
  'KEN',
  'GHA',
  'SEN',
  'CIV',
  'EGY',
  'MAR',
  'TUN',
  'ETH',
  'TZA',
  'UGA',
  'RWA',
  'ZMB',
  'ZWE',
  'BWA',
  'NAM',
  'MOZ',
  'AGO',
  'CMR',
  'COD',
  'GAB',
  'MLI',
  'BFA',
  'NER',
  'DZA',
  'MUS',
  'MDG',
  'FRA',
  'GBR',
  'D<<',
  'USA',
  'CHN',
  'IND',
  'BRA',
  'NLD',
]
const name = (n) => {
  let s = `${pick(SN).replaceAll(' ', '<')}<<${Array.from({ length: I(1, 3) }, () => pick(GN)).join('<')}`
  if (rnd() < 0.1) s = `${str(L, I(8, 20))}<<${str(L, I(5, 20))}`
  return s.slice(0, n).padEnd(n, '<')
}
const dt = () =>
  String(I(0, 99)).padStart(2, '0') + String(I(1, 12)).padStart(2, '0') + String(I(1, 28)).padStart(2, '0')
function doc() {
  const f = pick(['TD3', 'TD3', 'TD3', 'TD1', 'TD1', 'TD2', 'MRVA']),
    c = pick(CC),
    no = pick([
      () => str(L, 1) + str(D, 8),
      () => str(L, 2) + str(D, 7),
      () => str(D, 9),
      () => str(L + D, 9),
      () => `${str(L, 1) + str(D, 7)}<`,
    ])()
  const b = dt(),
    e = dt(),
    sx = pick(['M', 'F', 'M', 'F', '<'])
  if (f === 'TD3') {
    const o = rnd() < 0.5 ? '<'.repeat(14) : str(D, I(6, 13)).padEnd(14, '<')
    const l = no + cd(no) + c + b + cd(b) + sx + e + cd(e) + o + (o[0] === '<' ? pick(['<', '0']) : cd(o))
    return {
      f,
      lines: [
        `P${pick(['<', '<', 'N', 'D'])}${c}${name(39)}`,
        l + cd(l.slice(0, 10) + l.slice(13, 20) + l.slice(21, 43)),
      ],
    }
  }
  if (f === 'TD2') {
    const o = rnd() < 0.5 ? '<'.repeat(7) : str(L + D, 7)
    const l = no + cd(no) + c + b + cd(b) + sx + e + cd(e) + o
    return { f, lines: [`I<${c}${name(31)}`, l + cd(l.slice(0, 10) + l.slice(13, 20) + l.slice(21, 35))] }
  }
  if (f === 'MRVA') {
    return {
      f,
      lines: [
        `V<${c}${name(39)}`,
        no + cd(no) + c + b + cd(b) + sx + e + cd(e) + (rnd() < 0.5 ? str(L + D, 16) : '<'.repeat(16)),
      ],
    }
  }
  const o1 = rnd() < 0.5 ? '<'.repeat(15) : str(D, I(5, 13)).padEnd(15, '<'),
    a = pick(['I<', 'ID', 'C<']) + c + no + cd(no) + o1,
    m = b + cd(b) + sx + e + cd(e) + c + (rnd() < 0.6 ? '<'.repeat(11) : str(L + D, 11))
  return { f, lines: [a, m + cd(a.slice(5, 30) + m.slice(0, 7) + m.slice(8, 15) + m.slice(18, 29)), name(30)] }
}
const esc = (s) => s.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const truth = []
const ALTER = process.env.ALTER === '1'
for (let i = 0; i < N; i++) {
  const d = doc()
  if (ALTER) {
    const k = d.f === 'TD1' ? 0 : 1,
      o = d.f === 'TD1' ? 5 : 0
    const js = [...Array(9).keys()]
      .map((j) => j + o)
      .concat(d.f === 'TD1' ? [] : [13, 14, 15, 16, 17, 18])
      .filter((j) => D.includes(d.lines[k][j]))
    const j = js.length ? pick(js) : o + 9
    d.lines[k] = d.lines[k].slice(0, j) + ((+d.lines[k][j] + I(1, 9)) % 10) + d.lines[k].slice(j + 1)
  }
  const n = d.lines[0].length,
    mm = { 44: 125, 36: 105, 30: 85.6 }[n],
    hmm = { 44: 88, 36: 74, 30: 54 }[n]
  const W = I(1100, 2000),
    px = W / mm,
    H = Math.round(hmm * px),
    pitch = 2.54 * px * U(0.97, 1.02),
    size = (pitch / 0.7232) * U(0.97, 1.02)
  const x0 = ((W - pitch * n) / 2) * U(0.7, 1.3),
    gap = U(5.2, 6.4) * px,
    yb = H - U(4, 7) * px
  const ink = Math.round(U(10, 70)),
    hue = I(0, 359)
  let g = ''
  for (let k = 0; k < I(6, 30); k++) {
    const a = U(0, H),
      am = U(5, 60),
      fr = U(1, 6)
    let p = `M0 ${a}`
    for (let x = 0; x <= W; x += 25) p += ` L${x} ${(a + am * Math.sin((x / W) * 6.28 * fr)).toFixed(1)}`
    g += `<path d="${p}" fill="none" stroke="hsl(${hue + I(-40, 40)},${I(20, 60)}%,${I(60, 85)}%)" stroke-width="${U(0.6, 3).toFixed(1)}"/>`
  }
  let t = ''
  for (const [k, w] of [
    ['PASSPORT / PASSEPORT', 0.05],
    ['Surname / Nom', 0.42],
    [d.lines[n === 30 ? 2 : 0].slice(n === 30 ? 0 : 5).split('<')[0], 0.42],
    ['Date of birth 12 MAR 1988', 0.42],
    ['Authority: HOME AFFAIRS', 0.42],
    [`REPUBLIC OF ${str(L, 7)}`, 0.2],
  ])
    t += `<text x="${W * w}" y="${U(0.08, 0.6) * H}" font-family="${pick(['Liberation Sans', 'DejaVu Serif', 'Noto Sans'])}" font-size="${U(1.8, 4) * px}" fill="rgb(30,30,40)">${esc(k)}</text>`
  const weight = U(0, 0.35) * px * 0.2
  const mrz = d.lines
    .map((l, j) =>
      [...l]
        .map(
          (c, k) =>
            `<text x="${(x0 + k * pitch + U(-0.01, 0.01) * pitch).toFixed(2)}" y="${(yb - (d.lines.length - 1 - j) * gap).toFixed(2)}">${esc(c)}</text>`,
        )
        .join(''),
    )
    .join('')
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${W}" height="${H}"><rect width="100%" height="100%" fill="hsl(${hue},${I(5, 35)}%,${I(80, 96)}%)"/>${g}<radialGradient id="p"><stop offset="0" stop-color="#a87"/><stop offset="1" stop-color="#334"/></radialGradient><rect x="${W * 0.04}" y="${H * 0.14}" width="${W * 0.3}" height="${H * 0.46}" fill="url(#p)"/>${t}<g font-family="OCR B" font-size="${size.toFixed(2)}" fill="rgb(${ink},${ink},${ink})" stroke="rgb(${ink},${ink},${ink})" stroke-width="${weight.toFixed(2)}">${mrz}</g></svg>`
  // level: 0 easy .. 3 hard
  const lev = i % 4,
    rot = U(-1, 1) * [1, 2.5, 4, 4][lev]
  const tex = await sharp({
    create: {
      width: 300,
      height: 220,
      channels: 3,
      noise: { type: 'gaussian', mean: I(40, 190), sigma: I(4, 40) },
      background: '#888',
    },
  })
    .blur(U(0.6, 3))
    .png()
    .toBuffer()
  const docImg = await sharp(Buffer.from(svg))
    .rotate(rot, { background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .png()
    .toBuffer()
  const m = await sharp(docImg).metadata(),
    CW = Math.round(m.width * U(1.0, 1.15)),
    CH = Math.round(m.height * U(1.0, 1.25))
  const layers = [{ input: docImg, left: I(0, CW - m.width), top: I(0, CH - m.height) }]
  if (rnd() < 0.15 * lev + 0.1) {
    const gx = U(0, 1) * CW,
      gy = U(0.6, 1) * CH,
      r = U(0.04, 0.14) * CW
    layers.push({
      input: Buffer.from(
        `<svg xmlns="http://www.w3.org/2000/svg" width="${CW}" height="${CH}"><radialGradient id="g" gradientUnits="userSpaceOnUse" cx="${gx}" cy="${gy}" r="${r}"><stop offset="0" stop-color="#fff" stop-opacity="${U(0.3, 0.75)}"/><stop offset="1" stop-color="#fff" stop-opacity="0"/></radialGradient><rect width="100%" height="100%" fill="url(#g)"/></svg>`,
      ),
      left: 0,
      top: 0,
    })
  }
  if (rnd() < 0.2 * lev)
    layers.push({
      input: Buffer.from(
        `<svg xmlns="http://www.w3.org/2000/svg" width="${CW}" height="${CH}"><linearGradient id="g" x1="${U(0, 0.5)}" x2="${U(0.5, 1)}" y2="${U(0, 1)}"><stop offset="0" stop-color="#000" stop-opacity="0"/><stop offset="1" stop-color="#000" stop-opacity="${U(0.2, 0.65)}"/></linearGradient><rect width="100%" height="100%" fill="url(#g)"/></svg>`,
      ),
      left: 0,
      top: 0,
    })
  let img = await sharp(tex).resize(CW, CH, { fit: 'fill' }).composite(layers).removeAlpha().png().toBuffer()
  const target = [I(1300, 1800), I(1000, 1400), I(800, 1100), 760][lev]
  let s = sharp(img)
  const sg = [U(0, 0.6), U(0, 1.2), U(0.3, 1.8), U(0.3, 1.5)][lev] * (CW / target > 1 ? (CW / target) * 0.8 : 1)
  if (sg > 0.31) s = s.blur(sg)
  img = await s.resize(target).toBuffer()
  s = sharp(img)
  const gain = [U(0.85, 1.1), U(0.6, 1.1), U(0.4, 1.0), U(0.3, 0.9)][lev]
  s = s.linear(gain, U(-5, 5))
  if (rnd() < 0.5) {
    const mm2 = await sharp(img).metadata()
    const nz = await sharp({
      create: {
        width: mm2.width,
        height: mm2.height,
        channels: 3,
        noise: { type: 'gaussian', mean: 128, sigma: [3, 6, 10, 10][lev] },
        background: '#888',
      },
    })
      .png()
      .toBuffer()
    s = sharp(await s.png().toBuffer()).composite([{ input: nz, blend: 'soft-light' }])
  }
  const q = [I(70, 80), I(60, 80), I(45, 70), I(40, 60)][lev]
  const file = `p${String(i).padStart(3, '0')}.jpg`
  await s.jpeg({ quality: q, chromaSubsampling: '4:2:0' }).toFile(`${out}/${file}`)
  truth.push({
    file,
    format: d.f,
    level: lev,
    rot: +rot.toFixed(2),
    width: target,
    quality: q,
    gain: +gain.toFixed(2),
    blur: +sg.toFixed(2),
    lines: d.lines,
  })
}
fs.writeFileSync(`${out}/truth.json`, JSON.stringify(truth, null, 1))
