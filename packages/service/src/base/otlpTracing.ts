/** Sends traces over OTLP/HTTP as JSON, configured by the OpenTelemetry environment variables. */
import { type Span, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { setTimeout as wait } from 'node:timers/promises';
import type { TraceSpan, Tracing } from './tracing.ts';

/** Maximum time that a shutdown waits for the collector. */
const PATIENCE_MS = 3_000;

export function createOtlpTracing(serviceName: string, version: string): Tracing {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  const tracer = provider.getTracer('sluice', version);
  const spans = new WeakMap<TraceSpan, Span>();

  return {
    start(name, attributes, parent) {
      const above = parent === undefined ? undefined : spans.get(parent);
      const context = above === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, above);
      const span = tracer.startSpan(name, { attributes }, context);
      const { traceId, spanId, traceFlags } = span.spanContext();
      const own: TraceSpan = {
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        set: (more) => void span.setAttributes(more),
        end(failure) {
          if (failure !== undefined) {
            span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
          }
          span.end();
        },
      };
      spans.set(own, span);
      return own;
    },
    async stop() {
      const sent = provider.shutdown().catch(() => undefined);
      await Promise.race([sent, wait(PATIENCE_MS, undefined, { ref: false })]);
    },
  };
}
