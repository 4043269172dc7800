/** Calls for inboxes: the responses that they send and the requests that they received. */
import { DEFAULT_INBOX_RESPONSE } from '@sluice/kit/contract';
import type { Store } from '../../../store/store.ts';
import { notFound } from '../../answers.ts';
import type { Handlers } from '../../handlers.ts';
import { fromCursor, toCursor } from '../../pages.ts';

export function createInboxHandlers({ store }: { store: Store }) {
  return {
    listInboxes: async () => ({ result: await store.listInboxes() }),

    setInbox: ({ params: { name }, body }) =>
      store.setInbox(name, { ...DEFAULT_INBOX_RESPONSE, ...body }),

    async deleteInbox({ params: { name } }) {
      if (!(await store.deleteInbox(name))) throw notFound('Inbox');
      return undefined;
    },

    async listInboxRequests({ params: { name }, query: { limit, cursor } }) {
      const after = fromCursor(cursor)?.id;
      const { rows, next } = await store.listInboxRequests({ inbox: name, limit, after });
      return {
        result: rows,
        ...(next !== undefined && { cursor: toCursor({ at: 0, id: next }) }),
      };
    },

    async getInboxRequest({ params: { name, id } }) {
      const found = await store.readInboxRequest(name, id);
      if (found === undefined) throw notFound('Request');
      return found;
    },

    async clearInbox({ params: { name } }) {
      await store.clearInbox(name);
      return undefined;
    },
  } satisfies Partial<Handlers>;
}
