/** The call that lists incidents. */
import { toPlace } from '../../../store/rows/laneIds.ts';
import type { Store } from '../../../store/store.ts';
import { fromCursor, toCursor } from '../../pages.ts';
import type { Handlers } from '../../handlers.ts';

export const createIncidentHandlers = ({ store }: { store: Pick<Store, 'listIncidents'> }) =>
  ({
    async listIncidents({ query: { open: isOpen, limit, cursor } }) {
      const rows = await store.listIncidents({
        isOpen,
        limit: limit + 1,
        before: fromCursor(cursor)?.id,
      });
      const shown = rows.slice(0, limit);
      return {
        result: shown.map(({ subject: _subject, chain, lanes, laneCount, ...incident }) => ({
          ...incident,
          chainId: chain,
          affected: lanes.map(toPlace),
          affectedCount: laneCount,
        })),
        ...(rows.length > limit && { cursor: toCursor({ at: 0, id: shown.at(-1)!.id }) }),
      };
    },
  }) satisfies Partial<Handlers>;
