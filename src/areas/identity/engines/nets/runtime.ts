// SPDX-License-Identifier: Apache-2.0
// Image network on the shared inference runtime.
import { InferenceProblem, openSession } from '../inference.ts'
import { EngineProblem } from '../problem.ts'

/** A network ready to run: one array with its sides in, named arrays out. */
export interface Network {
  run(data: Float32Array, sides: readonly number[]): Promise<Outputs>
}

type Outputs = (name: string) => { readonly data: Float32Array; readonly sides: readonly number[] }

/** Opens a model from its bytes. `input` is the name of its one input. */
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
