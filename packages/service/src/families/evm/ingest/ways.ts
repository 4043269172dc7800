/**
 * Asks a node the same question in several ways, and remembers which ways the node refuses. An
 * error decides only the order of the ways, not whether the data is reached.
 */
import { SourceError, isOfKind } from '../../../ingest/source.ts';

/** One way to ask a question. */
export interface Way<T> {
  /** Identifies the way among those of its question. */
  name: string;
  /** @throws SourceError if the node can't answer this way */
  ask(): Promise<T>;
}

export interface Ways<Node extends object> {
  /**
   * Returns the first good answer. If no way gives one, returns the last answer; if there is none,
   * throws the first error. A rate limit or an outage ends the
   * question at once.
   *
   * @param isGood returns whether the answer needs no second opinion. Default: every answer is good
   */
  ask<T>(
    node: Node,
    question: string,
    ways: readonly Way<T>[],
    isGood?: (answer: T) => boolean,
  ): Promise<T>;
  /** Retires a way whose answers at this node turned out to be wrong. */
  retire(node: Node, question: string, way: string): void;
  /** Returns whether the node currently refuses this way. */
  isRetired(node: Node, question: string, way: string): boolean;
}

/** Time after which a retired way is tried again. */
const RETIRED_MS = 3_600_000;
/** Number of refusals in a row that retire a way that worked before. */
const REFUSALS = 3;

interface Record {
  hasWorked: boolean;
  refusals: number;
  retiredUntil: number;
}

/** @param now monotonic clock in milliseconds; tests pass their own */
export function createWays<Node extends object>(
  now: () => number = () => performance.now(),
): Ways<Node> {
  const nodes = new WeakMap<Node, Map<string, Record>>();

  const recordOf = (node: Node, question: string, way: string): Record => {
    const records = nodes.get(node) ?? new Map<string, Record>();
    nodes.set(node, records);
    const key = `${question} ${way}`;
    const record = records.get(key) ?? { hasWorked: false, refusals: 0, retiredUntil: 0 };
    records.set(key, record);
    return record;
  };
  const isRetired = (record: Record): boolean => now() < record.retiredUntil;
  const retire = (record: Record): void => {
    record.retiredUntil = now() + RETIRED_MS;
    record.refusals = 0;
  };

  const noteRefusal = (record: Record, error: SourceError): void => {
    if (isPassing(error)) return;
    record.refusals++;
    const isLimit = error.kind === 'rate-limited';
    // A node that works otherwise may refuse one way with the code of a rate limit.
    if (isLimit && record.hasWorked) return;
    const isNew = !record.hasWorked && !isLimit;
    if (isNew || error.kind === 'unsupported' || record.refusals >= REFUSALS) retire(record);
  };

  return {
    async ask<T>(
      node: Node,
      question: string,
      ways: readonly Way<T>[],
      isGood: (answer: T) => boolean = () => true,
    ) {
      const known = ways.map((way) => ({ way, record: recordOf(node, question, way.name) }));
      const open = known.filter(({ record }) => !isRetired(record));
      let answered: { answer: T } | undefined;
      let failure: SourceError | undefined;
      for (const { way, record } of open.length > 0 ? open : known) {
        try {
          const answer = await way.ask();
          record.hasWorked = true;
          record.refusals = 0;
          if (isGood(answer)) return answer;
          answered = { answer };
        } catch (error) {
          if (!(error instanceof SourceError)) throw error;
          noteRefusal(record, error);
          if (answered === undefined && isOfKind(error, 'rate-limited', 'unreachable')) throw error;
          failure ??= error;
        }
      }
      if (answered !== undefined) return answered.answer;
      throw failure!;
    },
    retire: (node, question, way) => retire(recordOf(node, question, way)),
    isRetired: (node, question, way) => isRetired(recordOf(node, question, way)),
  };
}

const INTERNAL_ERROR = -32603;

/**
 * Returns whether the same request may succeed soon, or for other blocks, so the error does not
 * condemn the way.
 */
const isPassing = (error: SourceError): boolean =>
  error.rpcCode === INTERNAL_ERROR ||
  isOfKind(error, 'missing', 'pruned', 'unreachable', 'too-large', 'inconsistent');
