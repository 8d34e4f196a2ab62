// SPDX-License-Identifier: Apache-2.0
// Detects a file's type from its bytes; declared types are not trusted. Containers are parsed as far as needed: a
// video's codecs, an office document's program.

/** Random-access file. */
export interface Readable {
  readonly bytes: number
  read(start: number, length: number): Promise<Buffer>
}

export type Found = { type: string } | { problem: string }

const headBytes = 4_096
const maxBoxes = 1_000
const maxMovieBytes = 8 * 1024 * 1024
const maxDirectoryBytes = 2 * 1024 * 1024
const textAtOnce = 256 * 1024

export async function inspect(file: Readable): Promise<Found> {
  const head = await file.read(0, headBytes)
  const harmful = harmfulOf(head)
  if (harmful) return { problem: `is ${harmful}, which is not taken` }
  if (starts(head, 'ffd8ff')) return { type: 'image/jpeg' }
  if (starts(head, '89504e470d0a1a0a')) return { type: 'image/png' }
  if (head.toString('latin1', 4, 8) === 'ftyp') return inspectMovie(file, head)
  if (head.toString('latin1', 0, 5) === '#!AMR') return { type: 'audio/amr' }
  if (head.toString('latin1', 0, 4) === 'OggS')
    return head.includes('OpusHead') ? { type: 'audio/ogg' } : { problem: 'is Ogg without Opus' }
  if (head.toString('latin1', 0, 3) === 'ID3') return { type: 'audio/mpeg' }
  if (head[0] === 0xff && ((head[1] ?? 0) & 0xf6) === 0xf0) return { type: 'audio/aac' }
  if (head[0] === 0xff && ((head[1] ?? 0) & 0xe6) === 0xe2) return { type: 'audio/mpeg' }
  if (head.toString('latin1', 0, 5) === '%PDF-') return { type: 'application/pdf' }
  if (starts(head, 'd0cf11e0a1b11ae1')) return inspectOle(file, head)
  if (starts(head, '504b0304')) return inspectZip(file)
  return (await isText(file)) ? { type: 'text/plain' } : { problem: 'is of no type that is taken' }
}

function starts(head: Buffer, hex: string): boolean {
  return head.toString('hex', 0, hex.length / 2) === hex
}

function harmfulOf(head: Buffer): string | null {
  const text = head.toString('latin1')
  if (text.startsWith('MZ') || starts(head, '7f454c46') || /^(cf|ce)faedfe|^cafebabe/.test(head.toString('hex', 0, 4)))
    return 'a program'
  if (text.startsWith('#!') && !text.startsWith('#!AMR')) return 'a script'
  return /<\s*(!doctype\s+html|html|script|body|svg|iframe)\b/i.test(text) ? 'a web page' : null
}

/** MP4 and 3GPP: video must be H.264 and audio AAC, by the sample tables. */
async function inspectMovie(file: Readable, head: Buffer): Promise<Found> {
  const brand = head.toString('latin1', 8, 12)
  if (brand === 'M4A ') return { problem: 'is MPEG-4 audio: send AAC, MP3, AMR or Ogg Opus' }
  const movie = await movieOf(file)
  if (movie === null) return { problem: 'is a video without its index' }
  const codecs = codecsIn(movie)
  const [video] = codecs.filter(({ kind }) => kind === 'vide')
  if (!video) return { problem: 'is a video without pictures' }
  for (const { kind, codec } of codecs) {
    if (kind === 'vide' && codec !== 'avc1' && codec !== 'avc3') return { problem: `has video in ${codec}, not H.264` }
    if (kind === 'soun' && codec !== 'mp4a') return { problem: `has sound in ${codec}, not AAC` }
  }
  return { type: /^3g[p2]/.test(brand) ? 'video/3gpp' : 'video/mp4' }
}

/** Finds the `moov` box. */
async function movieOf(file: Readable): Promise<Buffer | null> {
  let at = 0
  for (let count = 0; count < maxBoxes && at + 8 <= file.bytes; count++) {
    const header = await file.read(at, 16)
    if (header.length < 8) return null
    const size = sizeOfBox(header, file.bytes - at)
    if (size < 8 || at + size > file.bytes) return null
    if (header.toString('latin1', 4, 8) === 'moov') return size > maxMovieBytes ? null : file.read(at, size)
    at += size
  }
  return null
}

function sizeOfBox(header: Buffer, left: number): number {
  const size = header.readUInt32BE(0)
  if (size === 0) return left
  if (size !== 1) return size
  return header.length < 16 ? 0 : Number(header.readBigUInt64BE(8))
}

interface Codec {
  kind: string
  codec: string
}

function codecsIn(movie: Buffer): Codec[] {
  return boxesIn(movie, 8, movie.length)
    .filter(({ name }) => name === 'trak')
    .flatMap((track) => {
      const media = inside(movie, track, 'mdia')
      const handler = media && inside(movie, media, 'hdlr')
      const information = media && inside(movie, media, 'minf')
      const table = information && inside(movie, information, 'stbl')
      const description = table && inside(movie, table, 'stsd')
      if (!handler || !description || description.end < description.start + 24) return []
      return [
        {
          kind: movie.toString('latin1', handler.start + 16, handler.start + 20),
          codec: movie.toString('latin1', description.start + 20, description.start + 24),
        },
      ]
    })
}

interface Box {
  name: string
  start: number
  end: number
}

function inside(movie: Buffer, { start, end }: Box, name: string): Box | undefined {
  return boxesIn(movie, start + 8, end).find((box) => box.name === name)
}

function boxesIn(movie: Buffer, from: number, to: number): Box[] {
  const boxes: Box[] = []
  for (let at = from; at + 8 <= to && boxes.length < maxBoxes; ) {
    const size = movie.readUInt32BE(at)
    if (size < 8 || at + size > to) break
    boxes.push({ name: movie.toString('latin1', at + 4, at + 8), start: at, end: at + size })
    at += size
  }
  return boxes
}

const olePrograms: readonly [string, string][] = [
  ['WordDocument', 'application/msword'],
  ['Workbook', 'application/vnd.ms-excel'],
  ['Book', 'application/vnd.ms-excel'],
  ['PowerPoint Document', 'application/vnd.ms-powerpoint'],
]

/** OLE office documents: the directory names the stream of the program. */
async function inspectOle(file: Readable, head: Buffer): Promise<Found> {
  const shift = head.length > 80 ? head.readUInt16LE(30) : 0
  if (shift !== 9 && shift !== 12) return { problem: 'is a broken office document' }
  const directory = await file.read((head.readUInt32LE(48) + 1) * 2 ** shift, headBytes)
  const found = olePrograms.find(([name]) => directory.includes(Buffer.from(`${name}\0`, 'utf16le')))
  return found ? { type: found[1] } : { problem: 'is an office file of no kind that is taken' }
}

const office = 'application/vnd.openxmlformats-officedocument'
export const ooxml = {
  'word/document.xml': `${office}.wordprocessingml.document`,
  'xl/workbook.xml': `${office}.spreadsheetml.sheet`,
  'ppt/presentation.xml': `${office}.presentationml.presentation`,
} as const

/** Zipped office documents: the archive directory, at the end, names the main part. */
async function inspectZip(file: Readable): Promise<Found> {
  const tailBytes = Math.min(file.bytes, 65_557)
  const tail = await file.read(file.bytes - tailBytes, tailBytes)
  const end = tail.lastIndexOf(Buffer.from('504b0506', 'hex'))
  if (end < 0 || end + 20 > tail.length) return { problem: 'is a broken archive' }
  const [size, start] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)]
  if (size > maxDirectoryBytes || start + size > file.bytes) return { problem: 'is a broken archive' }
  const names = namesIn(await file.read(start, size))
  const main = Object.entries(ooxml).find(([name]) => names.has(name))
  if (!main || !names.has('[Content_Types].xml')) return { problem: 'is an archive, and no office document' }
  return { type: main[1] }
}

function namesIn(directory: Buffer): Set<string> {
  const names = new Set<string>()
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === 0x02014b50; ) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => directory.readUInt16LE(at + offset))
    names.add(directory.toString('utf8', at + 46, at + 46 + (name ?? 0)))
    at += 46 + (name ?? 0) + (extra ?? 0) + (comment ?? 0)
  }
  return names
}

/** Whether all of it is UTF-8 without NUL. */
async function isText(file: Readable): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for (let at = 0; at < file.bytes; at += textAtOnce) {
      const piece = await file.read(at, textAtOnce)
      if (piece.includes(0)) return false
      decoder.decode(piece, { stream: true })
    }
    decoder.decode()
    return true
  } catch {
    return false
  }
}
