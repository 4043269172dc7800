/**
 * Holds the ledger to its promises, from time to time and a little of it each time. What it finds is a
 * fault of ours, or of whoever wrote to the ledger: nothing the world does may bring it about.
 */
import type { Log } from '../base/log.ts';
import {
  INVARIANTS,
  VIOLATIONS,
  type Invariant,
  type Violation,
  type ViolationKind,
} from '../store/upkeep/contract.ts';
import type { Store } from '../store/store.ts';

export interface InvariantCheck {
  /** One look at each promise. */
  look(): Promise<void>;
  /** What is wrong as of the last look, by kind. */
  counts(): Readonly<Record<ViolationKind, number>>;
}

/** Looked at again each time until they are right; more of them are one fault. */
const REMEMBERED = 200;
const LOGGED = 20;

export function createInvariantCheck({
  store,
  log,
  keptMs,
}: {
  store: Store;
  log: Log;
  /** Nothing younger is ever forgotten. */
  keptMs: number;
}): InvariantCheck {
  const walks = new Map<Invariant, { after: string | undefined; found: Map<string, Violation> }>();

  const lookAt = async (invariant: Invariant): Promise<void> => {
    const { after, found: before } = walks.get(invariant) ?? { after: undefined, found: new Map() };
    const again = [...before.values()].slice(0, REMEMBERED).map(({ subject }) => subject);
    const { violations, next } = await store.findViolations(invariant, { keptMs, after, again });
    const found = new Map(violations.map((each) => [`${each.kind} ${each.subject}`, each]));
    const fresh = [...found].filter(([key]) => !before.has(key)).map(([, each]) => each);
    for (const { kind, subject, what } of fresh.slice(0, LOGGED)) {
      log.error('the ledger contradicts itself', { kind, subject, what });
    }
    if (fresh.length > LOGGED) {
      log.error('the ledger contradicts itself', { more: fresh.length - LOGGED });
    }
    walks.set(invariant, { after: next, found });
  };

  return {
    async look() {
      for (const invariant of INVARIANTS) await lookAt(invariant);
    },
    counts() {
      const counts = Object.fromEntries(VIOLATIONS.map((kind) => [kind, 0])) as Record<
        ViolationKind,
        number
      >;
      for (const { found } of walks.values()) {
        for (const { kind } of found.values()) counts[kind]++;
      }
      return counts;
    },
  };
}
