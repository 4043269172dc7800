/** Worker that fetches webhook bodies, keeps long JSON ones, and runs queries on them. */
import {
  createBodyReader,
  firstAnswersOf,
  type BodyReader,
  type FirstAnswers,
} from './bodyReader.ts';
import {
  LONG_CHARACTERS,
  type BodyAnswer,
  type BodyMessage,
  type BodyQuestion,
} from './bodyWorker.ts';
import { parseJson } from './json.ts';

// TypeScript's worker and DOM libraries conflict, so this file declares the global scope itself.
const worker = globalThis as unknown as {
  addEventListener: (type: 'message', listener: (event: MessageEvent<BodyMessage>) => void) => void;
  postMessage: (message: BodyAnswer) => void;
};

const ANSWERED_WITHIN_MS = 30_000;

const bodies = new Map<string, { text: string; reader: BodyReader }>();
const fetches = new Map<number, AbortController>();

worker.addEventListener('message', ({ data }) => {
  if ('abort' in data) fetches.get(data.abort)?.abort();
  else if ('drop' in data) bodies.delete(data.drop);
  else {
    const { id, of } = data;
    const respond = (answer: unknown): void => worker.postMessage({ id, answer });
    if ('what' in data) respond(answerOf(of, data));
    else if ('text' in data) respond(read(of, data.text));
    else
      void fetchText(id, data.url).then((text) => respond(text === null ? null : read(of, text)));
  }
});

worker.postMessage({ id: 0, answer: 'started' });

function answerOf(of: string, question: BodyQuestion): unknown {
  const body = bodies.get(of);
  // The body was dropped before this query arrived.
  if (body === undefined) return undefined;
  if (question.what === 'text') return body.text;
  return (body.reader[question.what] as (...args: readonly unknown[]) => unknown)(...question.args);
}

async function fetchText(id: number, url: string): Promise<string | null> {
  const controller = new AbortController();
  fetches.set(id, controller);
  try {
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(ANSWERED_WITHIN_MS)]);
    const response = await fetch(url, { signal });
    // Decodes the complete response in one call, because `text()` decodes each chunk separately,
    // which is slower.
    return response.ok ? new TextDecoder().decode(await response.arrayBuffer()) : null;
  } catch {
    return null;
  } finally {
    fetches.delete(id);
  }
}

/** Keeps a long JSON body and returns its first answers; returns the text of any other body. */
function read(of: string, text: string): FirstAnswers | string {
  const parsed = text.length > LONG_CHARACTERS ? parseJson(text) : null;
  if (parsed === null) return text;
  const reader = createBodyReader(parsed.value);
  bodies.set(of, { text, reader });
  return firstAnswersOf(reader);
}
