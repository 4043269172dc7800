/** Spans of the service's work, and the tracing that records none. */
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
