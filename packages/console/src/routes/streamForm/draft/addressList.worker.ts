/** Reads a list of addresses beside the page: 100,000 lines would hold it up. */
import type { NetworkType } from '@sluice/kit';
import { parseAddressList } from './addressList.ts';

// The library for workers and that for pages exclude each other, so it is said here.
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
