/** Reads a long body beside the page, and answers questions about it. */
import type { BodyMessage } from './body.ts';
import { createBodyReader, type BodyReader } from './bodyReader.ts';
import { parseJson } from './json.ts';

// The library for workers and that for pages exclude each other, so it is said here.
const worker = globalThis as unknown as {
  addEventListener: (type: 'message', listener: (event: MessageEvent<BodyMessage>) => void) => void;
  postMessage: (message: unknown) => void;
};

let reader: BodyReader | undefined;

worker.addEventListener('message', ({ data }) => {
  if ('text' in data) {
    const parsed = parseJson(data.text);
    if (parsed !== null) reader = createBodyReader(parsed.value);
    worker.postMessage({ isJson: parsed !== null });
  } else if (reader !== undefined) {
    const answer = (reader[data.what] as (...args: unknown[]) => unknown)(...data.args);
    worker.postMessage({ id: data.id, answer });
  }
});
