/** Calls about the addresses that the factories of a stream have created. */
import { toChainId } from '@sluice/kit/contract';
import { findStream } from '../../../api/calls/streams/findStream.ts';
import type { Handlers } from '../../../api/handlers.ts';
import { HttpError } from '../../../api/httpErrors.ts';
import { fromCursor, toCursor } from '../../../api/pages.ts';
import type { LabeledChild } from '../../../store/children/contract.ts';
import type { Store } from '../../../store/store.ts';
import { compileRules } from '../match/rules.ts';

export const createChildHandlers = ({ store }: { store: Store }) =>
  ({
    async listChildren({ params, query: { chain, entry, find, limit, cursor } }) {
      const { id, options } = await findStream(store, params.id, 'evm');
      const keys = compileRules(options).factories.map(({ key }) => key);
      const filter = {
        streamId: id,
        factories: keys.filter((_, n) => entry === undefined || n === entry),
        chain: chain === undefined ? undefined : (toChainId(chain) ?? chain),
        find,
      };
      const place = fromCursor(cursor);
      const after = place && toPosition(place.id);
      const total = place?.total ?? (await store.countChildren(filter));
      const rows = await store.listChildren(filter, { limit: limit + 1, after });
      const shown = rows.slice(0, limit);
      const isLast = rows.length === shown.length;
      return {
        result: shown.map(({ address, label, chain: chainId, factory, blockNumber }) => ({
          address,
          ...(label !== null && { label }),
          chainId,
          entry: keys.indexOf(factory),
          blockNumber,
        })),
        total,
        ...(!isLast && { cursor: toCursor({ at: 0, id: toPlace(shown.at(-1)!), total }) }),
      };
    },

    async labelChildren({ params, body: { labels } }) {
      const { id } = await findStream(store, params.id, 'evm');
      const { missing } = await store.labelChildren(id, labels);
      if (missing !== undefined)
        throw new HttpError(404, `No factory of the stream has created ${missing}`);
    },
  }) satisfies Partial<Handlers>;

type Position = Pick<LabeledChild, 'chain' | 'factory' | 'address'>;

const toPlace = ({ chain, factory, address }: Position): string =>
  [chain, factory, address].join('-');

function toPosition(text: string): Position {
  const [chain = '', factory = '', address = ''] = text.split('-');
  return { chain, factory, address };
}
