/** The calls about the addresses that factories have created. */
import * as z from 'zod';
import { count, idOf, tagged, text } from '../../../contract/calls/basics.ts';
import { named, namedRequest, requestShape, shape } from '../../../contract/named.ts';
import { addressSearch } from '../../../contract/requests/addresses.ts';
import { page } from '../../../contract/requests/fields.ts';
import { isAddressLabel } from '../../../contract/rules/addressLabel.ts';
import type { ChildLabels } from '../../../contract/shapes.generated.ts';
import { evmAddress } from './values.ts';

/** Maximum number of labels in one request. */
const MAX_LABELS = 1_000;

const streamChild = shape(
  'StreamChild',
  'An address that a factory of a stream has created.',
  z.strictObject({
    address: text.describe('Lowercase.'),
    label: text.exactOptional().describe('Absent if there is none.'),
    chainId: text,
    entry: count.describe('Position of the factory in `factories`.'),
    blockNumber: count.describe('First block with a log of the factory that has the address.'),
  }),
);

const childPage = named(
  'ChildPage',
  'A page of children, by chain, factory and address.',
  z.strictObject({
    result: z.array(streamChild),
    total: count.describe('Children on all pages, when the first page was read.'),
    cursor: text.exactOptional().describe('Cursor of the next page; absent on the last.'),
  }),
);

const childQuerySchema = requestShape(
  'ChildQuery',
  'Filter and page of the children of a stream.',
  z.object({
    chain: z.string().max(100).optional().describe('Only children on this chain.'),
    entry: z.coerce
      .number({ error: 'should be the position of an entry of factories' })
      .int({ error: 'should be the position of an entry of factories' })
      .min(0, { error: 'should be the position of an entry of factories' })
      .optional()
      .meta({ type: 'integer', minimum: 0 })
      .describe('Only children of this entry of `factories`.'),
    find: addressSearch.optional(),
    ...page,
  }),
);

const childLabelsSchema: z.ZodType<ChildLabels> = namedRequest(
  'ChildLabels',
  'Labels of children.',
  z.strictObject({
    labels: z
      .record(
        evmAddress as z.ZodType<string, string>,
        z.string().refine(isAddressLabel, {
          error: 'should be at most 64 characters, without control characters',
        }),
      )
      .refine((labels) => Object.keys(labels).length <= MAX_LABELS, {
        error: `should have at most ${MAX_LABELS} addresses`,
      })
      .describe(
        'Labels by address, at most 1,000 of at most 64 characters each; an empty one removes the label.',
      ),
  }),
);

export const childrenCalls = tagged('Sluice', {
  listChildren: {
    method: 'GET',
    path: '/sluice/streams/{id}/children',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'List the addresses that the factories of a stream have created',
    query: childQuerySchema,
    response: childPage,
    errors: [404, 422],
  },
  labelChildren: {
    method: 'PATCH',
    path: '/sluice/streams/{id}/children',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Label children, on all chains of the stream',
    description: 'All or nothing: fails with a 404 if an address is not a child.',
    body: childLabelsSchema,
    errors: [400, 404, 422],
  },
});
