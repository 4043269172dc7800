import type { NetworkType } from '@sluice/kit';
import type { AddressList } from '@sluice/kit/operator';
import { useEffect, useState } from 'react';

/** Pause in typing after which the list is parsed. */
const REST_MS = 150;

/**
 * Parses the text in a worker: typed text after a pause, a file at once. Returns null for empty
 * text and before the first result.
 */
export function useAddressList(
  text: string,
  family: NetworkType,
  isTyped: boolean,
): AddressList | null {
  const [list, setList] = useState<AddressList | null>(null);
  const isEmpty = text.trim() === '';
  useEffect(() => {
    if (isEmpty) return undefined;
    const worker = new Worker(new URL('./addressList.worker.ts', import.meta.url), {
      type: 'module',
    });
    worker.addEventListener('message', ({ data }: MessageEvent<AddressList>) => setList(data));
    const timer = setTimeout(() => worker.postMessage({ text, family }), isTyped ? REST_MS : 0);
    return () => {
      clearTimeout(timer);
      worker.terminate();
    };
  }, [text, family, isTyped, isEmpty]);
  return isEmpty ? null : list;
}
