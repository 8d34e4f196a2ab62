// SPDX-License-Identifier: Apache-2.0
// A network that looks at pictures, over the runtime that all engines share.
import { InferenceProblem, openSession } from '../../../../platform/compute/inference.ts'
import { EngineProblem } from '../problem.ts'

/** A network ready to run: one array with its sides in, named arrays out. */
export interface Network {
  run(data: Float32Array, sides: readonly number[]): Promise<Outputs>
}

type Outputs = (name: string) => { readonly data: Float32Array; readonly sides: readonly number[] }

/** Opens a model, given as its bytes. `input` is what the model calls its one input. */
export async function openNetwork(name: string, model: Uint8Array, input: string): Promise<Network> {
  const { session, Tensor } = await openSession(name, model).catch((problem) => {
    if (!(problem instanceof InferenceProblem)) throw problem
    throw new EngineProblem(problem.code, problem.message, { cause: problem })
  })
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
