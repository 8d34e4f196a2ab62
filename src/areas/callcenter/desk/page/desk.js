// SPDX-License-Identifier: Apache-2.0
// The desk of an agent in a browser: one websocket for what happens, one WebRTC track for the whole login. The token is kept for
// this tab only. A connection that is lost is opened again, also in the middle of a call.

const find = (id) => document.querySelector(`#${id}`)
const show = (id, isShown) => {
  find(id).hidden = !isShown
}

/** Plays what the other side says. */
const voice = new Audio()
voice.autoplay = true

let socket = null
let peer = null
let microphone = null
let call = { state: 'none', muted: false }
let status = 'offline'
let retryMs = 500
let isLeaving = false

function notice(text) {
  find('notice').textContent = text
  show('notice', text !== '')
}

// --- signing in ---

const kept = {
  get: () => sessionStorage.getItem('desk'),
  set: (token) => (token === null ? sessionStorage.removeItem('desk') : sessionStorage.setItem('desk', token)),
}

find('login').addEventListener('submit', async (event) => {
  event.preventDefault()
  notice('')
  const { agent, credential } = event.target.elements
  try {
    const isKey = credential.value.startsWith('pmj_')
    kept.set(isKey ? await login(agent.value.trim(), credential.value) : credential.value.trim())
    credential.value = ''
    await begin()
  } catch (error) {
    notice(error.message)
  }
})

async function asked(path, credential, body) {
  const response = await fetch(`/api/v1/voice/agent/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.details ?? answer.error.code)
  return answer
}

async function login(agent_id, key) {
  return (await asked('login', key, { agent_id, endpoint: { type: 'webrtc' } })).token
}

find('leave').addEventListener('click', async () => {
  try {
    await asked('logout', kept.get(), { agent_id: find('agent').textContent })
    leave()
  } catch (error) {
    notice(error.message)
  }
})

function leave() {
  isLeaving = true
  kept.set(null)
  socket?.close(1000)
  hush()
  for (const track of microphone?.getTracks() ?? []) track.stop()
  microphone = null
  find('status').textContent = 'signed out'
  find('agent').textContent = ''
  for (const id of ['work', 'leave']) show(id, false)
  show('login', true)
}

// --- the connection ---

async function begin() {
  isLeaving = false
  microphone ??= await navigator.mediaDevices.getUserMedia({
    audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
  })
  show('login', false)
  for (const id of ['work', 'leave']) show(id, true)
  connect()
}

function connect() {
  const url = new URL('/v1/voice/desk', location.href)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  url.searchParams.set('token', kept.get())
  socket = new WebSocket(url)
  const beat = setInterval(() => tell({ type: 'ping' }), 10_000)
  socket.addEventListener('open', () => {
    retryMs = 500
  })
  socket.addEventListener('message', ({ data }) => hear(JSON.parse(data)))
  socket.addEventListener('close', ({ code, reason }) => {
    clearInterval(beat)
    hush()
    lost(code, reason)
  })
}

/** A desk that was opened elsewhere, or whose agent is logged out, does not come back by itself. */
const finalCodes = [1008, 4001, 4004, 4401, 4403, 4409]

function lost(code, reason) {
  if (isLeaving) return
  if (finalCodes.includes(code)) {
    leave()
    notice(reason)
    return
  }
  find('status').textContent = 'reconnecting'
  setTimeout(() => !isLeaving && connect(), retryMs)
  retryMs = Math.min(8_000, retryMs * 2)
}

function tell(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}

/** A message whose answer is shown if it is a refusal. */
function ask(message) {
  notice('')
  tell({ id: crypto.randomUUID(), ...message })
}

// --- audio ---

async function offered({ sdp, ice_servers }) {
  hush()
  peer = new RTCPeerConnection({ iceServers: ice_servers })
  peer.addEventListener('track', ({ track }) => {
    voice.srcObject = new MediaStream([track])
  })
  peer.addEventListener('icecandidate', ({ candidate }) => {
    if (candidate?.candidate)
      tell({
        type: 'webrtc.candidate',
        candidate: candidate.candidate,
        sdp_mid: candidate.sdpMid ?? undefined,
        sdp_m_line_index: candidate.sdpMLineIndex ?? undefined,
      })
  })
  await peer.setRemoteDescription({ type: 'offer', sdp })
  for (const track of microphone.getAudioTracks()) peer.addTrack(track, microphone)
  await peer.setLocalDescription(await peer.createAnswer())
  tell({ type: 'webrtc.answer', sdp: peer.localDescription.sdp })
}

function hush() {
  peer?.close()
  peer = null
  voice.srcObject = null
}

// --- what is heard ---

function hear(message) {
  switch (message.type) {
    case 'webrtc.offer':
      return void offered(message).catch((error) => notice(error.message))
    case 'agent.status':
      find('agent').textContent = message.agent_id
      find('status').textContent = message.reason ? `${message.status} (${message.reason})` : message.status
      status = message.status
      return draw()
    case 'call.offer':
      find('caller').textContent = message.from ?? 'A call'
      find('about').textContent = message.queue?.name ?? ''
      return
    case 'call.state':
      call = message
      return draw()
    case 'transfer.state':
      return transfer(message.transfer)
    case 'queue.live':
      return queues(message.queues)
    case 'error':
      return notice(message.message)
  }
}

function draw() {
  const isRinging = call.state === 'ringing'
  const isSpeaking = call.state === 'connected' || call.state === 'on_hold'
  for (const id of ['answer', 'reject']) show(id, isRinging)
  for (const id of ['hold', 'mute', 'hangup', 'transfer', 'keys']) show(id, isSpeaking)
  show('wrap', status === 'wrap_up')
  find('hold').setAttribute('aria-pressed', String(call.state === 'on_hold'))
  find('mute').setAttribute('aria-pressed', String(call.muted))
  if (call.state === 'none') {
    find('caller').textContent = 'No call'
    find('about').textContent = ''
  }
  for (const button of find('statuses').children) button.setAttribute('aria-pressed', String(button.value === status))
}

function transfer(now) {
  show('consulting', now !== null)
  find('transfer-status').textContent = now ? `${now.destination}: ${now.status}` : ''
  for (const id of ['complete', 'merge']) show(id, now?.status === 'consulting')
}

function queues(all) {
  find('queues').replaceChildren(
    ...all.map(({ name, waiting, longest_wait_seconds, agents_available }) => {
      const row = document.createElement('tr')
      for (const text of [name, waiting, `${longest_wait_seconds} s`, agents_available]) {
        const cell = document.createElement('td')
        cell.textContent = text
        row.append(cell)
      }
      return row
    }),
  )
}

// --- what the agent does ---

const press = (id, message) => find(id).addEventListener('click', () => ask(message()))
press('answer', () => ({ type: 'call.accept' }))
press('reject', () => ({ type: 'call.reject' }))
press('hangup', () => ({ type: 'call.hangup' }))
press('hold', () => ({ type: 'call.hold', hold: call.state !== 'on_hold' }))
press('mute', () => ({ type: 'call.mute', mute: !call.muted }))
press('complete', () => ({ type: 'transfer.complete' }))
press('merge', () => ({ type: 'transfer.merge' }))
press('cancel', () => ({ type: 'transfer.cancel' }))

find('statuses').addEventListener('click', ({ target }) => {
  if (target.value) ask({ type: 'status.set', status: target.value })
})

find('transfer').addEventListener('submit', (event) => {
  event.preventDefault()
  const destination = event.target.elements.destination.value.trim()
  ask({ type: 'transfer.start', destination, transfer_type: event.submitter?.value ?? 'cold' })
})

find('keys').addEventListener('submit', (event) => {
  event.preventDefault()
  ask({ type: 'call.dtmf', digits: event.target.elements.digits.value })
  event.target.reset()
})

find('wrap').addEventListener('submit', (event) => {
  event.preventDefault()
  const { disposition, notes } = event.target.elements
  ask({
    type: 'wrap_up',
    ...(disposition.value ? { disposition: disposition.value } : {}),
    ...(notes.value ? { notes: notes.value } : {}),
  })
  ask({ type: 'status.set', status: 'available' })
  event.target.reset()
})

if (kept.get()) begin().catch((error) => notice(error.message))
