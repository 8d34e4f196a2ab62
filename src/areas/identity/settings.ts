// SPDX-License-Identifier: Apache-2.0
// Settings of identity checks for the installation.
import { integer, optional } from '../../config/setting.ts'

export const identitySettings = {
  PAMOJA_ENGINE_PROCESSES: integer(
    0,
    0,
    64,
    'Number of processes for pictures of identity checks, about 400 MB each; 0: one less than the processors.',
  ),
  PAMOJA_FACE_MODEL: optional(
    'Custom face model (ONNX, 112 x 112, input "input", output "output") instead of the bundled one.',
  ),
} as const
