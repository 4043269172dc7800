/**
 * Traces of what the service does, for whoever collects them. Off unless the standard variables of
 * OpenTelemetry name a collector; then, and only then, its packages are loaded.
 */
import { describeError } from './log.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface TraceSpan {
  /** For who is called on its behalf (W3C Trace Context); undefined while nothing is traced. */
  readonly traceparent: string | undefined;
  set(attributes: SpanAttributes): void;
  /** @param failure why it did not do what it should, for people */
  end(failure?: string): void;
}

export interface Tracing {
  /** From now until it is ended; part of `parent` where one is given. */
  start(name: string, attributes: SpanAttributes, parent?: TraceSpan): TraceSpan;
  /** Sends what is left. */
  stop(): Promise<void>;
}

const NO_SPAN: TraceSpan = { traceparent: undefined, set: () => {}, end: () => {} };

export const NO_TRACING: Tracing = { start: () => NO_SPAN, stop: () => Promise.resolve() };

/**
 * @param env `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` turns it on,
 *   `OTEL_SDK_DISABLED=true` or `OTEL_TRACES_EXPORTER=none` off
 * @throws when a collector is named and the packages are not installed
 */
export async function openTracing(env: NodeJS.ProcessEnv, version: string): Promise<Tracing> {
  const isNamed =
    Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT']) ||
    Boolean(env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);
  const isOff = env['OTEL_SDK_DISABLED'] === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (!isNamed || isOff) return NO_TRACING;
  try {
    const { createOtlpTracing } = await import('./otlpTracing.ts');
    return createOtlpTracing(env['OTEL_SERVICE_NAME'] ?? 'sluice', version);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      `OTEL_EXPORTER_OTLP_ENDPOINT names a collector, and a package to send traces with is missing: ` +
        `npm install @opentelemetry/api @opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/exporter-trace-otlp-http (${describeError(error)})`,
      { cause: error },
    );
  }
}

/** Runs the work within a span, which ends with it. */
export async function within<T>(span: TraceSpan, work: () => T | Promise<T>): Promise<T> {
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end(describeError(error));
    throw error;
  }
}
