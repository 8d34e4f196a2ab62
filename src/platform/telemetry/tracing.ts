// SPDX-License-Identifier: Apache-2.0
// Tracing: a span per request and per job run, sent over OTLP/HTTP. Only types are imported here; the packages load
// when OTEL_EXPORTER_OTLP_ENDPOINT is set. Without it there are no spans, and a caller's trace is only passed on to
// webhooks.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Context, Span as OpenSpan, SpanContext } from '@opentelemetry/api'
import type { Logger } from './log.ts'

/** Export timeout of a batch, and longest wait of a stopping node. */
const exportTimeoutMs = 5_000
/** Span queue limit; further ones are dropped. */
const maxWaiting = 8_192
/** Traces cached for later events: at least so many, at most twice as many. */
const remembered = 5_000

/** Span context for children. */
export type Trace = SpanContext

/** Span in progress. */
export interface Span {
  readonly trace: Trace
  end(outcome: Attributes, failed: boolean): void
}

export interface Tracer {
  /** Starts a request's span, in the caller's trace if the W3C header `traceparent` names one. */
  request(name: string, traceparent: string | string[] | undefined, attributes: Attributes): Span
  /** Starts the span of a job run, in the trace that queued it. */
  job(name: string, parent: Trace | null, attributes: Attributes): Span
  /** Runs a function in a span, so that what it starts finds its trace. */
  within<T>(span: Span, run: () => T): T
  current(): Trace | null
  /** Flush and stop. */
  stop(): Promise<void>
}

export interface TracerOptions {
  /** Collector address, without `/v1/traces`. */
  endpoint: string
  version: string
  nodeId: string
  log: Logger
}

export async function startTracer({ endpoint, version, nodeId, log }: TracerOptions): Promise<Tracer> {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const [api, { BasicTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  const { trace, diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode } = api
  const report = (message: string): void =>
    log.warn({ problem: message }, 'traces not exported: check the collector that OTEL_EXPORTER_OTLP_ENDPOINT names')
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'pamoja',
      'service.version': version,
      'service.instance.id': nodeId,
    }),
    spanProcessors: [
      new BatchSpanProcessor(new OTLPTraceExporter({ url, timeoutMillis: exportTimeoutMs }), {
        maxQueueSize: maxWaiting,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  })
  const tracer = provider.getTracer('pamoja', version)
  const present = new AsyncLocalStorage<Trace>()
  const inside = (parent: Trace | null): Context => (parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT)

  return {
    request: (name, traceparent, attributes) =>
      spanOf(tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, inside(remoteTrace(traceparent)))),
    job: (name, parent, attributes) =>
      spanOf(tracer.startSpan(name, { kind: SpanKind.CONSUMER, attributes }, inside(parent))),
    within: (span, run) => present.run(span.trace, run),
    current: () => present.getStore() ?? null,
    stop: () =>
      provider
        .shutdown()
        .catch((error) => log.warn({ error }, 'last traces not exported before the stop: nothing to do')),
  }

  function spanOf(span: OpenSpan): Span {
    return {
      trace: span.spanContext(),
      end(outcome, failed) {
        span.setAttributes(outcome)
        if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      },
    }
  }
}

function ignore(): void {}

const traceparentForm =
  /^(?:00(?=.{53}$)|(?!00|ff)[0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/** Trace of a traceparent header; null when absent or invalid (W3C Trace Context, section 3.2). */
function remoteTrace(traceparent: string | string[] | undefined): Trace | null {
  const [, traceId, spanId, flags] = (typeof traceparent === 'string' && traceparentForm.exec(traceparent)) || []
  if (!traceId || !spanId || !flags) return null
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}

/** Value of a traceparent header (W3C Trace Context, version 00). */
export function traceparentOf({ traceId, spanId, traceFlags }: Trace): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`
}

/** Adds a trace to what is stored for later work, so that the node that does it, whichever that is, goes on with the trace. */
export function withTrace<T>(payload: T, trace: Trace | null): T {
  return trace === null ? payload : Object.assign({}, payload, { traceparent: traceparentOf(trace) })
}

/** Trace that `withTrace` added; null when there is none. */
export function traceIn(payload: unknown): Trace | null {
  if (typeof payload !== 'object' || payload === null || !('traceparent' in payload)) return null
  return typeof payload.traceparent === 'string' ? remoteTrace(payload.traceparent) : null
}

/** Cache of traces by request and event id, for later work. The oldest are evicted. */
export class TraceCache {
  #latest = new Map<string, Trace>()
  #before = new Map<string, Trace>()

  /** Cache the trace named by a request. */
  noteNamed(request: string, traceparent: string | string[] | undefined): void {
    const trace = remoteTrace(traceparent)
    if (trace) this.note(request, trace)
  }

  note(id: string, trace: Trace): void {
    if (this.#latest.size >= remembered) {
      this.#before = this.#latest
      this.#latest = new Map()
    }
    this.#latest.set(id, trace)
  }

  of(id: string | null): Trace | null {
    return id === null ? null : (this.#latest.get(id) ?? this.#before.get(id) ?? null)
  }
}
