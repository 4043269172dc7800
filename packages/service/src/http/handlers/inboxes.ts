/** The built-in receiver, as it is looked at and told how to answer. */
import type { Context } from 'hono';
import {
  DEFAULT_INBOX_ANSWER,
  type InboxPage,
  inboxAnswerSchema,
  isInboxName,
  listQuerySchema,
} from '@sluice/kit/contract';
import type { Store } from '../../store/store.ts';
import { check, notFound, readId, validationFailed } from '../answers.ts';
import { takeQuery } from '../query.ts';
import { readJson } from '../body.ts';
import { fromCursor, toCursor } from '../pages.ts';

export interface InboxHandlers {
  list(context: Context): Promise<Response>;
  set(context: Context): Promise<Response>;
  delete(context: Context): Promise<Response>;
  listRequests(context: Context): Promise<Response>;
  getRequest(context: Context): Promise<Response>;
  clear(context: Context): Promise<Response>;
}

export function createInboxHandlers({ store }: { store: Store }): InboxHandlers {
  return {
    list: async (context) => context.json({ result: await store.listInboxes() }),

    async set(context) {
      const given = check(inboxAnswerSchema, 'requestBody', readJson(context));
      return context.json(
        await store.setInbox(readName(context), { ...DEFAULT_INBOX_ANSWER, ...given }),
      );
    },

    async delete(context) {
      if (!(await store.deleteInbox(readName(context)))) throw notFound('Inbox');
      return context.body(null, 204);
    },

    async listRequests(context) {
      const { limit, cursor } = takeQuery(context, listQuerySchema).query;
      const { rows, next } = await store.listInboxRequests({
        inbox: readName(context),
        limit,
        after: fromCursor(cursor)?.id,
      });
      return context.json({
        result: rows,
        ...(next !== undefined && { cursor: toCursor({ at: 0, id: next }) }),
      } satisfies InboxPage);
    },

    async getRequest(context) {
      const found = await store.readInboxRequest(readName(context), readId(context, 'request'));
      if (found === undefined) throw notFound('Request');
      return context.json(found);
    },

    async clear(context) {
      await store.clearInbox(readName(context));
      return context.body(null, 204);
    },
  };
}

function readName(context: Context): string {
  const name = context.req.param('name') ?? '';
  if (isInboxName(name)) return name;
  const message = 'should be 1 to 63 small letters, digits and dashes, e.g. my-app';
  throw validationFailed('path', [{ path: ['name'], message }], { name });
}
