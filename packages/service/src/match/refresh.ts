/**
 * Keeps a stream index at the rules of the ledger. A stream that changed is read again, of a list that
 * changed the addresses added and removed. Lists come page by page, so that a long one holds up neither
 * the reader nor the ledger.
 *
 * While a list is read others may change it, so its pages together may be a mixture of what it was and
 * what it became. Every change after the revision it was read for is applied to it later, in order, and
 * the last change of an address decides. No block is committed with rules older than the ledger's, so
 * nothing was matched with the mixture.
 */
import type { ChainFamily } from '@sluice/kit/contract';
import type { DeltaPosition } from '../store/addresses/contract.ts';
import type { Reads } from '../store/store.ts';
import type { RuleIndex } from './ruleIndex.ts';

export type RuleReads = Pick<Reads, 'readRules' | 'readAddresses' | 'readAddressChanges'>;

type AnyIndex = Pick<
  RuleIndex<ChainFamily, unknown>,
  'revision' | 'addAddresses' | 'removeAddresses'
>;

/** Brings the index up to the ledger's rules. One call at a time for an index. */
export async function refreshRules<Name extends ChainFamily, Rules>(
  index: RuleIndex<Name, Rules>,
  reads: RuleReads,
): Promise<void> {
  const rules = await reads.readRules(index.revision, index.family);
  if (rules.revision === index.revision) return;
  if (rules.whole) index.clear();
  for (const id of rules.gone) index.delete(id);
  for (const record of rules.changed) {
    const isNew = !index.has(record.id);
    index.put(record);
    if (isNew) await loadAddresses(index, reads, record.id);
  }
  if (!rules.whole && !(await applyChanges(index, reads, rules.revision))) {
    index.revision = -1;
    return refreshRules(index, reads);
  }
  index.revision = rules.revision;
}

/** Every address of one stream into an index that has the stream. */
export async function loadAddresses(
  index: AnyIndex,
  reads: Pick<Reads, 'readAddresses'>,
  id: string,
): Promise<void> {
  type Page = ReturnType<Reads['readAddresses']>;
  for (let coming: Page | undefined = reads.readAddresses(id); coming !== undefined;) {
    const { addresses, next }: Awaited<Page> = await coming;
    // The ledger reads the next page while this one is taken in.
    coming = next === undefined ? undefined : reads.readAddresses(id, next);
    index.addAddresses(id, addresses.bytes);
  }
}

/** False when the changes are no longer kept. */
async function applyChanges(index: AnyIndex, reads: RuleReads, upTo: number): Promise<boolean> {
  let after: DeltaPosition | undefined = {
    revision: index.revision,
    change: Number.MAX_SAFE_INTEGER,
    part: Number.MAX_SAFE_INTEGER,
  };
  do {
    const page = await reads.readAddressChanges(after, upTo);
    if (page === undefined) return false;
    for (const { streamId, kind, addresses } of page.changes) {
      if (kind === 'add') index.addAddresses(streamId, addresses.bytes);
      else index.removeAddresses(streamId, addresses.bytes);
      // Others have their turn: a long list is many parts.
      await new Promise(setImmediate);
    }
    after = page.next;
  } while (after !== undefined);
  return true;
}
