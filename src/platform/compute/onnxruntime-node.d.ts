// SPDX-License-Identifier: Apache-2.0
// Types of the optional package onnxruntime-node, as far as used, so that the program compiles without it.

declare module 'onnxruntime-node' {
  export interface Value {
    readonly data: unknown
    readonly dims: readonly number[]
  }

  export class Tensor implements Value {
    constructor(type: 'float32', data: Float32Array, dims: number[])
    constructor(type: 'int64', data: BigInt64Array, dims: number[])
    constructor(type: 'bool', data: readonly boolean[], dims: number[])
    readonly data: unknown
    readonly dims: readonly number[]
  }

  /** What goes in; a side of a length that is not known has a name. */
  type Input =
    | { readonly isTensor: false }
    | { readonly isTensor: true; readonly name: string; readonly shape: readonly (number | string)[] }

  export interface InferenceSession {
    readonly inputMetadata: readonly Input[]
    run(feeds: Readonly<Record<string, Value>>): Promise<Readonly<Record<string, Value>>>
    release(): Promise<void>
  }

  interface SessionOptions {
    readonly executionProviders: readonly string[]
    readonly intraOpNumThreads: number
    readonly interOpNumThreads: number
    readonly graphOptimizationLevel: 'all'
    readonly extra: object
  }

  export const InferenceSession: {
    create(model: Uint8Array, options: SessionOptions): Promise<InferenceSession>
  }
}
