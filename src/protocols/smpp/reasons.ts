// SPDX-License-Identifier: Apache-2.0
// Reasons why a connection failed, in words that an operator can act upon. Pure.
const unknownAuthority = 'its certificate is of no authority that is trusted here'
const notTls = 'the other side does not speak TLS'
const noVersion = 'it speaks no version of TLS that is used here'

const reasons: ReadonlyMap<string, string> = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', unknownAuthority],
  ['SELF_SIGNED_CERT_IN_CHAIN', unknownAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT', unknownAuthority],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', unknownAuthority],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', unknownAuthority],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', notTls],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', notTls],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', noVersion],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', noVersion],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'it wants a certificate of its clients'],
])

/** Reason in our words and in the library's, which may know more. */
export function reasonOf(error: Error): string {
  const known = 'code' in error && typeof error.code === 'string' ? reasons.get(error.code) : undefined
  // The messages of TLS itself name its functions and lines; this is what they are about.
  const said = 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message
  return known === undefined ? said : `${known} (${said})`
}
