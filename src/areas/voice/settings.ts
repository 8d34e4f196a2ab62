// SPDX-License-Identifier: Apache-2.0
// Settings of telephony: SIP and audio addresses, call limits, blocked destinations.
import { choice, formed, host, integer, text } from '../../config/setting.ts'

export const voiceSettings = {
  PAMOJA_SIP_HOST: host('127.0.0.1', 'Address that SIP and audio (RTP) arrive at; trunks must be able to reach it.'),
  PAMOJA_SIP_PUBLIC_HOST: text(
    '',
    'Address that trunks are told to send SIP and audio to, where it is not PAMOJA_SIP_HOST: the public one behind a NAT or of a container.',
  ),
  PAMOJA_SIP_PORT: integer(5060, 0, 65535, 'Port of SIP over UDP and TCP.'),
  PAMOJA_SIP_TLS_PORT: integer(5061, 0, 65535, 'Port of SIP over TLS.'),
  PAMOJA_SIP_CA_FILE: text(
    '',
    'Certificates (PEM) that trunks over TLS are checked against, beside the well-known ones.',
  ),
  PAMOJA_RTP_PORTS: text('', 'Lowest and highest UDP port of audio, such as 20000-29999; empty takes any free ones.'),
  PAMOJA_DESK_HOST: text(
    '',
    "Address that browsers of agents send audio to, where it is not PAMOJA_SIP_HOST; the machine's own behind a NAT.",
  ),
  PAMOJA_DESK_ICE_SERVERS: text(
    '',
    'STUN servers that browsers of agents ask for their own address, with commas: stun:stun.example.com:3478.',
  ),
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
  PAMOJA_VOICE_DRAIN_SECONDS: integer(
    20,
    0,
    3_600,
    'Seconds that calls may go on when a node is stopped; whoever is still in one then hears an apology, and it ends.',
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
  PAMOJA_SPEECH_PROGRAM: text(
    'espeak-ng',
    'Program that speaks, called as espeak-ng is; where there is none, the optional package @echogarden/espeak-ng-emscripten speaks.',
  ),
  PAMOJA_VOICES: text(
    '',
    'Folder of Piper voices, *.onnx with *.onnx.json beside it, which are listed and spoken by their names; read at the start.',
  ),
  PAMOJA_RECOGNITION: text(
    '',
    'Folder of models that recognise speech, each in a folder of its own with a recognition.json that names its languages; read at the start.',
  ),
  PAMOJA_VOICE_DEFAULTS: formed(
    'Voices of PAMOJA_VOICES that speak a language where a request names none, with commas: sw=sw_CD-lanfrica-medium,en-KE=en_GB-alba-medium.',
    (given) => given.split(',').every((one) => /^[a-z]{2,3}(-[A-Z0-9]{2,4})?=[\w.-]{1,100}$/.test(one.trim())),
    'must be languages with voices, such as sw=sw_CD-lanfrica-medium, with commas between',
  ),
} as const
