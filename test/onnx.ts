// SPDX-License-Identifier: Apache-2.0
// ONNX models small enough to be written down in a test: the parts of a graph, as protocol buffers.

/** Types of elements. */
export const [float, int64, bool] = [1, 7, 9]

// --- protocol buffers ---

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)])
}

function part(field: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
}

function text(field: number, value: string): Buffer {
  return part(field, Buffer.from(value))
}

// --- parts of a graph ---

export function node(operation: string, inputs: readonly string[], output: string, ...attributes: Buffer[]): Buffer {
  return part(1, ...inputs.map((input) => text(1, input)), text(2, output), text(4, operation), ...attributes)
}

/** Attribute of a node: a whole number, or several. */
export function attribute(name: string, value: number | readonly number[]): Buffer {
  const content =
    typeof value === 'number'
      ? [number(3, value), number(20, 2)]
      : [...value.map((one) => number(8, one)), number(20, 7)]
  return part(5, text(1, name), ...content)
}

export function constant(name: string, type: number, sides: readonly number[], bytes: Buffer): Buffer {
  return part(5, ...sides.map((side) => number(1, side)), number(2, type), text(8, name), part(9, bytes))
}

/** Where a graph is given something; sides of a length that is not known are null. */
export function input(name: string, type: number, ...sides: readonly (number | null)[]): Buffer {
  return part(11, ...port(name, type, sides))
}

export function output(name: string, type: number, ...sides: readonly (number | null)[]): Buffer {
  return part(12, ...port(name, type, sides))
}

function port(name: string, type: number, sides: readonly (number | null)[]): Buffer[] {
  const shape = sides.map((side, i) => part(1, side === null ? text(2, `${name}${i}`) : number(1, side)))
  return [text(1, name), part(2, part(1, number(1, type), part(2, ...shape)))]
}

/** Elements of a constant. */
export function floats(values: Float32Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength)
}

export function longs(...values: readonly number[]): Buffer {
  return Buffer.from(BigInt64Array.from(values, BigInt).buffer)
}

/** A model of a graph; its operations are those of version 13. */
export function model(...graph: readonly Buffer[]): Buffer {
  return Buffer.concat([number(1, 8), part(7, ...graph, text(2, 'graph')), part(8, text(1, ''), number(2, 13))])
}
