/** The call that lists incidents. */
import { receiverOfSubject, subjectOfReceiver } from '../../../store/incidents/subject.ts';
import { toPlace } from '../../../store/rows/laneIds.ts';
import type { Store } from '../../../store/store.ts';
import { fromCursor, toCursor } from '../../pages.ts';
import type { Handlers } from '../../handlers.ts';

export const createIncidentHandlers = ({ store }: { store: Pick<Store, 'listIncidents'> }) =>
  ({
    async listIncidents({ query: { open: isOpen, receiver, limit, cursor } }) {
      const rows = await store.listIncidents({
        isOpen,
        subject: receiver === undefined ? undefined : subjectOfReceiver(receiver),
        limit: limit + 1,
        before: fromCursor(cursor)?.id,
      });
      const shown = rows.slice(0, limit);
      return {
        result: shown.map(({ subject, chain, lanes, laneCount, ...incident }) => ({
          ...incident,
          receiver: receiverOfSubject(subject),
          chainId: chain,
          affected: lanes.map(toPlace),
          affectedCount: laneCount,
        })),
        ...(rows.length > limit && { cursor: toCursor({ at: 0, id: shown.at(-1)!.id }) }),
      };
    },
  }) satisfies Partial<Handlers>;
