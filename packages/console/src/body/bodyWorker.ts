/**
 * The worker for bodies of webhooks: it fetches them, hands short ones over, and keeps long ones to answer
 * what is asked about them, so that the page does not wait for their reading.
 */
import type { BodyReader, FirstAnswers } from './bodyReader.ts';

/** From here on reading would hold the page up for more than a frame. */
export const LONG_CHARACTERS = 1_000_000;

/** About one that the worker keeps: what its reader answers, and the very text. */
export type BodyQuestion = { what: keyof BodyReader; args: readonly unknown[] } | { what: 'text' };

/**
 * One to read is answered by {@link FirstAnswers} where it is long and JSON, so that the worker keeps
 * it; else by its text, or by null where none came.
 */
type BodyRequest = { url: string } | { text: string } | BodyQuestion;

/** To the worker: `of` is the name of the body, `id` that of the answer. */
export type BodyMessage =
  | ({ id: number; of: string } & BodyRequest)
  /** Nobody waits for this answer any more. */
  | { abort: number }
  /** Nobody asks about this body any more. */
  | { drop: string };

/** The first, of id 0, says that the worker has started. */
export interface BodyAnswer {
  id: number;
  answer: unknown;
}

/** One that the worker keeps. */
export interface FarBody {
  first: FirstAnswers;
  ask: (question: BodyQuestion) => Promise<unknown>;
}

/** As it was sent: a text, or what the worker keeps of a long one. */
export type SentBody = string | FarBody;

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
 * @param of what the worker calls it until {@link dropBody}.
 * @returns null where none came, or the worker is only starting: who asks the service itself gets it,
 * or learns why not.
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

/** Has a text read by the worker; it is handed back where it is no JSON. */
export const readBody = async (of: string, text: string): Promise<SentBody> =>
  toSentBody(of, await request(of, { text })) ?? text;

export const dropBody = (of: string): void =>
  worker?.postMessage({ drop: of } satisfies BodyMessage);
