// SPDX-License-Identifier: Apache-2.0
// onnxruntime, loaded when the first network is opened. One thread for each network: several processes with one thread
// each do more work per second than one process with several.
import type { InferenceSession, Tensor } from 'onnxruntime-node'

/** Why a network cannot be opened: both are the operator's business. */
export class InferenceProblem extends Error {
  readonly code: 'package_missing' | 'model_refused'

  constructor(code: InferenceProblem['code'], message: string, cause: unknown) {
    super(message, { cause })
    this.code = code
  }
}

export interface OpenNetwork {
  readonly session: InferenceSession
  readonly Tensor: typeof Tensor
}

/** Opens a model, given as its bytes. */
export async function openSession(name: string, model: Uint8Array): Promise<OpenNetwork> {
  const { InferenceSession, Tensor } = await runtime()
  try {
    const session = await InferenceSession.create(model, {
      executionProviders: ['cpu'],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      graphOptimizationLevel: 'all',
      // Without the first, weights are widened at every run; without the second, idle threads take the decoder's cores.
      extra: { session: { disable_quant_qdq: '1', intra_op: { allow_spinning: '0' } } },
    })
    return { session, Tensor }
  } catch (cause) {
    throw new InferenceProblem('model_refused', `onnxruntime refused the model ${name}`, cause)
  }
}

async function runtime() {
  try {
    return await import('onnxruntime-node')
  } catch (cause) {
    const message =
      'The package onnxruntime-node is not installed. Run: ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node'
    throw new InferenceProblem('package_missing', message, cause)
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
