/** Reads a long body beside the page, and answers questions about it. */
import type { BodyAnswer, BodyMessage } from './body.ts';
import { createBodyReader, type BodyReader } from './bodyReader.ts';
import { parseJson } from './json.ts';

// The library for workers and that for pages exclude each other, so it is said here.
const worker = globalThis as unknown as {
  addEventListener: (type: 'message', listener: (event: MessageEvent<BodyMessage>) => void) => void;
  postMessage: (message: BodyAnswer) => void;
};

let reader: BodyReader | undefined;

worker.addEventListener('message', ({ data }) => {
  const { id } = data;
  if ('text' in data) {
    const parsed = parseJson(data.text);
    reader = parsed === null ? undefined : createBodyReader(parsed.value);
    worker.postMessage({ id, answer: parsed !== null });
  } else if (reader !== undefined) {
    const answer = (reader[data.what] as (...args: unknown[]) => unknown)(...data.args);
    worker.postMessage({ id, answer });
  }
});
