/** Lists the addresses that a stream watches on a chain. */
import { listAddresses } from '../../../../chains/searchStreams.ts';
import type { Store } from '../../../../store/store.ts';
import type { EvmStreamRecord } from '../../../../store/streams/contract.ts';
import { compileFactories, takesChildren } from '../../match/factories.ts';

/**
 * Returns the addresses of a stream, and the children that its factories have created up to a block
 * of the chain, in lowercase; `many` if there are more than `most` now.
 */
export async function listWatched(
  store: Pick<Store, 'readAddresses' | 'listChildren'>,
  chain: string,
  { id: streamId, options }: EvmStreamRecord,
  { most, upTo }: { most: number; upTo: number },
): Promise<string[] | 'many'> {
  const found = await listAddresses(store, streamId, most);
  if (found === 'many' || !takesChildren(options)) return found;
  let count = found.length;
  for (const { key: factory } of compileFactories(options)) {
    // One more than fits shows whether there are too many.
    const limit = most - count + 1;
    const children = await store.listChildren({ streamId, chain, factory }, { limit });
    if (children.length === limit) return 'many';
    count += children.length;
    const created = children.filter(({ blockNumber }) => blockNumber <= upTo);
    found.push(...created.map(({ address }) => address));
  }
  return found;
}
