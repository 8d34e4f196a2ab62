// SPDX-License-Identifier: Apache-2.0
// The lease of a job: how long it waits for a node that may have died before another takes it. SQL functions that write
// jobs ask work.lease(), which reads it from the session; without that it has the same default as here.
import { settings } from '../../config.ts'

export const defaultLeaseSeconds = settings.PAMOJA_JOB_LEASE_SECONDS.default

/** Settings of a session under which work.lease() gives so many seconds. */
export function leaseSetting(seconds: number): Readonly<Record<string, string>> {
  // A pooler in front of the database may refuse settings at the start of a session: with the default there are none.
  return seconds === defaultLeaseSeconds ? {} : { 'pamoja.job_lease': `${seconds}s` }
}
