/** Compares all nodes of a chain periodically, and logs changes of their state. */
import type { Log } from '../../base/log.ts';
import type { AnyProvider } from './anyProvider.ts';

/**
 * Periodically compares the heads of all nodes that are not backed off, if there are several nodes.
 * Returns a function that stops the checks.
 */
export function surveyHeads(
  all: readonly AnyProvider[],
  admit: (provider: AnyProvider) => Promise<void>,
  onLook: () => void,
  everyMs: number,
): () => void {
  if (all.length === 1) return () => {};
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const heads = await Promise.all(
      all.map(async (each) => {
        if (each.restsUntil > 0) return undefined;
        try {
          await admit(each);
          return await each.readHead();
        } catch {
          return undefined;
        }
      }),
    );
    const known = heads.filter((head) => head !== undefined);
    const best = known.reduce((a, b) => (b.number > a.number ? b : a), known[0]!);
    for (const [n, head] of heads.entries()) {
      if (head === undefined) continue;
      const blocks = best.number - head.number;
      all[n]!.compare({ blocks, seconds: best.timestamp - head.timestamp });
    }
    onLook();
    isLooking = false;
  };
  const timer = setInterval(() => void look(), everyMs);
  return () => clearInterval(timer);
}

/** Returns a function that logs each provider whose state has changed since the last call. */
export function createStateLog(
  chain: string,
  log: Log,
): (all: readonly Pick<AnyProvider, 'name' | 'health'>[]) => void {
  const states = new Map<string, string>();
  return (all) => {
    for (const { name, health } of all) {
      const { state, message } = health();
      const before = states.get(name) ?? 'good';
      states.set(name, state);
      if (state === before) continue;
      const fields = { chain, provider: name, state, ...(message !== '' && { reason: message }) };
      if (state === 'good') log.info('provider recovered', fields);
      else log.warn('provider demoted', fields);
    }
  };
}
