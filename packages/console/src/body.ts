/** Bodies of webhooks: short ones are read here, long ones in a worker, which the page does not wait for. */
import { useEffect, useMemo, useState } from 'react';
import { createBodyReader, type BodyReader } from './bodyReader.ts';
import { parseJson } from './json.ts';

/** From here on reading would hold the page up for more than a frame. */
const LONG_CHARACTERS = 1_000_000;

/** A question about the text that was read last. */
interface BodyQuestion {
  id: number;
  what: keyof BodyReader;
  args: readonly unknown[];
}

/** A text to read is answered by whether it is JSON. */
export type BodyMessage = { id: number; text: string } | BodyQuestion;

export interface BodyAnswer {
  id: number;
  answer: unknown;
}

type Ask = (what: keyof BodyReader, args: readonly unknown[]) => Promise<unknown>;

/** One that was read, here or elsewhere. */
export type Body = { reader: BodyReader } | { ask: Ask };

/** A body that is at hand as a value. */
export const bodyOf = (value: unknown): Body => ({ reader: createBodyReader(value) });

/** @returns undefined while it is being read, null where it is no JSON. */
export function useBody(text: string): Body | null | undefined {
  const isLong = text.length > LONG_CHARACTERS;
  const [far, setFar] = useState<{ text: string; body: Body | null }>();
  const near = useMemo(() => {
    const parsed = isLong ? null : parseJson(text);
    return parsed === null ? null : bodyOf(parsed.value);
  }, [text, isLong]);
  useEffect(() => {
    if (!isLong) return undefined;
    return readElsewhere(text, (body) => setFar({ text, body }));
  }, [text, isLong]);
  return isLong ? (far?.text === text ? far.body : undefined) : near;
}

/** One that waits for the next body: it is started, and its code is warm. */
let idleWorker: Worker | undefined;
let asked = 0;

/** @returns what ends it. */
function readElsewhere(text: string, onRead: (body: Body | null) => void): () => void {
  const worker =
    idleWorker ?? new Worker(new URL('./body.worker.ts', import.meta.url), { type: 'module' });
  idleWorker = undefined;
  const waiting = new Map<number, (answer: unknown) => void>();
  const post = (message: BodyMessage): void => worker.postMessage(message);
  const ask: Ask = (what, args) =>
    new Promise((resolve) => {
      const id = ++asked;
      waiting.set(id, resolve);
      post({ id, what, args });
    });
  const onMessage = ({ data: { id, answer } }: MessageEvent<BodyAnswer>): void => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  };
  worker.addEventListener('message', onMessage);
  const id = ++asked;
  waiting.set(id, (isJson) => onRead(isJson === true ? { ask } : null));
  post({ id, text });
  return () => {
    worker.removeEventListener('message', onMessage);
    // The next would wait for what nobody wants to know any more.
    if (waiting.size > 0 || idleWorker !== undefined) {
      worker.terminate();
    } else {
      // In place of the text, which is let go.
      post({ id: ++asked, text: '' });
      idleWorker = worker;
    }
  };
}

/**
 * What a body answers: at once where it was read here, else as soon as it is known, and the answer
 * before until then.
 */
export function useAnswer<What extends keyof BodyReader>(
  body: Body,
  what: What,
  ...args: Parameters<BodyReader[What]>
): ReturnType<BodyReader[What]> | undefined {
  type Answer = ReturnType<BodyReader[What]>;
  const [far, setFar] = useState<Answer>();
  // oxlint-disable react/exhaustive-deps -- what is asked is its parts
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
    void body.ask(what, args).then((answer) => {
      if (isCurrent) setFar(() => answer as Answer);
    });
    return () => {
      isCurrent = false;
    };
  }, [body, what, ...args]);
  // oxlint-enable react/exhaustive-deps
  return 'reader' in body ? near : far;
}
