// SPDX-License-Identifier: Apache-2.0
// A real server of the S3 protocol, which checks signatures, on a free port of this machine.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'

export interface ObjectStore {
  /** Settings that lead an installation to it. */
  settings: {
    PAMOJA_FILES: string
    PAMOJA_S3_ENDPOINT: string
    PAMOJA_S3_ACCESS_KEY: string
    PAMOJA_S3_SECRET_KEY: string
  }
  directory: string
  stop(): Promise<void>
}

export async function startObjectStore(): Promise<ObjectStore> {
  const directory = await mkdtemp(join(tmpdir(), 'pamoja-s3-'))
  const bucket = 'customer-files'
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket }],
  })
  const { port } = await server.run()
  return {
    settings: {
      PAMOJA_FILES: `s3://${bucket}/one-installation`,
      PAMOJA_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      PAMOJA_S3_ACCESS_KEY: 'S3RVER',
      PAMOJA_S3_SECRET_KEY: 'S3RVER',
    },
    directory,
    async stop() {
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
