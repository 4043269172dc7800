/** Looks at all nodes of a chain from time to time, and says in the log how they do. */
import type { Log } from '../../base/log.ts';
import type { AnyProvider } from './standing.ts';

/** Looks at all, also at those that are out; answers with the way to stop it. */
export function survey(
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
          return (await each.readHead()).number;
        } catch {
          // The provider has noted it.
          return undefined;
        }
      }),
    );
    const best = Math.max(...heads.filter((head) => head !== undefined));
    for (const [n, head] of heads.entries()) {
      if (head !== undefined) all[n]!.compare(best - head);
    }
    onLook();
    isLooking = false;
  };
  const timer = setInterval(() => void look(), everyMs);
  return () => clearInterval(timer);
}

/** Says in the log which of them were set back, and which are back, since it was last asked. */
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
      if (state === 'good') log.info('provider back', fields);
      else log.warn('provider set back', fields);
    }
  };
}
