/**
 * Says in the ledger which receivers are sent nothing for a while, for those who ask or watch. Each process
 * that delivers judges receivers by itself, in memory (`breaker.ts`); what the ledger has is what the last
 * of them said. The other way round it follows the ledger where that has an earlier end than it said
 * itself: somebody sent a delivery again by hand, corrected the URL, or another process found the receiver
 * back.
 */
import { type Log, describeError } from '../../base/log.ts';
import type { Store } from '../../store/store.ts';
import type { Breaker, Spell } from './breaker.ts';

export interface Sparing {
  start(): Promise<void>;
  /** How a receiver is doing now: written down where that is news. Undefined where all is well. */
  note(streamId: string, breaker: Breaker | undefined): Promise<void>;
  stop(): Promise<void>;
}

/** Who is spared for less is not told of: it is over before anybody looks. */
const SHORTEST_MS = 5_000;
/** Of two ends that are no further apart the first is good enough: many answers come with a 429 at once. */
const SAME_MS = 1_000;
const LOOK_MS = 1_000;

interface Told {
  breaker: Breaker;
  /** As it was told, by the clock of breakers. */
  spell: Spell;
  /** Unix milliseconds, as the ledger has it; undefined while it is being written. */
  until: number | undefined;
}

export function createSparing({
  store,
  log,
  onHastened,
}: {
  store: Pick<Store, 'engine' | 'listSpared' | 'spareStream' | 'endSparing'>;
  log: Log;
  /** Some receiver may be asked earlier than it was. */
  onHastened(): void;
}): Sparing {
  const told = new Map<string, Told>();
  let looker: NodeJS.Timeout | undefined;
  let isStopped = false;
  /** One write after the other, so that what is said last is what stands there. */
  let writing: Promise<unknown> = Promise.resolve();
  const write = (work: () => Promise<unknown>): Promise<void> => {
    const written = writing.then(work).then(
      () => {},
      (error: unknown) => {
        log.warn('cannot say which receivers are spared', { error: describeError(error) });
      },
    );
    writing = written;
    return written;
  };

  const look = async (): Promise<void> => {
    const now = performance.now();
    const asked = [...told].filter(
      ([, { until, spell }]) => until !== undefined && spell.until > now,
    );
    if (asked.length === 0) return;
    const leftMsOf = new Map(
      (await store.listSpared()).map(({ streamId, until, leftMs }) => [
        streamId,
        { until, leftMs },
      ]),
    );
    for (const [streamId, each] of asked) {
      const kept = leftMsOf.get(streamId) ?? { until: 0, leftMs: 0 };
      // What was said since this was asked is newer than the answer.
      if (told.get(streamId) !== each || kept.until >= each.until!) continue;
      each.breaker.hasten(performance.now() + kept.leftMs);
      each.spell.until = performance.now() + kept.leftMs;
      each.until = kept.until;
      onHastened();
    }
  };

  return {
    async start() {
      // One process owns a SQLite ledger: it begins with good faith in everybody.
      if (store.engine === 'sqlite') {
        await store.endSparing((await store.listSpared()).map(({ streamId }) => streamId));
      }
      looker = setInterval(() => void look().catch(() => {}), LOOK_MS);
    },
    async note(streamId, breaker) {
      if (isStopped) return;
      const now = performance.now();
      const spell = breaker?.spell(now);
      const known = told.get(streamId);
      if (breaker === undefined || spell === undefined) {
        if (known === undefined) return;
        told.delete(streamId);
        await write(() => store.endSparing([streamId]));
        return;
      }
      const isSame = known !== undefined && Math.abs(spell.until - known.spell.until) < SAME_MS;
      if (isSame || (known === undefined && spell.until - now < SHORTEST_MS)) return;
      const news: Told = { breaker, spell, until: undefined };
      told.set(streamId, news);
      await write(async () => {
        news.until = await store.spareStream(streamId, {
          reason: spell.reason,
          agoMs: Math.round(now - spell.since),
          forMs: Math.round(spell.until - now),
        });
      });
    },
    async stop() {
      isStopped = true;
      clearInterval(looker);
      await write(() => store.endSparing([...told.keys()]));
    },
  };
}
