// SPDX-License-Identifier: Apache-2.0
// onnxruntime, loaded with the first network. One thread per network: several processes with one thread each have a
// higher throughput than one with several.
import type { InferenceSession, Tensor } from 'onnxruntime-node'

/** Reason that a network cannot be loaded, for the operator. */
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

/** Opens a model from its bytes. */
export async function openSession(name: string, model: Uint8Array): Promise<OpenNetwork> {
  const { InferenceSession, Tensor } = await runtime()
  try {
    const session = await InferenceSession.create(model, {
      executionProviders: ['cpu'],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      graphOptimizationLevel: 'all',
      // The first setting avoids widening weights on every run; the second keeps idle threads from using the decoder's
      // cores.
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

/** Lazy value, computed at first use and again after a failure. */
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
