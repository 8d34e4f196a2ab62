// SPDX-License-Identifier: Apache-2.0
// Inference runtime shared by all engines.
export { InferenceProblem, lazily, openSession } from '../../../platform/compute/inference.ts'
