// SPDX-License-Identifier: Apache-2.0
// Settings of the call centre: audio addresses for agents' browsers.
import { text } from '../../config/setting.ts'

export const callcenterSettings = {
  PAMOJA_DESK_HOST: text(
    '',
    "Address that browsers of agents send audio to, where it is not PAMOJA_SIP_HOST; the machine's own behind a NAT.",
  ),
  PAMOJA_DESK_ICE_SERVERS: text(
    '',
    'STUN servers that browsers of agents ask for their own address, with commas: stun:stun.example.com:3478.',
  ),
} as const
