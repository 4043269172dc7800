import * as z from 'zod';
import { component, typed } from '../named.ts';
import type { InboxResponse } from '../shapes.generated.ts';
import { text, wholeNumberBetween } from './fields.ts';

/**
 * The response of an inbox. The service uses the values of `DEFAULT_INBOX_RESPONSE` for omitted
 * fields.
 */
export const inboxResponseSchema: z.ZodType<Partial<InboxResponse>> = component(
  'SetInbox',
  typed(
    'Partial<InboxResponse>',
    z.strictObject({
      status: wholeNumberBetween(200, 599).exactOptional(),
      delayMs: wholeNumberBetween(0, 20_000).exactOptional(),
      body: text(1_000).exactOptional(),
      failFirst: wholeNumberBetween(0, 1_000_000).exactOptional(),
      failEvery: wholeNumberBetween(0, 1_000_000).exactOptional(),
      failStatus: wholeNumberBetween(200, 599).exactOptional(),
    }),
  ),
);
