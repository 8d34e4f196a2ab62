// SPDX-License-Identifier: Apache-2.0
// The runtime that all engines of the program share, for the rooms of this one.
export { InferenceProblem, lazily, openSession } from '../../../platform/compute/inference.ts'
