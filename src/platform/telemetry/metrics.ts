// SPDX-License-Identifier: Apache-2.0
// Prometheus metrics, `pamoja_<area>_<thing>_<unit>`. Labels are bounded: routes, classes and lanes, never accounts.
// The request histogram is kept here; other values are computed on scrape.
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** Upper bounds of the duration histogram, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const
/** Upper bounds of the age of a resource at an event, in seconds: from a text's delivery to days. */
const ageBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600, 86_400] as const
/** Timeout of a value on scrape (database stuck): it is left out. */
const answerWithinMs = 2_000

/** Interval at which the delay of the event loop is measured; each measurement wakes an idle node. */
const loopResolutionMs = 20

export interface LabelledValue {
  labels: Readonly<Record<string, string>>
  value: number
}

/**
 * Metrics of the process (memory, garbage collection, event loop), collected once however many nodes it runs, as tests
 * do: the event loop's monitor is a timer every few milliseconds that never ends.
 */
const ofProcess = new Registry()

export class Metrics {
  readonly #registry = new Registry()
  readonly #durations = new Map<string, Durations[]>()
  readonly #ages = new Map<string, Durations>()
  readonly refusals = new Counter({
    name: 'pamoja_limits_refusals_total',
    help: 'Requests refused by a rate limit.',
    labelNames: ['policy'],
    registers: [this.#registry],
  })

  constructor(version: string) {
    if (ofProcess.getMetricsAsArray().length === 0)
      collectDefaultMetrics({ register: ofProcess, eventLoopMonitoringPrecision: loopResolutionMs })
    this.gauges('pamoja_build_info', 'The version that runs.', ['version'], () => [{ labels: { version }, value: 1 }])
    for (const policy of ['key', 'address']) this.refusals.inc({ policy }, 0)
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** Counts a request. Hot path: a lookup and three additions, where a library takes a microsecond. */
  request(operation: string, status: number, seconds: number): void {
    let classes = this.#durations.get(operation)
    if (!classes) {
      classes = []
      this.#durations.set(operation, classes)
    }
    const statusClass = Math.floor(status / 100)
    let durations = classes[statusClass]
    if (!durations) {
      durations = { counts: new Array(bounds.length + 1).fill(0), sum: 0 }
      classes[statusClass] = durations
    }
    count(durations, bounds, seconds)
  }

  /** Counts an event and the age of its resource. Names and statuses are the catalogue's. */
  event(environment: string, name: string, status: string | null, seconds: number): void {
    const labels = `environment="${environment}",event="${name}",status="${status ?? ''}"`
    let ages = this.#ages.get(labels)
    if (!ages) {
      ages = { counts: new Array(ageBounds.length + 1).fill(0), sum: 0 }
      this.#ages.set(labels, ages)
    }
    count(ages, ageBounds, seconds)
  }

  /** Gauge; null while unknown. */
  gauge(name: string, help: string, value: () => number | null): void {
    this.gauges(name, help, [], () => {
      const known = value()
      return known === null ? [] : [{ labels: {}, value: known }]
    })
  }

  /** Gauge with labels. Values that fail are left out. */
  gauges(
    name: string,
    help: string,
    labelNames: readonly string[],
    values: () => readonly LabelledValue[] | Promise<readonly LabelledValue[]>,
  ): void {
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [this.#registry],
      async collect() {
        const found = await inTime(values)
        if (labelNames.length === 0) this.remove()
        else this.reset()
        for (const { labels, value } of found) this.set({ ...labels }, value)
      },
    })
  }

  /** Counter kept elsewhere. */
  total(name: string, help: string, value: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.reset()
        this.inc(value())
      },
    })
  }

  /** Counter with labels, kept elsewhere. */
  totals(name: string, help: string, labelNames: readonly string[], values: () => readonly LabelledValue[]): void {
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [this.#registry],
      collect() {
        this.reset()
        for (const { labels, value } of values()) this.inc({ ...labels }, value)
      },
    })
  }

  /** All metrics in Prometheus format. */
  async text(): Promise<string> {
    return `${await ofProcess.metrics()}\n${await this.#registry.metrics()}\n${this.#durationText()}${this.#ageText()}`
  }

  #durationText(): string {
    const name = 'pamoja_http_duration_seconds'
    let text = `# HELP ${name} Time from the first byte of a request to the end of its response.\n# TYPE ${name} histogram\n`
    for (const [operation, classes] of this.#durations)
      classes.forEach(({ counts, sum }, statusClass) => {
        text += series(name, `operation="${operation}",status="${statusClass}xx"`, bounds, { counts, sum })
      })
    return text
  }

  #ageText(): string {
    const name = 'pamoja_events_age_seconds'
    let text = `# HELP ${name} Events committed by this node, by how long ago what they tell of was made.\n# TYPE ${name} histogram\n`
    for (const [labels, ages] of this.#ages) text += series(name, labels, ageBounds, ages)
    return text
  }
}

/** Histogram of one operation and status class. */
interface Durations {
  counts: number[]
  sum: number
}

function count(durations: Durations, within: readonly number[], seconds: number): void {
  let bucket = 0
  while (bucket < within.length && seconds > (within[bucket] ?? 0)) bucket++
  durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1
  durations.sum += seconds
}

function series(name: string, labels: string, within: readonly number[], { counts, sum }: Durations): string {
  let text = ''
  let total = 0
  counts.forEach((inBucket, i) => {
    total += inBucket
    text += `${name}_bucket{${labels},le="${within[i] ?? '+Inf'}"} ${total}\n`
  })
  return `${text}${name}_sum{${labels}} ${sum}\n${name}_count{${labels}} ${total}\n`
}

async function inTime(
  values: () => readonly LabelledValue[] | Promise<readonly LabelledValue[]>,
): Promise<readonly LabelledValue[]> {
  const nothing = new Promise<readonly LabelledValue[]>((resolve) =>
    setTimeout(() => resolve([]), answerWithinMs).unref(),
  )
  try {
    return await Promise.race([values(), nothing])
  } catch {
    return []
  }
}

/** Cache an async value for a period. */
export function atMostEvery<T>(periodMs: number, ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null
  let askedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (asked === null || performance.now() - askedAt >= periodMs) {
      askedAt = performance.now()
      asked = ask()
    }
    return asked
  }
}
