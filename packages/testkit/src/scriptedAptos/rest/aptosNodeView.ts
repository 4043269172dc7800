import { RestRefusal } from './restRefusal.ts';
import type { RestLedgerInfo } from './restShapes.ts';
import type { ScriptedAptosBlock } from '../ledger/aptosHistory.ts';
import type { ScriptedAptosLedger } from '../ledger/scriptedAptosLedger.ts';

/** The ledger as one node knows it, possibly without the newest or oldest blocks. */
export interface AptosNodeView {
  readonly ledger: ScriptedAptosLedger;
  readonly chainId: number;
  /** The newest block that the node knows. */
  readonly head: ScriptedAptosBlock;
  /** The oldest version that the node has not pruned. */
  readonly oldestVersion: bigint;
  /** Height of the oldest complete block on the node. */
  readonly oldestHeight: bigint;
}

export function createNodeView(options: {
  ledger: ScriptedAptosLedger;
  /** Number of blocks by which the node lags behind the ledger. */
  lagBlocks: number;
  prunedBelow: bigint;
  chainId: number;
}): AptosNodeView {
  const { ledger, lagBlocks, prunedBelow, chainId } = options;
  const head = ledger.blockAt(ledger.head.height - BigInt(lagBlocks)) ?? ledger.oldest;
  const kept = ledger.oldest.firstVersion;
  const forgotten = prunedBelow > kept ? prunedBelow : kept;
  // A node always keeps its newest block.
  const oldestVersion = forgotten < head.firstVersion ? forgotten : head.firstVersion;
  const oldest = ledger.blockOfVersion(oldestVersion) as ScriptedAptosBlock;
  const isComplete = oldest.firstVersion === oldestVersion;
  return {
    ledger,
    chainId,
    head,
    oldestVersion,
    oldestHeight: isComplete ? oldest.height : oldest.height + 1n,
  };
}

export function toLedgerInfo(view: AptosNodeView): RestLedgerInfo {
  const { head } = view;
  return {
    chain_id: view.chainId,
    epoch: String(head.epoch),
    ledger_version: String(head.lastVersion),
    oldest_ledger_version: String(view.oldestVersion),
    ledger_timestamp: String(head.timestampUsecs),
    node_role: 'full_node',
    oldest_block_height: String(view.oldestHeight),
    block_height: String(head.height),
    git_hash: '5c21ed1bed000000000000000000000000000000',
  };
}

/** Returns the `x-aptos-` headers of the node's responses. */
export function toHeaders(view: AptosNodeView): Record<string, string> {
  const info = toLedgerInfo(view);
  return {
    'x-aptos-chain-id': String(info.chain_id),
    'x-aptos-ledger-version': info.ledger_version,
    'x-aptos-ledger-oldest-version': info.oldest_ledger_version,
    'x-aptos-ledger-timestampusec': info.ledger_timestamp,
    'x-aptos-epoch': info.epoch,
    'x-aptos-block-height': info.block_height,
    'x-aptos-oldest-block-height': info.oldest_block_height,
  };
}

/**
 * Returns the version that a request for state reads, by default the newest that the node knows.
 *
 * @throws RestRefusal if the node has pruned the version or does not know it yet.
 */
export function stateVersionOf(version: bigint | undefined, view: AptosNodeView): bigint {
  if (version === undefined) return view.head.lastVersion;
  refusePruned(version, view);
  if (version > view.head.lastVersion) {
    const message = `Ledger version not found by Ledger version(${version})`;
    throw new RestRefusal(404, 'version_not_found', message);
  }
  return version;
}

/** @throws RestRefusal if the node has pruned the version. */
export function refusePruned(version: bigint, view: AptosNodeView): void {
  if (version >= view.oldestVersion) return;
  throw new RestRefusal(410, 'version_pruned', `Ledger version(${version}) has been pruned`);
}
