// SPDX-License-Identifier: Apache-2.0
// Settings of telephony: SIP and audio addresses, call limits, blocked destinations.
import { choice, formed, host, integer, text } from '../../config/setting.ts'

export const voiceSettings = {
  PAMOJA_SIP_HOST: host('127.0.0.1', 'Local address for SIP and audio (RTP), reachable by trunks.'),
  PAMOJA_SIP_PUBLIC_HOST: text(
    '',
    'Public address for SIP and audio, announced to trunks, if it differs from PAMOJA_SIP_HOST, as behind NAT or in a container.',
  ),
  PAMOJA_SIP_PORT: integer(5060, 0, 65535, 'Port of SIP over UDP and TCP.'),
  PAMOJA_SIP_TLS_PORT: integer(5061, 0, 65535, 'Port of SIP over TLS.'),
  PAMOJA_SIP_CA_FILE: text('', 'Additional certificates (PEM) to trust at trunks over TLS.'),
  PAMOJA_RTP_PORTS: text('', 'Lowest and highest UDP port of audio, such as 20000-29999; default: any free ones.'),
  PAMOJA_DESK_HOST: text(
    '',
    'Address for audio from agents’ browsers, if it differs from PAMOJA_SIP_HOST; behind NAT that of the machine.',
  ),
  PAMOJA_DESK_ICE_SERVERS: text(
    '',
    'STUN servers for agents’ browsers, comma-separated, such as stun:stun.example.com:3478.',
  ),
  PAMOJA_VOICE_CALLS_PER_ACCOUNT: integer(200, 1, 100_000, 'Maximum number of concurrent calls per account.'),
  PAMOJA_VOICE_MEDIA_TIMEOUT_SECONDS: integer(
    30,
    2,
    3_600,
    'Seconds without audio from a phone after which its call is ended.',
  ),
  PAMOJA_VOICE_LATENESS_MS: integer(
    0,
    0,
    60_000,
    'Lateness of audio (99th percentile, in milliseconds) above which a node accepts no more calls; 0: 60 in production, 5000 elsewhere.',
  ),
  PAMOJA_VOICE_DRAIN_SECONDS: integer(
    20,
    0,
    3_600,
    'Seconds for which calls continue when a node stops; remaining calls then end with an apology.',
  ),
  PAMOJA_VOICE_BLOCKED_PREFIXES: text(
    '+881,+882,+883,+888,+979,+1900',
    'Prefixes of numbers that cannot be called, comma-separated; default: satellite and premium-rate numbers.',
  ),
  PAMOJA_VOICE_ENGINE_PROCESSES: integer(
    0,
    0,
    64,
    'Number of processes for speech recognition and audio files; 0: one less than the cores.',
  ),
  PAMOJA_VOICE_MP3: choice(
    ['on', 'off'],
    'off disables MP3 recordings, encoded by the optional package wasm-media-encoders (LAME, under the LGPL).',
  ),
  PAMOJA_SPEECH_PROGRAM: text(
    'espeak-ng',
    'Text-to-speech program with the arguments of espeak-ng; without it, the optional package @echogarden/espeak-ng-emscripten is used.',
  ),
  PAMOJA_VOICES: text('', 'Folder of Piper voices, *.onnx with *.onnx.json, listed by file name; read at start.'),
  PAMOJA_RECOGNITION: text(
    '',
    'Folder of speech recognition models, one folder each with a recognition.json that lists its languages; read at start.',
  ),
  PAMOJA_VOICE_DEFAULTS: formed(
    'Default voices of PAMOJA_VOICES by language, comma-separated: sw=sw_CD-lanfrica-medium,en-KE=en_GB-alba-medium.',
    (given) => given.split(',').every((one) => /^[a-z]{2,3}(-[A-Z0-9]{2,4})?=[\w.-]{1,100}$/.test(one.trim())),
    'must be languages with voices, such as sw=sw_CD-lanfrica-medium, with commas between',
  ),
} as const
