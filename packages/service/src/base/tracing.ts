/** Spans that trace the service's work, and a tracing object that records nothing. */
import { describeError } from './log.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface TraceSpan {
  /**
   * Value of the `traceparent` header in calls to other services (W3C Trace Context); undefined
   * while tracing is off.
   */
  readonly traceparent: string | undefined;
  set(attributes: SpanAttributes): void;
  /** @param failure description of the failure, if any */
  end(failure?: string): void;
}

export interface Tracing {
  /** Starts a span, as a child of `parent` if given. */
  start(name: string, attributes: SpanAttributes, parent?: TraceSpan): TraceSpan;
  /** Sends the remaining spans, and stops tracing. */
  stop(): Promise<void>;
}

const NO_SPAN: TraceSpan = { traceparent: undefined, set: () => {}, end: () => {} };

export const NO_TRACING: Tracing = { start: () => NO_SPAN, stop: () => Promise.resolve() };

/** Runs the work and returns its result, then ends the span, with the error if the work failed. */
export async function runInSpan<T>(span: TraceSpan, work: () => T | Promise<T>): Promise<T> {
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end(describeError(error));
    throw error;
  }
}
