// SPDX-License-Identifier: Apache-2.0
// Lease of a job: how long it belongs to a node, dead or alive, before another claims it. SQL functions call
// work.lease(), which reads the session setting; the default is the same as here.
import { settings } from '../../config.ts'

export const defaultLeaseSeconds = settings.PAMOJA_JOB_LEASE_SECONDS.default

/** Session settings for work.lease(). */
export function leaseSetting(seconds: number): Readonly<Record<string, string>> {
  // The default is that of work.lease() and needs no setting.
  return seconds === defaultLeaseSeconds ? {} : { 'pamoja.job_lease': `${seconds}s` }
}
