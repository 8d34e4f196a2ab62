// SPDX-License-Identifier: Apache-2.0
// Worker thread that draws reports as PDF.
import { serveDrawings } from '../../../platform/paper/drawing-worker.ts'
import { drawReport } from './paper.ts'

serveDrawings(drawReport)
