// SPDX-License-Identifier: Apache-2.0
// Settings of telephony: SIP and audio addresses, call limits, blocked destinations.
import { choice, host, integer, text } from '../../config/setting.ts'

export const voiceSettings = {
  PAMOJA_SIP_HOST: host('127.0.0.1', 'Address that SIP and audio (RTP) arrive at; trunks must be able to reach it.'),
  PAMOJA_SIP_PORT: integer(5060, 0, 65535, 'Port of SIP over UDP and TCP.'),
  PAMOJA_SIP_TLS_PORT: integer(5061, 0, 65535, 'Port of SIP over TLS.'),
  PAMOJA_SIP_CA_FILE: text(
    '',
    'Certificates (PEM) that trunks over TLS are checked against, beside the well-known ones.',
  ),
  PAMOJA_RTP_PORTS: text('', 'Lowest and highest UDP port of audio, such as 20000-29999; empty takes any free ones.'),
  PAMOJA_VOICE_CALLS_PER_ACCOUNT: integer(200, 1, 100_000, 'Calls of one account that may be under way at once.'),
  PAMOJA_VOICE_MEDIA_TIMEOUT_SECONDS: integer(
    30,
    2,
    3_600,
    'Seconds without audio from a phone after which its call is ended.',
  ),
  PAMOJA_VOICE_LATENESS_MS: integer(
    60,
    5,
    60_000,
    'Lateness of audio, in milliseconds at one tick in a hundred, above which a node takes no more calls.',
  ),
  PAMOJA_VOICE_BLOCKED_PREFIXES: text(
    '+881,+882,+883,+888,+979,+1900',
    'Numbers that nobody may call, by their first digits, with commas: satellites and premium rates.',
  ),
  PAMOJA_VOICE_ENGINE_PROCESSES: integer(
    0,
    0,
    64,
    'Processes that recognise speech and read files of sound; 0 takes one for each core but one.',
  ),
  PAMOJA_VOICE_MP3: choice(
    ['on', 'off'],
    'off refuses recordings as MP3, which the optional package wasm-media-encoders makes (LAME, under the LGPL).',
  ),
  PAMOJA_SPEECH_PROGRAM: text('espeak-ng', 'Program that speaks, called as espeak-ng is; a package of its own.'),
} as const
