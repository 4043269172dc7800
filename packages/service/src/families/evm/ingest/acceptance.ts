/**
 * Decides which block is accepted, on the best evidence that the nodes offer. A proven block is
 * accepted from any node. Otherwise, the witnesses must agree, or the only witness must return the
 * same content for a while. What the evidence does not cover is marked on the block.
 */
import type { ChainTrust } from '@sluice/kit/contract';
import { UNVERIFIED_CODES } from '@sluice/kit/contract';
import type { Log } from '../../../base/log.ts';
import type { BlockRef, Unverified } from '../../../store/blocks/contract.ts';
import { SourceError, type SourceErrorKind } from '../../../ingest/source.ts';
import { type Answer, isFailed } from './answers.ts';
import type { Providers } from '../../../ingest/nodes/providers.ts';
import { adviceFor, isStrict } from './headerRules.ts';
import type { Network } from './networks.ts';
import type { Finding, Parts } from './normalize.ts';
import type { Provider } from './provider.ts';
import type { Settling } from './settling.ts';
import { flagOf } from '../../../config/settings.ts';

export type AcceptedParts = Parts & Pick<Answer, 'proofs'> & { unverified?: Unverified };

/**
 * @param ask calls back with one node after another until a call returns an answer
 * @param read reads the parts from this node; for the first node, may use a block that another
 * node returned
 * @throws SourceError `settling` if the block must wait, and other kinds if no answer is accepted
 */
export type AcceptBlock = (
  header: BlockRef,
  ask: (read: (from: Provider) => Promise<Answer | undefined>) => Promise<Answer | undefined>,
  read: (from: Provider, isFirst: boolean) => Promise<Answer>,
) => Promise<AcceptedParts>;

/**
 * Wait before a block with missing parts is accepted even if the witnesses agree: nodes may have a
 * new block before they have all of its receipts.
 */
const RECHECK_MS = 1_000;

export function createAcceptance({
  chain,
  trust,
  network,
  settleMs,
  settling,
  nodes: { operatorOf, witnesses },
  log,
}: {
  chain: string;
  trust: ChainTrust;
  network: Network;
  /** Milliseconds for which a single witness must return the same content. */
  settleMs: number;
  settling: Pick<Settling, 'remainingMs'>;
  nodes: Pick<Providers<Provider>, 'operatorOf' | 'witnesses'>;
  log: Log;
}): AcceptBlock {
  const logged = new Set<string>();
  const rejectsAll = isStrict(trust, network);

  const unexplained = (answer: Answer): Finding[] => findUnexplained(answer, network);

  /** Returns whether an unproven answer is enough by itself. */
  const needsNoOpinion = (answer: Answer, from: Provider): boolean => {
    if (trust === 'node') return unexplained(answer).length === 0;
    return !rejectsAll && unexplained(answer).length === 0 && witnesses(from).length === 0;
  };

  /** Returns whether the answers of the nodes so far, the newest of which is `from`, are enough. */
  const isEnough = (heard: Heard, from: Provider): boolean => {
    if (needsNoOpinion(heard.get(from)!, from)) return true;
    const { isUnanimous, operators, answer } = findMajority(heard, operatorOf);
    return isUnanimous && operators > 1 && unexplained(answer).length === 0;
  };

  /** Returns the time for which the content must have been the same, in milliseconds. */
  const waitOf = (answer: Answer, operators: number): number => {
    const open = unexplained(answer);
    if (operators < 2 && trust !== 'node' && (open.length > 0 || rejectsAll)) return settleMs;
    return open.some(({ code }) => isMissing(code)) ? RECHECK_MS : 0;
  };

  const mark = (header: BlockRef, answer: Answer, operators: number): Unverified | undefined => {
    const unverified = toUnverified(answer, operators, network);
    if (unverified === undefined) return undefined;
    const reasons = [...new Set(answer.findings.map(({ reason }) => reason))].join('; ');
    const key = unverified.codes.join(', ');
    if (!logged.has(key)) {
      logged.add(key);
      log.warn('unverified block accepted; later ones with these codes are not logged', {
        chain,
        block: header.number,
        codes: key,
        reasons,
        witnesses: operators,
      });
    }
    return unverified;
  };

  return async (header, ask, read) => {
    for (;;) {
      const { proven, heard } = await readAnswers(ask, read, isEnough);
      if (proven !== undefined) {
        for (const [from, answer] of heard) blame(from, answer);
        return toParts(proven);
      }
      const {
        answer,
        operators,
        nodes: agreeing,
        isUnanimous,
        isExplained,
      } = findMajority(heard, operatorOf);
      if (rejectsAll) rejectUnproven(header, trust, answer);
      if (trust !== 'node' && !isUnanimous && !isExplained && operators < 2) {
        for (const [from, each] of heard) blame(from, each);
        throw new SourceError('disagreement', describeDisagreement(header, heard));
      }
      for (const [from, each] of heard) if (!agreeing.includes(from)) blame(from, each);
      const waitMs = waitOf(answer, operators);
      const remainingMs = settling.remainingMs(header, contentOf(answer), waitMs);
      if (remainingMs > RECHECK_MS) {
        throw new SourceError('settling', describeWait(header, chain, answer, waitMs), {
          retryAfterMs: remainingMs,
        });
      }
      if (remainingMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, remainingMs));
        continue;
      }
      if (unexplained(answer).length > 0) await checkPlace(header, agreeing);
      return toParts(answer, mark(header, answer, operators));
    }
  };
}

/** Unproven answers by node, in the order of the nodes. */
type Heard = ReadonlyMap<Provider, Answer>;

/**
 * Reads the block from one node after another, until an answer is proven or `isEnough`.
 *
 * @throws SourceError if no node answered
 */
export async function readAnswers(
  ask: Parameters<AcceptBlock>[1],
  read: Parameters<AcceptBlock>[2],
  isEnough: (heard: Heard, from: Provider) => boolean,
): Promise<{ proven: Answer | undefined; heard: Heard }> {
  const heard = new Map<Provider, Answer>();
  let proven: Answer | undefined;
  try {
    await ask(async (from) => {
      if (heard.has(from)) return undefined;
      const answer = await read(from, heard.size === 0);
      if (answer.isProven) return (proven = answer);
      heard.set(from, answer);
      return isEnough(heard, from) ? answer : undefined;
    });
  } catch (error) {
    if (heard.size === 0) throw error;
  }
  return { proven, heard };
}

const CODES = Object.keys(UNVERIFIED_CODES) as (keyof typeof UNVERIFIED_CODES)[];

/** Returns the failed checks that are not in the nature of the network. */
const findUnexplained = (
  { findings }: Answer,
  { deviations }: Pick<Network, 'deviations'>,
): Finding[] => findings.filter((each) => isFailed(each) && !deviations.includes(each.code));

/** Returns what the evidence for an answer does not cover; undefined if it covers everything. */
export function toUnverified(
  { findings, notes }: Answer,
  witnesses: number,
  { deviations }: Pick<Network, 'deviations'>,
): Unverified | undefined {
  const found = new Set([...findings.map(({ code }) => code), ...notes]);
  const codes = CODES.filter((code) => found.has(code));
  if (codes.length === 0) return undefined;
  const isUncertain = findings.some(
    (each) => isFailed(each) && (isMissing(each.code) || !deviations.includes(each.code)),
  );
  return { codes, witnesses, isUncertain };
}

export const toParts = (
  { logs, transactions, proofs }: Answer,
  unverified?: Unverified,
): AcceptedParts => ({
  logs,
  transactions,
  ...(proofs !== undefined && { proofs }),
  ...(unverified !== undefined && { unverified }),
});

/** Returns whether the check fails if parts of the block are missing. */
export const isMissing = (code: string): boolean => code === 'receipts' || code === 'bloom';

const kindOf = ({ code }: Finding): SourceErrorKind & ('missing' | 'inconsistent') =>
  isMissing(code) ? 'missing' : 'inconsistent';

/** Counts the failed check of a rejected answer against its node. */
function blame(from: Provider, { findings }: Answer): void {
  const first = findings.find(isFailed);
  if (first !== undefined) from.fault(kindOf(first));
}

/** Returns a log without its index, because chains and nodes count differently. */
const withoutIndex = ({ logIndex: _logIndex, ...log }: Parts['logs'][number]) => log;

/** Returns a transaction without its fee, because some nodes lack the fields that it follows from. */
const withoutFee = (transaction: Parts['transactions'][number]) => ({
  ...transaction,
  receipt: { ...transaction.receipt, fee: undefined },
});

/** The content of an answer, which the witnesses must agree on. */
export const contentOf = ({ logs, transactions }: Parts): string =>
  JSON.stringify({ logs: logs.map(withoutIndex), transactions: transactions.map(withoutFee) });

interface Decision {
  /** The answer with the fewest failed checks, among those with this content. */
  answer: Answer;
  nodes: Provider[];
  /** Number of operators whose nodes returned the content. */
  operators: number;
  /** True if no node returned other content. */
  isUnanimous: boolean;
  /** True if other answers show that they lack parts that this one has. */
  isExplained: boolean;
}

/** Returns the content that most operators returned. Without a majority, `operators` is 1. */
export function findMajority(heard: Heard, operatorOf: (node: Provider) => string): Decision {
  const groups = [...Map.groupBy(heard, ([, answer]) => contentOf(answer)).values()].map(
    (group) => ({
      nodes: group.map(([node]) => node),
      operators: new Set(group.map(([node]) => operatorOf(node))).size,
      answer: group
        .map(([, answer]) => answer)
        .reduce((a, b) => (failures(b) < failures(a) ? b : a)),
    }),
  );
  const [first, second] = groups.toSorted(
    (a, b) => b.operators - a.operators || failures(a.answer) - failures(b.answer),
  );
  const hasMajority = second === undefined || first!.operators > second.operators;
  const isUnanimous = second === undefined;
  const others = groups.filter((each) => each !== first);
  return {
    ...first!,
    operators: hasMajority ? first!.operators : 1,
    isUnanimous,
    isExplained: others.every(({ answer }) => lacksParts(answer, first!.answer)),
  };
}

const failures = ({ findings }: Answer): number => findings.filter(isFailed).length;

/**
 * Returns whether `less` shows by a failed check that it lacks parts, and has nothing that `more`
 * lacks.
 */
export function lacksParts(less: Answer, more: Answer): boolean {
  if (failures(more) > 0 || !less.findings.some((each) => isFailed(each) && isMissing(each.code))) {
    return false;
  }
  const idOf = (log: Answer['logs'][number]): string => JSON.stringify(withoutIndex(log));
  const logs = new Set(more.logs.map(idOf));
  const hashes = new Set(more.transactions.map(({ hash }) => hash));
  return (
    less.logs.every((log) => logs.has(idOf(log))) &&
    less.transactions.every(({ hash }) => hashes.has(hash))
  );
}

/** @throws SourceError if a check failed, or if nothing unproven is accepted */
function rejectUnproven({ number }: BlockRef, trust: ChainTrust, answer: Answer): void {
  const found =
    answer.findings.find(isFailed) ?? (trust === 'strict' ? answer.findings[0] : undefined);
  if (found === undefined && trust !== 'strict') return;
  const why = found?.reason ?? 'its transactions and receipts were not proven';
  throw new SourceError(
    found === undefined ? 'inconsistent' : kindOf(found),
    `block ${number} is not proven: ${why}${adviceFor(trust)}`,
  );
}

const describeDisagreement = ({ number }: BlockRef, heard: Heard): string => {
  const sides = [...heard].map(
    ([{ name }, { logs, transactions, findings }]) =>
      `${name} has ${logs.length} logs and ${transactions.length} transactions${
        findings.length === 0 ? '' : ` (${findings.map(({ reason }) => reason).join('; ')})`
      }`,
  );
  return `the providers return different content for block ${number}: ${sides.join(', ')}. Add another node to break the tie`;
};

function describeWait(
  { number }: BlockRef,
  chain: string,
  { findings }: Answer,
  waitMs: number,
): string {
  const why = findings.map(({ reason }) => reason).join('; ');
  return `block ${number} is not proven (${why}), and a single operator returned it. It is accepted and marked once the node has returned the same content for ${waitMs / 1_000} s; a node of another operator, added with ${flagOf('chains')} ${chain}=<rpcUrl>, decides at once`;
}

/**
 * Checks that the block is still the one at its height on these nodes. Nodes that switched to
 * another branch may agree only because they no longer have the block's receipts.
 */
async function checkPlace(header: BlockRef, nodes: readonly Provider[]): Promise<void> {
  const there = await Promise.all(nodes.map((node) => node.readHeaderAt(header.number)));
  const gone = there.findIndex((each) => each?.hash !== header.hash);
  if (gone < 0) return;
  throw new SourceError(
    'missing',
    `${nodes[gone]!.name}: block ${header.number} ${header.hash} is not the block at its height`,
  );
}
