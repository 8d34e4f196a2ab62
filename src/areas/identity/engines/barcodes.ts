// SPDX-License-Identifier: Apache-2.0
// Barcode reader for PDF417, QR, Code 128 and Code 39 with zxing-wasm; the WebAssembly comes from the package, nothing is
// downloaded.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encode, type Image } from './image.ts'
import { lazily } from './inference.ts'
import { packageFolder } from './nets/weights.ts'
import { EngineProblem } from './problem.ts'

export interface Barcode {
  readonly format: string
  readonly text: string
  /** Content that is no text, in base64. */
  readonly bytes?: string
}

const maxBarcodes = 4
const maxText = 4_000

const reader = lazily(async () => {
  const file = join(packageFolder('zxing-wasm'), 'dist', 'reader', 'zxing_reader.wasm')
  const { prepareZXingModule, readBarcodes: read } = await import('zxing-wasm/reader').catch((cause) => {
    throw new EngineProblem('package_missing', 'The package zxing-wasm is not installed. Run: npm install zxing-wasm', {
      cause,
    })
  })
  const bytes = await readFile(file)
  await prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(bytes).buffer }, fireImmediately: true })
  return read
})

export async function readBarcodes(image: Image): Promise<Barcode[]> {
  const read = await reader()
  const found = await read(new Uint8Array(await encode(image)), {
    formats: ['PDF417', 'QRCode', 'Code128', 'Code39'],
    maxNumberOfSymbols: maxBarcodes,
    tryHarder: true,
  })
  return found
    .filter(({ isValid }) => isValid)
    .map(({ format, text, contentType, bytes }) => ({
      ...{ format, text: text.slice(0, maxText) },
      ...(contentType === 'Binary' ? { bytes: Buffer.from(bytes.subarray(0, maxText)).toString('base64') } : {}),
    }))
}
