// SPDX-License-Identifier: Apache-2.0
// The page that takes pictures of a document and a face: one view after another. Pictures are made smaller here, sent in parts
// while the person goes on, and kept nowhere in the browser.

const place = document.querySelector('#capture')
const data = JSON.parse(place.dataset.capture)
const { texts } = data
const language = new URLSearchParams(location.search).get('lang')

// --- elements ---

/** An element with attributes, listeners (`onclick`) and children. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value)
  element.append(...children.filter((child) => child !== null && child !== undefined))
  return element
}

const button = (words, onclick, isQuiet = false) =>
  make('button', { type: 'button', class: isQuiet ? 'quiet' : null, onclick }, words)
const sentence = (words, kind = null) => make('p', { class: kind }, words)
const alarm = (words) => words && make('p', { class: 'problem', role: 'alert' }, words)

let leaving = () => undefined

/** Shows a view and moves the focus to its heading, which a screen reader reads. */
function show(title, ...children) {
  leaving()
  leaving = () => undefined
  const heading = make('h1', { tabindex: '-1' }, title)
  place.replaceChildren(heading, ...children.filter((child) => child))
  heading.focus()
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

// --- the server ---

const requestMs = 60_000

/** Asks the server; throws an error with `status` (0 without a connection) and what is wrong. */
async function ask(method, path, body) {
  const isJson = body !== undefined && !(body instanceof Blob)
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), requestMs)
  const address = `${data.path}${path}${language ? `${path.includes('?') ? '&' : '?'}lang=${language}` : ''}`
  let response
  let answer
  try {
    response = await fetch(address, {
      method,
      body: isJson ? JSON.stringify(body) : body,
      headers: body === undefined ? {} : { 'content-type': isJson ? 'application/json' : 'application/octet-stream' },
      signal: abort.signal,
    })
    answer = await response.json()
  } catch (cause) {
    throw Object.assign(new Error('no connection', { cause }), { status: 0, problem: {} })
  } finally {
    clearTimeout(timer)
  }
  if (response.ok) return answer
  throw Object.assign(new Error(answer.error.code), { status: response.status, problem: answer.error })
}

const isPassing = ({ status }) => status === 0 || status === 429 || status >= 500

/** Asks until there is an answer, however bad the line is. */
async function insist(method, path, body) {
  for (let waitMs = 500; ; waitMs = Math.min(2 * waitMs, 15_000))
    try {
      return await ask(method, path, body)
    } catch (error) {
      if (!isPassing(error)) throw error
      await pause(waitMs)
    }
}

// --- pictures on their way ---

const sent = { bytes: 0, total: 0, onChange: () => undefined }
let line = Promise.resolve()

const randomText = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => (byte % 36).toString(36)).join('')

/** Begins to send a picture, after those before it. */
function send(blob) {
  const picture = { name: `${randomText()}-${blob.size}`, blob, isUnwanted: false, sent: 0, arrived: null }
  sent.total += blob.size
  picture.arrived = line.then(() => sendParts(picture))
  line = picture.arrived.catch(() => undefined)
  return picture
}

/** Another one is taken in its place. */
function forget(picture) {
  if (!picture) return
  picture.isUnwanted = true
  sent.total -= picture.blob.size
  sent.bytes -= picture.sent
}

async function sendParts(picture) {
  const { name, blob } = picture
  let offset = 0
  let waitMs = 500
  while (offset < blob.size && !picture.isUnwanted)
    try {
      const part = blob.slice(offset, offset + data.partBytes)
      offset = (await ask('PUT', `/pictures/${name}?offset=${offset}`, part)).offset
      waitMs = 500
      if (!picture.isUnwanted) sent.bytes += offset - picture.sent
      picture.sent = offset
      sent.onChange(true)
    } catch (error) {
      if (!isPassing(error)) throw error
      sent.onChange(false)
      await pause(waitMs)
      waitMs = Math.min(2 * waitMs, 15_000)
      // A part may have arrived although its answer did not.
      offset = await ask('GET', `/pictures/${name}`).then(
        (answer) => answer.offset,
        () => offset,
      )
    }
}

// --- making pictures ---

const documentSide = 2_000
const faceSide = 720

/** A JPEG of a part of a picture or video, small enough to send. */
async function jpegOf(source, box, longest) {
  let scale = Math.min(1, longest / Math.max(box.width, box.height))
  for (let quality = 0.9; ; quality -= 0.1) {
    const canvas = document.createElement('canvas')
    canvas.width = Math.round(box.width * scale)
    canvas.height = Math.round(box.height * scale)
    const { width, height } = canvas
    canvas.getContext('2d').drawImage(source, box.x, box.y, box.width, box.height, 0, 0, width, height)
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality))
    if (blob && blob.size <= data.maxBytes) return blob
    if (quality < 0.5) scale *= 0.8
  }
}

async function jpegOfFile(file, longest) {
  const image = await createImageBitmap(file)
  const { width, height } = image
  return jpegOf(image, { x: 0, y: 0, width, height }, longest)
}

/** Part of a video that its view shows. */
function visiblePart(video) {
  const [width, height] = [video.videoWidth, video.videoHeight]
  const ratio = video.clientWidth / video.clientHeight
  const shown = width / height > ratio ? { width: height * ratio, height } : { width, height: width / ratio }
  return { x: (width - shown.width) / 2, y: (height - shown.height) / 2, ...shown }
}

async function openCamera(video, facingMode) {
  const wanted = { facingMode, width: { ideal: 1920 }, height: { ideal: 1080 } }
  const stream = await navigator.mediaDevices.getUserMedia({ audio: false, video: wanted })
  video.srcObject = stream
  await video.play()
  return () => {
    for (const track of stream.getTracks()) track.stop()
  }
}

const cameraTrouble = (error) =>
  error.name === 'NotAllowedError' || error.name === 'SecurityError' ? texts.cameraRefused : texts.noCamera

// --- is it sharp, bright and near? ---

const looked = { width: 480, height: 340 }
const limits = { dark: 45, bright: 245, sharp: 110, filled: 0.6, texture: 5 }
const looking = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
Object.assign(looking.canvas, looked)

/** What to do better with what the frame shows; null when the picture can be taken. */
function hintFor(video) {
  const { width, height } = looked
  const part = visiblePart(video)
  const inner = { x: part.x + part.width * 0.05, y: part.y + part.height * 0.08 }
  looking.drawImage(video, inner.x, inner.y, part.width * 0.9, part.height * 0.84, 0, 0, width, height)
  const pixels = looking.getImageData(0, 0, width, height).data
  const grey = new Float32Array(width * height)
  let sum = 0
  for (let i = 0; i < grey.length; i++) {
    grey[i] = 0.299 * pixels[4 * i] + 0.587 * pixels[4 * i + 1] + 0.114 * pixels[4 * i + 2]
    sum += grey[i]
  }
  const mean = sum / grey.length
  if (mean < limits.dark) return 'hintDark'
  if (mean > limits.bright) return 'hintBright'
  const { sharpness, filled } = structureOf(grey, width, height)
  if (filled < limits.filled) return 'hintNear'
  return sharpness < limits.sharp ? 'hintBlur' : null
}

/** Variance of the Laplacian, and the share of 6 x 4 cells in which something is drawn. */
function structureOf(grey, width, height) {
  const cells = new Float32Array(24)
  let [sum, squares, count] = [0, 0, 0]
  for (let y = 1; y < height - 1; y++)
    for (let x = 1; x < width - 1; x++) {
      const at = y * width + x
      const edge = grey[at - 1] + grey[at + 1] + grey[at - width] + grey[at + width] - 4 * grey[at]
      sum += edge
      squares += edge * edge
      count += 1
      cells[Math.floor((y / height) * 4) * 6 + Math.floor((x / width) * 6)] += Math.abs(edge)
    }
  const filled = cells.filter((cell) => cell / (count / 24) > limits.texture).length / cells.length
  return { sharpness: squares / count - (sum / count) ** 2, filled }
}

// --- views ---

const chosen = { country: null, type: null, sides: 1 }
const taken = { document_front: null, document_back: null, selfie: null, liveness: null }
const fields = () => [
  'document_front',
  ...(chosen.sides === 2 ? ['document_back'] : []),
  ...(data.needsFace ? ['selfie'] : []),
]

function phoneCode(isOpen) {
  if (!matchMedia('(pointer: fine)').matches) return null
  const code = make('img', { class: 'qr', src: data.qr, alt: texts.scan })
  return make(
    'details',
    { class: 'phone', open: isOpen },
    make('summary', {}, texts.onPhone),
    sentence(texts.scan),
    code,
  )
}

/** Secret of this browser, to which the session belongs once the person agreed, also when the answer to that is lost. */
const browser = randomText() + randomText()

function introduce() {
  const needs = [texts.needDocument, data.needsFace && texts.needFace, texts.needLight].filter(Boolean)
  const problem = make('div')
  const agree = button(texts.agree, async () => {
    agree.disabled = true
    try {
      take(await insist('POST', '/agree', { browser }))
    } catch (error) {
      agree.disabled = false
      if (error.status === 409) take(await insist('GET', '/state'))
      else problem.replaceChildren(alarm(texts.notNow))
    }
  })
  show(
    texts.title,
    sentence(texts.what),
    make('ul', { class: 'needs' }, ...needs.map((need) => make('li', {}, need))),
    sentence(texts.consent, 'soft'),
    data.notice &&
      make('p', {}, make('a', { href: data.notice, target: '_blank', rel: 'noopener noreferrer' }, texts.notice)),
    problem,
    agree,
    phoneCode(false),
  )
  watchElsewhere()
}

/** Looks whether the person goes on with the phone meanwhile. */
async function watchElsewhere() {
  let isHere = true
  leaving = () => {
    isHere = false
  }
  while (isHere) {
    await pause(4_000)
    if (!isHere || document.hidden) continue
    const state = await ask('GET', '/state').catch(() => null)
    if (isHere && state && !['created', 'opened'].includes(state.status)) take(state)
  }
}

function chooseDocument(problem = null) {
  const list = make('div', { class: 'choices' })
  const offer = () => {
    const { types } = data.countries.find(({ code }) => code === chosen.country)
    list.replaceChildren(
      ...types.map(([type, sides]) =>
        button(
          texts[type],
          () => {
            Object.assign(chosen, { type, sides })
            goOn()
          },
          true,
        ),
      ),
    )
  }
  const regions = navigator.languages.map((tag) => tag.split('-').at(-1))
  chosen.country ??= (data.countries.find(({ code }) => regions.includes(code)) ?? data.countries[0]).code
  const select = make(
    'select',
    {
      onchange: () => {
        chosen.country = select.value
        offer()
      },
    },
    ...data.countries.map(({ code, name }) => make('option', { value: code }, name)),
  )
  select.value = chosen.country
  offer()
  const [only] = data.countries
  if (data.countries.length === 1 && only.types.length === 1) {
    Object.assign(chosen, { type: only.types[0][0], sides: only.types[0][1] })
    goOn(problem)
    return
  }
  show(texts.which, alarm(problem), data.countries.length > 1 ? make('label', {}, texts.country, select) : null, list)
}

/** The next view: what is still to be taken, or the answer. */
function goOn(problem = null) {
  if (chosen.type === null) return chooseDocument(problem)
  const field = fields().find((name) => !taken[name])
  if (field === undefined) return submit()
  return field === 'selfie' ? takeFace(problem) : takeDocument(field, problem)
}

const countOf = (field) => sentence(`${fields().indexOf(field) + 1} / ${fields().length}`, 'soft steps')

/** A hidden input for files, and the button that opens it. */
function fileChooser(facing, longest, onPicture, onProblem) {
  const input = make('input', {
    type: 'file',
    accept: 'image/jpeg,image/png,image/webp,image/*',
    capture: facing,
    hidden: true,
    onchange: async () => {
      const [file] = input.files
      input.value = ''
      if (!file) return
      const blob = await jpegOfFile(file, longest).catch(() => null)
      if (blob) onPicture(blob)
      else onProblem(texts.unreadableFile)
    },
  })
  return make(
    'div',
    {},
    input,
    button(texts.choose, () => input.click(), true),
  )
}

function takeDocument(field, problem) {
  const title =
    field === 'document_back' ? texts.backTitle : chosen.type === 'passport' ? texts.pageTitle : texts.frontTitle
  const video = make('video', { playsinline: true, 'aria-hidden': 'true' })
  video.muted = true
  const frame = make('div', { class: 'frame' })
  const hint = make('p', { class: 'hint', 'aria-live': 'polite' })
  const view = make('div', { class: 'view', hidden: true }, video, frame, hint)
  const trouble = make('div')
  const keep = (blob) => preview(field, blob, texts.isReadable)
  const shoot = button(texts.shoot, async () => keep(await jpegOf(video, visiblePart(video), documentSide)))
  shoot.hidden = true
  const choose = fileChooser('environment', documentSide, keep, (words) => trouble.replaceChildren(alarm(words)))
  show(title, countOf(field), alarm(problem), sentence(texts.fit), trouble, view, shoot, choose)
  withCamera(video, 'environment', view, trouble, shoot, async (isHere) => {
    let goodInARow = 0
    while (isHere() && goodInARow < 3) {
      await pause(300)
      if (!isHere()) return
      const problemNow = hintFor(video)
      goodInARow = problemNow ? 0 : goodInARow + 1
      frame.classList.toggle('good', !problemNow)
      const words = texts[problemNow ?? 'hintGood']
      if (hint.textContent !== words) hint.textContent = words
    }
    if (isHere()) shoot.click()
  })
}

/** Opens the camera for a view, and closes it when the view is left. */
async function withCamera(video, facing, view, trouble, shoot, run) {
  let isHere = true
  let close = () => undefined
  leaving = () => {
    isHere = false
    close()
  }
  try {
    close = await openCamera(video, facing)
  } catch (error) {
    if (isHere) trouble.replaceChildren(alarm(cameraTrouble(error)), ...[phoneCode(true)].filter(Boolean))
    return
  }
  if (!isHere) return close()
  view.hidden = false
  shoot.hidden = false
  await run(() => isHere)
}

/** Shows a picture before it is used. */
function preview(field, blob, question) {
  const url = URL.createObjectURL(blob)
  const isFace = field === 'selfie'
  const image = make('img', { src: url, alt: question })
  const view = make('div', { class: isFace ? 'view face' : 'view' }, image)
  const use = button(texts.use, () => {
    taken[field] = send(blob)
    goOn()
  })
  show(
    question,
    countOf(field),
    view,
    use,
    button(texts.again, () => goOn(), true),
  )
  leaving = () => URL.revokeObjectURL(url)
}

function takeFace(problem) {
  const video = make('video', { playsinline: true, 'aria-hidden': 'true' })
  video.muted = true
  const hint = make('p', { class: 'hint', role: 'status', 'aria-live': 'assertive' })
  const view = make('div', { class: 'view face', hidden: true }, video, make('div', { class: 'frame' }), hint)
  const trouble = make('div')
  const keep = (blob) => preview('selfie', blob, texts.isFaceWhole)
  const single = async () => keep(await jpegOf(video, visiblePart(video), faceSide))
  const begin = data.needsLiveness ? () => followSteps(video, hint, begun, trouble) : single
  const shoot = button(data.needsLiveness ? texts.start : texts.shoot, begin)
  const choose = fileChooser('user', documentSide, keep, (words) => trouble.replaceChildren(alarm(words)))
  const begun = [shoot, choose]
  shoot.hidden = true
  const what = data.needsLiveness ? `${texts.faceWhat} ${texts.stepsWhat} ${texts.lightWhat}` : texts.faceWhat
  show(texts.faceTitle, countOf('selfie'), alarm(problem), sentence(what), trouble, view, shoot, choose)
  withCamera(video, 'user', view, trouble, shoot, async () => undefined)
}

/** Full colours of the screen: each leaves the others dark, so that it alone is seen on the face. */
const shades = { white: '#fff', red: '#f00', green: '#0f0', blue: '#00f' }

/** Takes frames while the person does what the server asks for. The preview is a mirror, the frames are not. */
async function followSteps(video, hint, buttons, trouble) {
  const leaveBefore = leaving
  let isHere = true
  leaving = () => {
    isHere = false
    leaveBefore()
  }
  for (const one of buttons) one.hidden = true
  let challenge
  try {
    challenge = await insist('POST', '/challenge')
  } catch {
    return trouble.replaceChildren(alarm(texts.notNow))
  }
  const frames = []
  const lights = [...(challenge.lights ?? [])]
  const view = video.parentElement
  const shine = (colour) => {
    view.style.boxShadow = colour ? `0 0 0 100vmax ${shades[colour] ?? '#fff'}` : ''
    view.classList.toggle('lit', Boolean(colour))
  }
  leaving = () => {
    isHere = false
    shine(null)
    leaveBefore()
  }
  let beganMs = null
  const shot = async (step) => {
    const nowMs = performance.now()
    beganMs ??= nowMs
    const blob = await jpegOf(video, visiblePart(video), faceSide)
    if (isHere) frames.push({ picture: send(blob), step, at_ms: Math.round(nowMs - beganMs) })
  }
  const tell = async (words, ms) => {
    hint.textContent = words
    await pause(ms)
  }
  shine(lights.shift())
  await tell(texts.frontal, 1_500)
  await shot('frontal')
  for (const step of challenge.steps) {
    await tell(texts[step], 1_500)
    await shot(step)
    await pause(500)
    await shot(step)
    shine(lights.shift())
    await tell(texts.frontal, 1_500)
    await shot('frontal')
    if (!isHere) return
  }
  taken.liveness = { challenge_id: challenge.challenge_id, frames }
  taken.selfie = frames[0].picture
  goOn()
}

// --- submitting ---

async function submit() {
  const meter = make('progress', { max: 1, 'aria-label': texts.sending })
  const status = make('p', { class: 'soft', role: 'status' })
  show(texts.sending, sentence(texts.sendingWhat), meter, status)
  sent.onChange = (isOnline) => {
    meter.value = sent.total === 0 ? 1 : sent.bytes / sent.total
    status.textContent = isOnline ? `${Math.round(meter.value * 100)} %` : texts.offline
  }
  sent.onChange(true)
  const { liveness } = taken
  const all = [
    ...new Set([...fields().map((field) => taken[field]), ...(liveness?.frames ?? []).map((frame) => frame.picture)]),
  ]
  try {
    await Promise.all(all.map((picture) => picture.arrived))
    show(texts.waiting, sentence(texts.waitingWhat), make('progress', { 'aria-label': texts.waiting }))
    const named = Object.fromEntries(fields().map((field) => [field, taken[field].name]))
    const frames = liveness?.frames.map(({ picture, step, at_ms }) => ({ picture: picture.name, step, at_ms }))
    take(
      await insist('POST', '/submit', {
        ...{ document_type: chosen.type, country: chosen.country, ...named },
        ...(frames ? { liveness: { challenge_id: liveness.challenge_id, frames } } : {}),
      }),
    )
  } catch (error) {
    await refused(error)
  }
}

/** Pictures that were refused are taken again, the others are kept. */
async function refused({ status, problem }) {
  const state = await insist('GET', '/state')
  if (state.status !== 'capturing') return take(state)
  if (problem.code?.startsWith('CHALLENGE_')) return retake('selfie', texts.CHALLENGE_EXPIRED)
  if (status !== 422 && problem.code !== 'CONFLICT')
    return show(texts.rejected, alarm(texts.notNow), button(texts.tryAgain, submit))
  const [first] = problem.problems ?? []
  const words = texts[first] ?? texts[problem.code] ?? texts.other
  const field = (problem.image ?? '').split(/[.[]/)[0]
  const before = taken[field]?.blob
  retake(field === 'liveness' ? 'selfie' : field, words)
  const kinds = [...new Set((problem.regions ?? []).map((region) => region.problem))].filter((kind) => kind !== first)
  const others = kinds.map((kind) => alarm(texts[kind === 'cut_off' ? 'edge' : kind]))
  if (before && problem.regions?.length > 0)
    place.querySelector('.problem')?.after(...others, marked(before, problem.regions))
}

/** The picture before, with what is wrong marked on it. */
function marked(blob, regions) {
  const url = URL.createObjectURL(blob)
  const image = make('img', { src: url, alt: '', onload: () => URL.revokeObjectURL(url) })
  const marks = regions.map(({ box: [left, top, width, height] }) => {
    const mark = make('span', { class: 'mark' })
    for (const [side, part] of Object.entries({ left, top, width, height })) mark.style[side] = `${part * 100}%`
    return mark
  })
  return make('div', { class: 'marked' }, image, ...marks)
}

function retake(field, words) {
  for (const name of field in taken ? [field] : Object.keys(taken).filter((name) => name !== 'liveness')) {
    forget(taken[name])
    taken[name] = null
    if (name === 'selfie') taken.liveness = null
  }
  goOn(words)
}

/** Another try after a verdict: everything is new, and the page says what to do better. */
function tryAgain({ reasons, tries_left: left }) {
  const words = reasons.map(({ code }) => texts[code] ?? texts.other)
  const isFace = reasons.every(({ check }) => check === 'face_match' || check === 'liveness_detection')
  Object.assign(sent, { bytes: 0, total: 0 })
  Object.assign(taken, { document_front: null, document_back: null, selfie: null, liveness: null })
  if (!isFace) chosen.type = null
  show(
    texts.rejected,
    ...[...new Set(words)].map((one) => alarm(one)),
    sentence(texts.triesLeft.replace('{count}', left), 'soft'),
    button(texts.tryAgain, () => goOn()),
  )
}

// --- the answer ---

async function awaitVerdict() {
  show(texts.waiting, sentence(texts.waitingWhat), make('progress', { 'aria-label': texts.waiting }))
  for (;;) {
    await pause(1_500)
    const state = await insist('GET', '/state')
    if (state.status !== 'submitted') return take(state)
  }
}

function end(title, words) {
  show(
    title,
    sentence(words),
    data.leadsTo && !host() && make('p', {}, make('a', { class: 'button', href: data.leadsTo }, texts.leave)),
  )
}

/** Window of the account's site that shows the page in a frame or opened it; null for none. */
function host() {
  const other = window.parent === window ? window.opener : window.parent
  return data.tells ? other : null
}

/** Tells an app that shows the page in a web view how far the session is, by whichever bridge it has, or the site that shows it. */
function tellApp(status) {
  const message = { source: 'pamoja.identity', status }
  const bridges = [window.ReactNativeWebView, window.webkit?.messageHandlers?.pamoja, window.PamojaApp]
  for (const bridge of bridges) bridge?.postMessage(JSON.stringify(message))
  host()?.postMessage(message, data.tells)
}

/** Shows what a state of the session asks for. */
function take(state) {
  tellApp(state.status)
  switch (state.status) {
    case 'created':
    case 'opened':
      return introduce()
    case 'capturing':
      return state.reasons.length > 0 ? tryAgain(state) : goOn()
    case 'submitted':
      return awaitVerdict()
    case 'verified':
      return end(texts.done, texts.close)
    case 'review':
      return end(texts.review, texts.reviewWhat)
    case 'rejected':
      return end(texts.rejected, texts.rejectedWhat)
    case 'elsewhere':
      return end(texts.elsewhere, texts.elsewhereWhat)
    default:
      return end(texts.over, texts.overWhat)
  }
}

take(data.state)
if (data.state.status === 'created') ask('POST', '/open').catch(() => undefined)
