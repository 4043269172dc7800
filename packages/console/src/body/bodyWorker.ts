/**
 * Client of the worker that fetches webhook bodies. The worker returns short bodies and keeps long
 * ones to run queries on them, so that parsing does not block the page.
 */
import type { BodyReader, FirstAnswers } from './bodyReader.ts';

/**
 * Maximum length of a body that the page parses itself, in characters. A longer body would block
 * the page for more than a frame.
 */
export const LONG_CHARACTERS = 1_000_000;

/** A query on a body that the worker keeps: a method of its reader, or its text. */
export type BodyQuestion = { what: keyof BodyReader; args: readonly unknown[] } | { what: 'text' };

/**
 * A request to load a body, or a query on a loaded one. When loading, the worker keeps a long JSON
 * body and returns {@link FirstAnswers}; it returns the text of any other body, or null if the
 * request failed.
 */
type BodyRequest = { url: string } | { text: string } | BodyQuestion;

/** A message to the worker: `of` identifies the body, and `id` identifies the response. */
export type BodyMessage =
  | ({ id: number; of: string } & BodyRequest)
  /** The response with this id is no longer needed. */
  | { abort: number }
  /** The body with this id is no longer needed. */
  | { drop: string };

/** A response of the worker. The first one, with id 0, reports that the worker has started. */
export interface BodyAnswer {
  id: number;
  answer: unknown;
}

/** A long JSON body that the worker keeps. */
export interface WorkerBody {
  first: FirstAnswers;
  ask: (question: BodyQuestion) => Promise<unknown>;
}

/** The text of a body, or a long JSON body that the worker keeps. */
export type SentBody = string | WorkerBody;

export const readText = async (sent: SentBody): Promise<string> =>
  typeof sent === 'string' ? sent : ((await sent.ask({ what: 'text' })) as string);

let worker: Worker | undefined;
let isReady = false;
let requests = 0;
const waiting = new Map<number, (answer: unknown) => void>([[0, () => (isReady = true)]]);

export function startBodyWorker(): Worker {
  if (worker !== undefined) return worker;
  worker = new Worker(new URL('./body.worker.ts', import.meta.url), { type: 'module' });
  worker.addEventListener('message', ({ data: { id, answer } }: MessageEvent<BodyAnswer>) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  return worker;
}

function request(of: string, what: BodyRequest, signal?: AbortSignal): Promise<unknown> {
  const to = startBodyWorker();
  const post = (message: BodyMessage): void => to.postMessage(message);
  return new Promise((resolve) => {
    const id = ++requests;
    waiting.set(id, resolve);
    post({ id, of, ...what });
    signal?.addEventListener('abort', () => post({ abort: id }), { once: true });
  });
}

const toSentBody = (of: string, answer: unknown): SentBody | null =>
  answer === null || typeof answer === 'string'
    ? answer
    : { first: answer as FirstAnswers, ask: (question) => request(of, question) };

/**
 * Fetches a body in the worker.
 *
 * @param of identifies the body in the worker until {@link dropBody} is called.
 * @returns null if the request failed or the worker is still starting. The caller then requests the
 * body directly.
 */
export async function fetchBody(
  of: string,
  url: string,
  signal: AbortSignal,
): Promise<SentBody | null> {
  startBodyWorker();
  const answer = isReady ? await request(of, { url }, signal) : null;
  signal.throwIfAborted();
  return toSentBody(of, answer);
}

/** Parses a long JSON text in the worker; returns any other text unchanged. */
export const readBody = async (of: string, text: string): Promise<SentBody> =>
  toSentBody(of, await request(of, { text })) ?? text;

export const dropBody = (of: string): void =>
  worker?.postMessage({ drop: of } satisfies BodyMessage);
