// SPDX-License-Identifier: Apache-2.0
// ONNX writer: just enough of protocol buffers and onnx.proto3 for a graph of named values, constants, inputs and
// outputs. Field numbers are those of onnx.proto3.

const irVersion = 8
const opset = 17

export type Attribute = number | string | readonly number[] | { readonly float: number }
type Dimension = number | string

/** A constant: its element type follows from the array. */
export interface Constant {
  readonly shape: readonly number[]
  readonly data: Float32Array | Uint8Array | BigInt64Array
}

/** A graph under construction. Values are known by name; `node` gives the name of its result. */
export class Graph {
  readonly #name: string
  readonly #nodes: Message[] = []
  readonly #constants: Message[] = []
  readonly #inputs: Message[] = []
  readonly #outputs: Message[] = []
  #count = 0

  constructor(name: string) {
    this.#name = name
  }

  input(name: string, shape: readonly Dimension[]): string {
    this.#inputs.push(valueInfo(name, shape))
    return name
  }

  /** Gives a value its public name. */
  output(name: string, value: string, shape: readonly Dimension[]): void {
    this.#nodes.push(nodeProto('Identity', [value], name, {}))
    this.#outputs.push(valueInfo(name, shape))
  }

  constant(constant: Constant): string {
    const name = this.#fresh('w')
    this.#constants.push(tensorProto(name, constant))
    return name
  }

  scalar(value: number): string {
    return this.constant({ shape: [], data: Float32Array.of(value) })
  }

  integers(...values: number[]): string {
    return this.constant({ shape: [values.length], data: BigInt64Array.from(values, BigInt) })
  }

  /** An absent optional input is the empty string. */
  node(op: string, inputs: readonly string[], attributes: Record<string, Attribute> = {}): string {
    const result = this.#fresh(op)
    this.#nodes.push(nodeProto(op, inputs, result, attributes))
    return result
  }

  toBytes(): Uint8Array {
    const graph = new Message()
    for (const node of this.#nodes) graph.message(1, node)
    graph.text(2, this.#name)
    for (const constant of this.#constants) graph.message(5, constant)
    for (const input of this.#inputs) graph.message(11, input)
    for (const output of this.#outputs) graph.message(12, output)
    const model = new Message().integer(1, irVersion).text(2, 'pamoja').message(7, graph)
    return model.message(8, new Message().text(1, '').integer(2, opset)).toBytes()
  }

  #fresh(stem: string): string {
    this.#count += 1
    return `${stem}_${this.#count}`
  }
}

function nodeProto(op: string, inputs: readonly string[], result: string, attributes: Record<string, Attribute>) {
  const node = new Message()
  for (const input of inputs) node.text(1, input)
  node.text(2, result).text(3, result).text(4, op)
  for (const [name, value] of Object.entries(attributes)) node.message(5, attributeProto(name, value))
  return node
}

const attributeTypes = { float: 1, int: 2, string: 3, ints: 7 } as const

function attributeProto(name: string, value: Attribute): Message {
  const attribute = new Message().text(1, name)
  if (typeof value === 'number') return attribute.integer(3, value).integer(20, attributeTypes.int)
  if (typeof value === 'string') return attribute.text(4, value).integer(20, attributeTypes.string)
  if ('float' in value) return attribute.float(2, value.float).integer(20, attributeTypes.float)
  for (const item of value) attribute.integer(8, item)
  return attribute.integer(20, attributeTypes.ints)
}

const elementTypes = { float32: 1, uint8: 2, int64: 7 } as const

function tensorProto(name: string, { shape, data }: Constant): Message {
  const tensor = new Message()
  for (const side of shape) tensor.integer(1, side)
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return tensor.integer(2, elementTypeOf(data)).text(8, name).bytes(9, raw)
}

function elementTypeOf(data: Constant['data']): number {
  if (data instanceof Float32Array) return elementTypes.float32
  return data instanceof Uint8Array ? elementTypes.uint8 : elementTypes.int64
}

function valueInfo(name: string, shape: readonly Dimension[]): Message {
  const dimensions = new Message()
  for (const side of shape)
    dimensions.message(1, typeof side === 'number' ? new Message().integer(1, side) : new Message().text(2, side))
  const tensorType = new Message().integer(1, elementTypes.float32).message(2, dimensions)
  return new Message().text(1, name).message(2, new Message().message(1, tensorType))
}

/** A protocol-buffer message: a list of byte runs, joined once at the end so that large weights are copied once. */
class Message {
  readonly #runs: Uint8Array[] = []
  #length = 0

  integer(field: number, value: number): this {
    return this.#tag(field, 0).#varint(value)
  }

  float(field: number, value: number): this {
    const run = new Uint8Array(4)
    new DataView(run.buffer).setFloat32(0, value, true)
    return this.#tag(field, 5).#append(run)
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value, 'utf8'))
  }

  bytes(field: number, value: Uint8Array): this {
    return this.#tag(field, 2).#varint(value.length).#append(value)
  }

  message(field: number, value: Message): this {
    this.#tag(field, 2).#varint(value.#length)
    for (const run of value.#runs) this.#append(run)
    return this
  }

  toBytes(): Uint8Array {
    return Buffer.concat(this.#runs, this.#length)
  }

  #tag(field: number, wireType: number): this {
    return this.#varint(field * 8 + wireType)
  }

  #varint(value: number): this {
    const run: number[] = []
    let rest = BigInt.asUintN(64, BigInt(value))
    while (rest > 127n) {
      run.push(Number(rest & 127n) | 128)
      rest >>= 7n
    }
    run.push(Number(rest))
    return this.#append(Uint8Array.from(run))
  }

  #append(run: Uint8Array): this {
    this.#runs.push(run)
    this.#length += run.length
    return this
  }
}
