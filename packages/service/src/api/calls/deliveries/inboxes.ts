/** Calls for inboxes: the responses that they send and the requests that they received. */
import { DEFAULT_INBOX_RESPONSE } from '@sluice/kit/contract';
import type { Store } from '../../../store/store.ts';
import { TOO_MANY_INBOXES } from '../../../deliver/destinations/inbox/inbox.ts';
import { HttpError, notFound } from '../../httpErrors.ts';
import type { Handlers } from '../../handlers.ts';
import { fromCursor, toCursor } from '../../pages.ts';

export function createInboxHandlers({ store }: { store: Store }) {
  return {
    listInboxes: async () => ({ result: await store.listInboxes() }),

    async setInbox({ params: { name }, body }) {
      const inbox = await store.setInbox(name, { ...DEFAULT_INBOX_RESPONSE, ...body });
      if (inbox === undefined) throw new HttpError(409, TOO_MANY_INBOXES);
      return inbox;
    },

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
