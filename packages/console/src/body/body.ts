/**
 * Parses and queries webhook bodies: short ones on the page, long ones in a worker, so that parsing
 * does not block the page.
 */
import { useEffect, useId, useMemo, useState } from 'react';
import { createBodyReader, type BodyReader } from './bodyReader.ts';
import {
  dropBody,
  LONG_CHARACTERS,
  readBody,
  type WorkerBody,
  type SentBody,
} from './bodyWorker.ts';
import { parseJson } from './json.ts';

/** A body that the page or the worker has parsed. */
export type Body = { reader: BodyReader } | WorkerBody;

export const bodyOf = (value: unknown): Body => ({ reader: createBodyReader(value) });

/**
 * Parses a body.
 * @returns undefined while the worker parses; null if the body is not JSON.
 */
export function useBody(sent: SentBody): Body | null | undefined {
  const isHere = typeof sent === 'string' && sent.length <= LONG_CHARACTERS;
  const near = useMemo(() => {
    const parsed = isHere ? parseJson(sent) : null;
    return parsed === null ? null : bodyOf(parsed.value);
  }, [sent, isHere]);
  const [far, setFar] = useState<{ sent: string; body: Body | null }>();
  const of = useId();
  useEffect(() => {
    if (isHere || typeof sent !== 'string') return undefined;
    void readBody(of, sent).then((read) =>
      setFar({ sent, body: typeof read === 'string' ? null : read }),
    );
    return () => dropBody(of);
  }, [sent, isHere, of]);
  if (typeof sent !== 'string') return sent;
  return isHere ? near : far?.sent === sent ? far.body : undefined;
}

/**
 * Queries a body: synchronously if the page parsed it, otherwise in the worker. Until the worker
 * responds, returns the previous result or, at first, the one in `body.first`.
 */
export function useAnswer<What extends keyof BodyReader>(
  body: Body,
  what: What,
  ...args: Parameters<BodyReader[What]>
): ReturnType<BodyReader[What]> | undefined {
  type Answer = ReturnType<BodyReader[What]>;
  const [far, setFar] = useState<Answer>();
  // oxlint-disable react/exhaustive-deps -- the arguments are listed one by one
  const near = useMemo(
    () =>
      'reader' in body
        ? (body.reader[what] as (...parts: typeof args) => Answer)(...args)
        : undefined,
    [body, what, ...args],
  );
  useEffect(() => {
    if ('reader' in body) return undefined;
    let isCurrent = true;
    void body.ask({ what, args }).then((answer) => {
      if (isCurrent) setFar(() => answer as Answer);
    });
    return () => {
      isCurrent = false;
    };
  }, [body, what, ...args]);
  // oxlint-enable react/exhaustive-deps
  return 'reader' in body ? near : (far ?? body.first[what]);
}
