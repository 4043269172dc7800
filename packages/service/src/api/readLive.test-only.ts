import type { LiveEvent } from '@sluice/kit/contract';
import type { Live } from './live.ts';

/**
 * Reads server-sent events as a browser would, and returns their ids and data. Resolves after the
 * greeting.
 */
export async function readLive(of: Live, lastEventId?: string) {
  const never = new AbortController().signal;
  const reader = of
    .open(
      lastEventId,
      'key',
      () => never,
      () => {},
    )
    .getReader();
  const decoder = new TextDecoder();
  const events: { id: string; event: LiveEvent }[] = [];
  let firstId = '';
  const take = async (): Promise<boolean> => {
    const { value, done } = await reader.read();
    for (const block of decoder.decode(value, { stream: true }).split('\n\n')) {
      const id = /^id: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (id !== undefined && data !== undefined)
        events.push({ id, event: JSON.parse(data) as LiveEvent });
      else if (id !== undefined) firstId = id;
    }
    return !done;
  };
  await take();
  return {
    events,
    firstId: () => firstId,
    async until(count: number) {
      while (events.length < count && (await take())) {
        // `take` adds to `events`.
      }
      return events;
    },
    cancel: () => reader.cancel(),
  };
}
