/**
 * Proves block headers: the hash of a block is the Keccak-256 hash of its RLP-encoded header fields
 * (Yellow Paper 4.4.3), so a node can't forge a field. Forks append fields; the layout of a header
 * with unknown fields is found by trial.
 */
import { setImmediate } from 'node:timers/promises';
import { type Json, showValue } from '../../../ingest/json.ts';
import { unknownFieldsOf } from './layout/headerFields.ts';
import { createHeaderTrial } from './layout/headerTrial.ts';
import type { Finding } from './normalize.ts';

export type HeaderProof =
  /** `encoded` is the bytes whose Keccak-256 hash is the block hash. */
  | { result: 'passed'; encoded: Buffer }
  /** All fields are understood, and they do not hash to the block hash. */
  | { result: 'failed' }
  /** No known or found layout covers the fields that `reason` names. */
  | { result: 'not-applicable'; reason: string };

/** Returns what the check of a header found; nothing if it passed or was skipped. */
export function toFindings(proof: HeaderProof | undefined): Finding[] {
  if (proof === undefined || proof.result === 'passed') return [];
  const reason =
    proof.result === 'failed' ? 'the block hash is not the hash of the header' : proof.reason;
  return [{ code: 'header-hash', result: proof.result, reason }];
}

export interface HeaderProver {
  /**
   * Proves a header by the layouts known so far. With unknown fields, it does not fail, because
   * their layout may still be found.
   */
  check(header: Json): HeaderProof;
  /**
   * Proves a header; if it has unknown fields, searches for their layout.
   *
   * @param node name of the node that returned the header; its failed searches are limited
   */
  prove(header: Json, node: string): Promise<HeaderProof>;
}

/** Unknown fields that were hashed, in their order. */
interface FoundLayout {
  names: readonly string[];
  usedAt: number;
}

/** Matches names that are shown; others may repeat the key in the node's URL. */
const NAME = /^[A-Za-z][A-Za-z0-9]{0,39}$/;
const SLICE_MS = 5;
/** Pause of a node after a failed search, and first pause for the fields of that search. */
const PAUSE_MS = 60_000;
/** Longest pause for the fields of a node whose searches fail again and again. */
const MAX_PAUSE_MS = 3_600_000;
/** Time after which an unused layout is forgotten. */
const FORGET_MS = 86_400_000;
const MAX_LAYOUTS = 16;
/** Maximum number of remembered field names, and of remembered pauses. */
const MAX_REMEMBERED = 1_000;

/** Creates a prover for the headers of one chain. It remembers layouts and failed searches. */
export function createHeaderProver(): HeaderProver {
  let layouts: FoundLayout[] = [];
  /** Names of unknown fields in proven headers, hashed or not. */
  const understood = new Set<string>();
  /** Searches that failed, by node, and by node and field names. */
  const pauses = new Map<string, { until: number; failures: number }>();
  /** Searches run one after another, so that blocks read in parallel share the result. */
  let running: Promise<unknown> = Promise.resolve();

  const pass = (unknown: readonly string[], encoded: Buffer): HeaderProof => {
    for (const name of unknown) if (understood.size < MAX_REMEMBERED) understood.add(name);
    return { result: 'passed', encoded };
  };

  const check = (header: Json): HeaderProof => {
    const unknown = unknownFieldsOf(header);
    const trial = createHeaderTrial(header);
    const known = trial.hashKnown();
    if (known !== undefined) return pass(unknown, known);
    if (unknown.length === 0) return { result: 'failed' };
    for (const layout of layouts) {
      const found = trial.hashWith(layout.names);
      if (found === undefined) continue;
      layout.usedAt = Date.now();
      return pass(unknown, found);
    }
    const shown = unknown.map((name) => (NAME.test(name) ? name : showValue(name)));
    const reason = `unknown header fields ${shown.toSorted().join(', ')}`;
    return { result: 'not-applicable', reason };
  };

  const remember = (names: readonly string[]): void => {
    const now = Date.now();
    const used = layouts.filter(({ usedAt }) => now - usedAt < FORGET_MS);
    layouts = [{ names, usedAt: now }, ...used].slice(0, MAX_LAYOUTS);
  };

  const pause = (key: string, longest: number): void => {
    const failures = (pauses.get(key)?.failures ?? 0) + 1;
    if (pauses.size >= MAX_REMEMBERED) pauses.clear();
    const ms = Math.min(PAUSE_MS * 2 ** (failures - 1), longest);
    pauses.set(key, { until: Date.now() + ms, failures });
  };

  const search = async (header: Json, node: string): Promise<HeaderProof> => {
    const known = check(header);
    if (known.result !== 'not-applicable') return known;
    const unknown = unknownFieldsOf(header);
    const failed: HeaderProof = unknown.every((name) => understood.has(name))
      ? { result: 'failed' }
      : known;
    const fields = JSON.stringify([node, ...unknown.toSorted()]);
    if ([node, fields].some((key) => Date.now() < (pauses.get(key)?.until ?? 0))) return failed;
    const found = await findLayout(header, unknown);
    // A node that invents blocks can have any number of layouts found.
    if (found === undefined || layouts.length === MAX_LAYOUTS) pause(node, PAUSE_MS);
    if (found === undefined) {
      pause(fields, MAX_PAUSE_MS);
      return failed;
    }
    remember(found.names);
    return pass(unknown, found.encoded);
  };

  return {
    check,
    async prove(header, node) {
      const known = check(header);
      if (known.result !== 'not-applicable') return known;
      const next = running.then(() => search(header, node));
      running = next.catch(() => undefined);
      return next;
    },
  };
}

/** Searches for the unknown fields that are hashed, in slices of 5 ms. */
async function findLayout(
  header: Json,
  unknown: readonly string[],
): Promise<{ names: readonly string[]; encoded: Buffer } | undefined> {
  let start = performance.now();
  for (const { names, encoded } of createHeaderTrial(header).search(unknown)) {
    if (encoded !== undefined) return { names, encoded };
    if (performance.now() - start < SLICE_MS) continue;
    await setImmediate();
    start = performance.now();
  }
  return undefined;
}
