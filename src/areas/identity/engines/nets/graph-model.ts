// SPDX-License-Identifier: Apache-2.0
// Converter of the face mesh from a TensorFlow.js graph model to ONNX. It supports the eleven operations of the mesh;
// any other throws by name. Images are channels first.
import { type Static, Type } from 'typebox'
import Value from 'typebox/value'
import { EngineProblem } from '../problem.ts'
import { transpose } from './layers.ts'
import { type Attribute, Graph } from './onnx-model.ts'
import { parseGroups, parseJson, readPart, unpackGroups, type Weight, type Weights } from './weights.ts'

const Words = Type.Object({ list: Type.Object({ s: Type.Optional(Type.Array(Type.String())) }) })
const Integers = Type.Object({ list: Type.Object({ i: Type.Optional(Type.Array(Type.String())) }) })

const Node = Type.Object({
  name: Type.String(),
  op: Type.String(),
  input: Type.Optional(Type.Array(Type.String())),
  attr: Type.Optional(
    Type.Object({
      fused_ops: Type.Optional(Words),
      strides: Type.Optional(Integers),
      ksize: Type.Optional(Integers),
      padding: Type.Optional(Type.Object({ s: Type.String() })),
    }),
  ),
})
type Node = Static<typeof Node>

const GraphModel = Type.Object({
  modelTopology: Type.Object({ node: Type.Array(Node) }),
  weightsManifest: Type.Array(Type.Unknown()),
})

/** The model with one input of these sides and the named outputs, each of two axes. */
export async function convertGraphModel(
  file: string,
  sha256: string,
  inputSides: readonly number[],
  outputs: readonly string[],
): Promise<Uint8Array> {
  const text = await readPart(file)
  const model = parseJson(text, file)
  if (!Value.Check(GraphModel, model)) throw new EngineProblem('model_damaged', `${file} is not a graph model`)
  const weights = await unpackGroups(parseGroups(model.weightsManifest, file), file, text, sha256)
  const conversion = new Conversion(model.modelTopology.node, weights, inputSides)
  for (const output of outputs) conversion.output(output)
  return conversion.graph.toBytes()
}

class Conversion {
  readonly graph = new Graph('graph-model')
  readonly inputSides: readonly number[]
  readonly #nodes: ReadonlyMap<string, Node>
  readonly #weights: Weights
  readonly #done = new Map<string, string>()

  constructor(nodes: readonly Node[], weights: Weights, inputSides: readonly number[]) {
    this.#nodes = new Map(nodes.map((node) => [node.name, node]))
    this.#weights = weights
    this.inputSides = inputSides
  }

  output(name: string): void {
    this.graph.output(name, this.value(name), ['rows', 'columns'])
  }

  /** Value of a node; its inputs are converted first. */
  value(reference: string): string {
    const name = plain(reference)
    const done = this.#done.get(name)
    if (done) return done
    const node = this.#nodes.get(name)
    if (!node) throw new EngineProblem('model_damaged', `The graph uses ${name} but does not have it`)
    const operation = operations[node.op]
    if (!operation) throw new EngineProblem('model_refused', `${name} is a ${node.op}, which cannot be converted`)
    const value = operation(this, node)
    this.#done.set(name, value)
    return value
  }

  weight(reference: string): Weight {
    const weight = this.#weights.get(plain(reference))
    if (!weight) throw new EngineProblem('model_refused', `${plain(reference)} should be a trained array`)
    return weight
  }

  /** Height, width, in, out to out, in, height, width; depthwise filters keep one input channel each. */
  filter(reference: string, order: readonly number[]): string {
    const weight = this.weight(reference)
    const shape = order.map((axis) => weight.shape[axis] ?? 1)
    return this.graph.constant({ shape, data: transpose(weight.values(), weight.shape, order) })
  }

  vector(reference: string): string {
    const data = this.weight(reference).values()
    return this.graph.constant({ shape: [data.length], data })
  }

  /** One number per channel, shaped to meet a picture. */
  perChannel(reference: string): string {
    const data = this.weight(reference).values()
    return this.graph.constant({ shape: [data.length, 1, 1], data })
  }
}

const fullFilter = [3, 2, 0, 1]
const depthwiseFilter = [2, 3, 0, 1]

const operations: Readonly<Record<string, (to: Conversion, node: Node) => string>> = {
  Placeholder: (to) => to.graph.input('input', to.inputSides),
  _FusedConv2D(to, node) {
    const operands = [to.value(input(node, 0)), to.filter(input(node, 1), fullFilter), to.vector(input(node, 2))]
    const result = to.graph.node('Conv', operands, window(node))
    const [bias, activation] = (node.attr?.fused_ops?.list.s ?? []).map(decoded)
    if (bias !== 'BiasAdd' || (activation !== undefined && activation !== 'Prelu'))
      throw new EngineProblem('model_refused', `${node.name}: ${bias} and ${activation} cannot be converted`)
    return activation ? to.graph.node('PRelu', [result, to.perChannel(input(node, 3))]) : result
  },
  DepthwiseConv2dNative(to, node) {
    const filter = input(node, 1)
    const attributes = { ...window(node), group: to.weight(filter).shape[2] ?? 1 }
    return to.graph.node('Conv', [to.value(input(node, 0)), to.filter(filter, depthwiseFilter)], attributes)
  },
  MaxPool(to, node) {
    const [, height = 1, width = 1] = integers(node.attr?.ksize)
    return to.graph.node('MaxPool', [to.value(input(node, 0))], { ...window(node), kernel_shape: [height, width] })
  },
  Pad(to, node) {
    const pairs = to.weight(input(node, 1)).values()
    const axes = [0, 3, 1, 2]
    const pads = [...axes.map((axis) => pairs[2 * axis] ?? 0), ...axes.map((axis) => pairs[2 * axis + 1] ?? 0)]
    return to.graph.node('Pad', [to.value(input(node, 0)), to.graph.integers(...pads)])
  },
  Prelu: (to, node) => to.graph.node('PRelu', [to.value(input(node, 0)), to.perChannel(input(node, 1))]),
  // What is added is another picture, or one number for each channel.
  AddV2: (to, node) => to.graph.node('Add', [to.value(input(node, 0)), to.value(input(node, 1))]),
  Const: (to, node) => to.perChannel(node.name),
  Sigmoid: (to, node) => to.graph.node('Sigmoid', [to.value(input(node, 0))]),
  Identity: (to, node) => to.value(input(node, 0)),
  Reshape(to, node) {
    const upright = to.graph.node('Transpose', [to.value(input(node, 0))], { perm: [0, 2, 3, 1] })
    const sides = [...to.weight(input(node, 1)).values()].map((side, axis) => (axis === 0 ? 1 : side))
    return to.graph.node('Reshape', [upright, to.graph.integers(...sides)])
  },
}

/** Strides and padding; TensorFlow's "same" puts the odd pixel at the end. */
function window(node: Node): Record<string, Attribute> {
  const [, down = 1, right = 1] = integers(node.attr?.strides)
  const isSame = decoded(node.attr?.padding?.s ?? '') === 'SAME'
  return { strides: [down, right], auto_pad: isSame ? 'SAME_UPPER' : 'VALID' }
}

function input(node: Node, index: number): string {
  const reference = node.input?.[index]
  if (reference === undefined) throw new EngineProblem('model_damaged', `${node.name} lacks an input`)
  return reference
}

function integers(attribute: Static<typeof Integers> | undefined): number[] {
  return (attribute?.list.i ?? []).map(Number)
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8')
}

/** `name:0` and `name` are the same value. */
function plain(reference: string): string {
  return reference.replace(/:0$/, '')
}
