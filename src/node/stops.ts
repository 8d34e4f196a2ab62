// SPDX-License-Identifier: Apache-2.0
// Shutdown of a node: every part that starts adds its stop, and the stops run in reverse order.
import type { Logger } from '../platform/telemetry/log.ts'

export type Stops = (() => Promise<void> | void)[]

/** Stops everything, the last started first. One failure does not keep the rest from stopping. */
export async function stopAll(stops: Stops, log: Logger): Promise<void> {
  for (const stop of stops.splice(0).reverse())
    await Promise.resolve(stop()).catch((error) =>
      log.warn(
        { error },
        'a part of the node did not stop cleanly: leases it held run out by themselves; nothing to do',
      ),
    )
  log.flush()
}
