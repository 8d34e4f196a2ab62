// SPDX-License-Identifier: Apache-2.0
// Layers of the face networks, written into an ONNX graph with their trained weights.
import { EngineProblem } from '../problem.ts'
import type { Graph } from './onnx-model.ts'
import type { Weight, Weights } from './weights.ts'

/** Rows and columns added before and after the picture: top, left, bottom, right. */
export const noPads = [0, 0, 0, 0]
export const evenPads = [1, 1, 1, 1]
/** "Same" of TensorFlow for a 3x3 filter in steps of two over an even side, and for a 2x2 pool over any side. */
export const endPads = [0, 0, 1, 1]

export class Layers {
  readonly #graph: Graph
  readonly #weights: Weights

  constructor(graph: Graph, weights: Weights) {
    this.#graph = graph
    this.#weights = weights
  }

  conv(x: string, name: string, { stride = 1, pads }: { stride?: number; pads: readonly number[] }): string {
    const filter = this.#filter(this.#weight(`${name}/filters`), 'full')
    const bias = this.#vector(this.#weight(`${name}/bias`).values())
    return this.#graph.node('Conv', [x, filter, bias], { strides: [stride, stride], pads })
  }

  /** A filter per channel, then a mix of the channels; the bias comes last. */
  separable(x: string, name: string, stride: 1 | 2): string {
    const depthwise = this.#weight(`${name}/depthwise_filter`)
    const attributes = {
      strides: [stride, stride],
      pads: stride === 2 ? endPads : evenPads,
      group: depthwise.shape[2] ?? 1,
    }
    const filtered = this.#graph.node('Conv', [x, this.#filter(depthwise, 'depthwise')], attributes)
    const pointwise = this.#filter(this.#weight(`${name}/pointwise_filter`), 'full')
    return this.#graph.node('Conv', [filtered, pointwise, this.#vector(this.#weight(`${name}/bias`).values())])
  }

  /** A convolution whose result is scaled and shifted per channel; both are folded into filter and bias. */
  scaledConv(x: string, name: string, stride: number, pads: readonly number[]): string {
    const scales = this.#weight(`${name}/scale/weights`).values()
    const shifts = this.#weight(`${name}/scale/biases`).values()
    const bias = this.#weight(`${name}/conv/bias`).values()
    const folded = bias.map((value, channel) => value * (scales[channel] ?? 1) + (shifts[channel] ?? 0))
    const filter = this.#filter(this.#weight(`${name}/conv/filters`), 'full', scales)
    return this.#graph.node('Conv', [x, filter, this.#vector(folded)], { strides: [stride, stride], pads })
  }

  /** Matrices are always unpacked: packed ones moved landmarks by 0.4 px. Packed filters do no such harm. */
  matMul(x: string, matrix: string, bias?: string): string {
    const weight = this.#weight(matrix)
    const inputs = [x, this.#graph.constant({ shape: weight.shape, data: weight.values() })]
    if (bias) inputs.push(this.#vector(this.#weight(bias).values()))
    return this.#graph.node('Gemm', inputs)
  }

  /** Mean over the picture: a row of channels is left. */
  mean(x: string): string {
    return this.#graph.node('Flatten', [this.#graph.node('GlobalAveragePool', [x])])
  }

  maxPool(x: string, side: number, stride: number, pads: readonly number[]): string {
    return this.#graph.node('MaxPool', [x], { kernel_shape: [side, side], strides: [stride, stride], pads })
  }

  averagePool(x: string, side: number, stride: number): string {
    return this.#graph.node('AveragePool', [x], { kernel_shape: [side, side], strides: [stride, stride] })
  }

  /** Zeros before and after each of the four axes. */
  pad(x: string, pads: readonly number[]): string {
    return this.#graph.node('Pad', [x, this.#graph.integers(...pads)])
  }

  add(x: string, y: string): string {
    return this.#graph.node('Add', [x, y])
  }

  relu(x: string): string {
    return this.#graph.node('Relu', [x])
  }

  leaky(x: string): string {
    return this.#graph.node('LeakyRelu', [x], { alpha: { float: 0.1 } })
  }

  #weight(name: string): Weight {
    const weight = this.#weights.get(name)
    if (!weight) throw new EngineProblem('model_damaged', `The manifest has no ${name}`)
    return weight
  }

  #vector(data: Float32Array): string {
    return this.#graph.constant({ shape: [data.length], data })
  }

  /** Height, width, in, out becomes out, in, height, width; a depthwise filter has its channels third. */
  #filter(weight: Weight, kind: 'full' | 'depthwise', scales?: Float32Array): string {
    const order = kind === 'full' ? [3, 2, 0, 1] : [2, 3, 0, 1]
    const shape = order.map((axis) => weight.shape[axis] ?? 1)
    const packed = zeroPointed(weight)
    if (packed) {
      const bytes = new Uint8Array(packed.bytes.length)
      transposeInto(bytes, packed.bytes, weight.shape, order)
      const perChannel = (scales ?? Float32Array.of(1)).map((value) => value * packed.scale)
      return this.#dequantised(this.#graph.constant({ shape, data: bytes }), packed.zeroPoint, perChannel)
    }
    const data = transpose(weight.values(), weight.shape, order)
    if (scales) scaleChannels(data, scales)
    return this.#graph.constant({ shape, data })
  }

  /** One scale for all, or one per output channel. */
  #dequantised(stored: string, zeroPoint: number, scales: Float32Array): string {
    const shape = scales.length > 1 ? [scales.length] : []
    const scale = this.#graph.constant({ shape, data: scales })
    const zero = this.#graph.constant({ shape, data: new Uint8Array(scales.length).fill(zeroPoint) })
    return this.#graph.node('DequantizeLinear', [stored, scale, zero], { axis: 0 })
  }
}

/** Packed weights whose zero is a byte, as DequantizeLinear wants it; true of every filter whose values straddle zero. */
function zeroPointed({ packed }: Weight): { bytes: Uint8Array; scale: number; zeroPoint: number } | null {
  if (!packed) return null
  const zeroPoint = -packed.min / packed.scale
  const rounded = Math.round(zeroPoint)
  if (rounded < 0 || rounded > 255 || Math.abs(rounded - zeroPoint) > 1e-3) return null
  return { bytes: packed.bytes, scale: packed.scale, zeroPoint: rounded }
}

/** Multiplies each slice of the first axis. */
function scaleChannels(data: Float32Array, scales: Float32Array): void {
  const size = data.length / scales.length
  for (let i = 0; i < data.length; i++) data[i] = (data[i] ?? 0) * (scales[Math.floor(i / size)] ?? 1)
}

/** Reorders the axes of a four-dimensional array; axis i of the result is axis order[i] of the source. */
export function transpose(data: Float32Array, shape: readonly number[], order: readonly number[]): Float32Array {
  const out = new Float32Array(data.length)
  transposeInto(out, data, shape, order)
  return out
}

function transposeInto<T extends Float32Array | Uint8Array>(
  out: T,
  data: T,
  shape: readonly number[],
  order: readonly number[],
): void {
  const sides = order.map((axis) => shape[axis] ?? 1)
  const stepOf = (axis: number) => sides.slice(order.indexOf(axis) + 1).reduce((product, side) => product * side, 1)
  const [stepA, stepB, stepC, stepD] = [stepOf(0), stepOf(1), stepOf(2), stepOf(3)]
  const [sideA = 1, sideB = 1, sideC = 1, sideD = 1] = shape
  let from = 0
  for (let a = 0; a < sideA; a++)
    for (let b = 0; b < sideB; b++)
      for (let c = 0; c < sideC; c++) {
        let to = a * stepA + b * stepB + c * stepC
        for (let d = 0; d < sideD; d++, to += stepD) out[to] = data[from++] ?? 0
      }
}
