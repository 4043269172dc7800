/**
 * Checks the integrity of the ledger periodically, a small part at a time. A violation means a bug
 * in this service, or a write to the ledger by another program.
 */
import type { Log } from '../base/log.ts';
import {
  INVARIANTS,
  VIOLATIONS,
  type Invariant,
  type Violation,
  type ViolationKind,
} from '../store/integrity/contract.ts';
import type { Store } from '../store/store.ts';

export interface InvariantCheck {
  /** Runs one step of each check. */
  look(): Promise<void>;
  /**
   * Returns the number of current violations by kind: those that the last step of each check found
   * or confirmed.
   */
  counts(): Readonly<Record<ViolationKind, number>>;
}

/**
 * Maximum number of violations that are checked again until they are gone. If there are more, they
 * usually have a single cause.
 */
const REMEMBERED = 200;
const LOGGED = 20;

export function createInvariantCheck({
  store,
  log,
  keptMs,
}: {
  store: Store;
  log: Log;
  /** Age in milliseconds below which rows are never deleted. */
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
      log.error('integrity violation', { kind, subject, what });
    }
    if (fresh.length > LOGGED) {
      log.error('integrity violation', { more: fresh.length - LOGGED });
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
