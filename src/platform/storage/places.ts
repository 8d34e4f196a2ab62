// SPDX-License-Identifier: Apache-2.0
// Storage places by settings. The directory is always included, so that older files stay readable after switching to an
// object store.
import { join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import type { Clock } from '../clock.ts'
import type { Outbound } from '../outbound.ts'
import { Disk } from './disk.ts'
import type { Place } from './place.ts'
import { S3 } from './s3.ts'

export async function placesOf(config: Config, door: Outbound, clock: Clock): Promise<[Place, ...Place[]]> {
  const home = resolve(config.PAMOJA_HOME)
  const disk = new Disk(join(home, 'files'))
  const {
    PAMOJA_FILES: files,
    PAMOJA_S3_ENDPOINT: endpoint,
    PAMOJA_S3_REGION: region,
    PAMOJA_S3_ACCESS_KEY: accessKey,
    PAMOJA_S3_SECRET_KEY: secretKey,
  } = config
  if (files === null || endpoint === null || accessKey === null || secretKey === null) return [disk]
  const [bucket = '', ...path] = files
    .replace(/^s3:\/\//, '')
    .replace(/\/$/, '')
    .split('/')
  const prefix = path.map((part) => `${part}/`).join('')
  const store = new S3({
    endpoint,
    region,
    accessKey,
    secretKey,
    bucket,
    prefix,
    spool: join(home, 'spool'),
    door,
    clock,
  })
  await store.start()
  return [store, disk]
}
