// SPDX-License-Identifier: Apache-2.0
// onnxruntime, loaded when the first network is opened. One thread for each network: several processes with one thread
// each do more work per second than one process with several.
import type { InferenceSession } from 'onnxruntime-node'
import { EngineProblem } from '../problem.ts'

/** A network ready to run: one array with its sides in, named arrays out. */
export interface Network {
  run(data: Float32Array, sides: readonly number[]): Promise<Outputs>
}

type Outputs = (name: string) => { readonly data: Float32Array; readonly sides: readonly number[] }

/** Opens a model, given as its bytes. `input` is what the model calls its one input. */
export async function openNetwork(name: string, model: Uint8Array, input: string): Promise<Network> {
  const { InferenceSession, Tensor } = await runtime()
  const session = await create(InferenceSession, name, model)
  return {
    async run(data, sides) {
      const found = await session.run({ [input]: new Tensor('float32', data, [...sides]) })
      return (output) => {
        const tensor = found[output]
        if (tensor?.data instanceof Float32Array) return { data: tensor.data, sides: tensor.dims }
        throw new EngineProblem('model_refused', `${name} has no output ${output} of numbers`)
      }
    },
  }
}

async function create(sessions: typeof InferenceSession, name: string, model: Uint8Array): Promise<InferenceSession> {
  try {
    return await sessions.create(model, {
      executionProviders: ['cpu'],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      graphOptimizationLevel: 'all',
      // Without the first, weights are widened at every run; without the second, idle threads take the decoder's cores.
      extra: { session: { disable_quant_qdq: '1', intra_op: { allow_spinning: '0' } } },
    })
  } catch (cause) {
    throw new EngineProblem('model_refused', `onnxruntime refused the model ${name}`, { cause })
  }
}

async function runtime() {
  try {
    return await import('onnxruntime-node')
  } catch (cause) {
    throw new EngineProblem(
      'package_missing',
      'The package onnxruntime-node is not installed. Run: ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node',
      { cause },
    )
  }
}

/** A value that is made when it is first asked for, and made again after a failure. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make().catch((problem) => {
      made = null
      throw problem
    })
    return made
  }
}
