/** Parses addresses off the main thread, which 100,000 lines would block. */
import type { NetworkType } from '@sluice/kit';
import { parseAddressList } from '@sluice/kit/operator';

// The type is declared here, because the type libraries of workers and pages conflict.
const worker = globalThis as unknown as {
  addEventListener: (
    type: 'message',
    listener: (event: MessageEvent<{ text: string; family: NetworkType }>) => void,
  ) => void;
  postMessage: (message: unknown) => void;
};

worker.addEventListener('message', ({ data: { text, family } }) => {
  worker.postMessage(parseAddressList(text, family));
});
