// SPDX-License-Identifier: Apache-2.0
// Settings of identity checks for the installation.
import { integer, optional } from '../../config/setting.ts'

export const identitySettings = {
  PAMOJA_ENGINE_PROCESSES: integer(
    0,
    0,
    64,
    'Processes that look at pictures for identity checks, some 400 MB each when in use; 0 is one less than the processors.',
  ),
  PAMOJA_FACE_MODEL: optional(
    'Face model of your own (ONNX, 112 x 112, input "input", output "output") instead of the bundled one.',
  ),
} as const
