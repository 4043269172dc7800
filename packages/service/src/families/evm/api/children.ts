/** Calls about the addresses that the factories of a stream have created. */
import { toChainId } from '@sluice/kit/contract';
import { findStream } from '../../../api/calls/streams/findStream.ts';
import type { Handlers } from '../../../api/handlers.ts';
import { HttpError } from '../../../api/httpErrors.ts';
import { fromCursor, toCursor } from '../../../api/pages.ts';
import type { ChildCount, LabeledChild } from '../../../store/children/contract.ts';
import type { Store } from '../../../store/store.ts';
import { compileRules } from '../match/rules.ts';

export const createChildHandlers = ({ store }: { store: Store }) =>
  ({
    async listChildren({ params, query: { chain, entry, find, limit, cursor } }) {
      const { id, options, chainIds } = await findStream(store, params.id, 'evm');
      const keys = compileRules(options).factories.map(({ key }) => key);
      const wanted = chain === undefined ? undefined : (toChainId(chain) ?? chain);
      const counts = await store.listChildCounts(id);
      const lists = chainIds
        .flatMap((chainId) => keys.map((key, n) => ({ chainId, key, n })))
        .flatMap(({ chainId, key, n }, at) => {
          const list = counts.find((each) => each.chain === chainId && each.factory === key);
          const isWanted = (wanted ?? chainId) === chainId && (entry ?? n) === n;
          return list !== undefined && isWanted ? [{ ...list, at, entry: n }] : [];
        });
      const countIn = async (list: ChildCount): Promise<number> =>
        find === undefined ? list.children : store.countChildren(list, find);
      const start = fromCursor(cursor);
      const total = start?.total ?? sum(await Promise.all(lists.map(countIn)));
      const shown: { at: number; entry: number; child: LabeledChild }[] = [];
      for (const list of lists) {
        if (list.at < (start?.at ?? 0) || shown.length > limit) continue;
        const after = list.at === start?.at ? start.id : undefined;
        const room = limit + 1 - shown.length;
        const children = await store.listChildren(list, { limit: room, after, find });
        shown.push(...children.map((child) => ({ at: list.at, entry: list.entry, child })));
      }
      const last = shown.length > limit ? shown[limit - 1] : undefined;
      return {
        result: shown
          .slice(0, limit)
          .map(({ entry: n, child: { address, label, chain: chainId, blockNumber } }) => ({
            address,
            ...(label !== null && { label }),
            chainId,
            entry: n,
            blockNumber,
          })),
        total,
        ...(last && { cursor: toCursor({ at: last.at, id: last.child.address, total }) }),
      };
    },

    async labelChildren({ params, body: { labels } }) {
      const { id } = await findStream(store, params.id, 'evm');
      const { missing } = await store.labelChildren(id, labels);
      if (missing !== undefined)
        throw new HttpError(404, `No factory of the stream has created ${missing}`);
    },
  }) satisfies Partial<Handlers>;

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
