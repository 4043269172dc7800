/** The error of an attempt without a complete response in time, which charts count separately. */

/** Start of the error of every attempt that timed out. */
export const TIMED_OUT = 'no complete response within';

export const describeTimeout = (limitMs: number): string => `${TIMED_OUT} ${limitMs / 1_000} s`;
