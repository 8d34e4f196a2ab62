// SPDX-License-Identifier: Apache-2.0
// Segments of texts, against another calculator: any text on which the two disagree ends the benchmark. The suite asks
// about two thousand texts, this about a hundred thousand.
import { SegmentedMessage } from 'sms-segments-calculator'
import { segmentsOf } from '../src/areas/sms/message.ts'
import { chooseSeed, randomFrom } from '../test/faults/harness.ts'
import type { Figure } from './report.ts'

const maxCharacters = 1_530
const basic = [
  ...'abcdefghijklmnopqrstuvwxyz ABCXYZ 0123456789 .,:;!?@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà\'"\n\r',
]
const escaped = [...'^{}\\[~]|€\f']
/**
 * What makes a text UCS-2: of one unit, and of two. Each stands for itself: the other calculator keeps letters that are drawn
 * as one, such as the two of a flag, in one part, which costs a part now and then. Phones put the parts together before they
 * draw, so we cut there.
 */
const beyond = [...'ابتثجحخدذرزسشصضطظعغفقكلمنهوي ቁምሰላምእንዴትነህ çêâîôû’“”–…`ńţ你好']
const pairs = [...'😀🙏🌍🎉𝄞𐎠']

export async function smsSegments({ short }: { short: boolean }): Promise<Figure[]> {
  const seed = chooseSeed()
  const random = randomFrom(seed)
  const texts = short ? 2_000 : 100_000
  let [gsm, ourMs, theirMs] = [0, 0, 0]
  for (let i = 0; i < texts; i++) {
    const text = randomText(random)
    const startedMs = performance.now()
    const ours = segmentsOf(text)
    const halfwayMs = performance.now()
    const theirs = new SegmentedMessage(text)
    const [encoding, segments] = [theirs.encodingName === 'GSM-7' ? 'gsm7' : 'ucs2', theirs.segmentsCount]
    theirMs += performance.now() - halfwayMs
    ourMs += halfwayMs - startedMs
    if (ours?.encoding !== encoding || ours.segments !== segments)
      throw new Error(
        `seed ${seed}: ${ours?.segments} segments of ${ours?.encoding}, not ${segments} of ${encoding}: ${JSON.stringify(text)}`,
      )
    if (encoding === 'gsm7') gsm++
  }
  return [
    { name: 'texts', value: texts, unit: '' },
    { name: 'of them in the GSM alphabet', value: gsm, unit: '' },
    { name: 'counted differently', value: 0, unit: '' },
    { name: 'ratio, time to count them', value: theirMs / ourMs, unit: '' },
  ]
}

/** Most are short, where borders are near. Half keep to the GSM alphabet, the others mix in some of the rest. */
function randomText(random: () => number): string {
  const length = 1 + Math.floor(random() ** 6 * maxCharacters)
  const escapes = random() * 0.3
  const others = random() < 0.5 ? 0 : random() ** 4
  let text = ''
  for (let i = 0; i < length; i++) {
    const alphabet = random() >= others ? (random() < escapes ? escaped : basic) : random() < 0.1 ? pairs : beyond
    text += alphabet[Math.floor(random() * alphabet.length)] ?? ''
  }
  return text
}
