// SPDX-License-Identifier: Apache-2.0
// Settings of texts: the ports at which customers bind with SMPP.
import { host, integer } from '../../config/setting.ts'

export const smsSettings = {
  PAMOJA_ESME_HOST: host('127.0.0.1', 'Address of SMPP for customers.'),
  PAMOJA_ESME_PORT: integer(
    0,
    0,
    65535,
    'Port of SMPP for customers, without TLS; default a free one, in production none.',
  ),
  PAMOJA_ESME_TLS_PORT: integer(
    0,
    0,
    65535,
    'Port of SMPP for customers, with TLS; default a free one, in production none.',
  ),
} as const
