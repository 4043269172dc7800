/**
 * Handles blocks that can't be fully verified. Some chains break Ethereum's rules in ways that do
 * not prove a block wrong; decision 0003 defines which blocks are accepted and how they are marked.
 */
import type { Log } from '../../base/log.ts';
import type { BlockRef, Unverified } from '../../store/blocks/contract.ts';
import type { CheckedParts, Doubt } from './blockParts.ts';
import type { Provider } from './provider.ts';
import { SourceError } from '../source.ts';

type Verified = Omit<CheckedParts, 'doubts'> & { unverified?: Unverified };

/**
 * Reads a block's parts from one node after another until one returns them without doubts. If no
 * node does, returns the most common version if at least two nodes returned it and no other version
 * is as common, or the only version if unverified blocks are accepted.
 *
 * @param ask calls back with one node after another until a call returns parts
 * @param read reads the parts from this node; for the first node, may check them against a block
 * that another node returned
 * @throws SourceError if no version is accepted
 */
export type Verify = (
  header: BlockRef,
  ask: (
    read: (from: Provider) => Promise<CheckedParts | undefined>,
  ) => Promise<CheckedParts | undefined>,
  read: (from: Provider, isFirst: boolean) => Promise<CheckedParts>,
) => Promise<Verified>;

/**
 * Wait before a block with missing parts is read again: a node may have a new block before it has
 * all of its receipts.
 */
const RECHECK_MS = 1_000;

export function createVerifier({
  chain,
  acceptUnverified,
  isStrict,
  log,
}: {
  chain: string;
  acceptUnverified: boolean;
  /** Returns whether a single doubt is enough to reject a node's block. */
  isStrict(): boolean;
  log: Log;
}): Verify {
  const logged = new Set<string>();

  const look = async (...[, ask, read]: Parameters<Verify>) => {
    const versions = new Map<Provider, CheckedParts>();
    let failure: unknown;
    const found = await ask(async (from) => {
      if (versions.has(from)) return undefined;
      const parts = await read(from, versions.size === 0);
      if (parts.doubts.length === 0) return parts;
      if (isStrict()) throw toError(parts.doubts);
      versions.set(from, parts);
      return undefined;
    }).catch((error: unknown) => {
      failure = error;
      return undefined;
    });
    if (found === undefined && versions.size === 0) throw failure;
    return { found, versions };
  };

  return async (header, ask, read) => {
    for (let looks = 1; ; looks++) {
      const { found, versions } = await look(header, ask, read);
      const blame = (): void => {
        for (const [from, { doubts }] of versions) from.fault(doubts[0]!.kind);
      };
      if (found !== undefined) {
        blame();
        return withoutDoubts(found);
      }
      const accepted = choose(versions, acceptUnverified);
      if (accepted === undefined) {
        blame();
        throw toError(
          versions.values().next().value!.doubts,
          versions.size === 1
            ? `it can be neither proved nor disproved. Add a second node, or accept it with --chain ${chain}=<rpcUrl>,accept=unverified`
            : `no two of ${versions.size} nodes agree about it. Add another node`,
        );
      }
      const { parts, nodes, how } = accepted;
      if (looks === 1 && parts.doubts.some(({ kind }) => kind === 'missing')) {
        await new Promise((resolve) => setTimeout(resolve, RECHECK_MS));
        continue;
      }
      await checkPlace(header, nodes);
      const codes = [...new Set(parts.doubts.map(({ code }) => code))];
      const unverified: Unverified = { codes, witnesses: nodes.length, isUncertain: true };
      const reason = codes.join(', ');
      if (!logged.has(reason)) {
        logged.add(reason);
        log.warn('unverified block accepted; later ones with this reason are not logged', {
          chain,
          block: header.number,
          reason: `${reason} (${how})`,
        });
      }
      return { ...withoutDoubts(parts), unverified };
    }
  };
}

const withoutDoubts = ({ doubts: _doubts, ...parts }: CheckedParts): Verified => parts;

const toError = ([doubt]: readonly Doubt[], wayOn = ''): SourceError =>
  new SourceError(doubt!.kind, [doubt!.message, wayOn].filter(Boolean).join(': '));

/**
 * Returns the most common version if at least two nodes returned it and no other version is as
 * common, or the only version if unverified blocks are accepted; undefined otherwise.
 */
function choose(
  versions: ReadonlyMap<Provider, CheckedParts>,
  acceptUnverified: boolean,
): { parts: CheckedParts; nodes: Provider[]; how: string } | undefined {
  const same = Map.groupBy(versions, ([, { logs, transactions }]) =>
    JSON.stringify({ logs, transactions }),
  );
  const groups = [...same.values()].toSorted((a, b) => b.length - a.length);
  const [best, second] = groups;
  const nodes = best!.map(([node]) => node);
  const [, parts] = best![0]!;
  if (nodes.length > 1 && nodes.length > (second?.length ?? 0)) {
    return { parts, nodes, how: `${nodes.length} nodes agree` };
  }
  return acceptUnverified && groups.length === 1
    ? { parts, nodes, how: 'accept=unverified' }
    : undefined;
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
