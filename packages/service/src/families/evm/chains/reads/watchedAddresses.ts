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
  const listed = await listAddresses(store, streamId, most);
  if (listed === 'many' || !takesChildren(options)) return listed;
  const factories = compileFactories(options).map(({ key }) => key);
  // One more than fits shows whether there are too many.
  const limit = most - listed.length + 1;
  const children = await store.listChildren({ streamId, factories, chain }, { limit });
  if (children.length === limit) return 'many';
  const created = children.filter(({ blockNumber }) => blockNumber <= upTo);
  return [...listed, ...created.map(({ address }) => address)];
}
