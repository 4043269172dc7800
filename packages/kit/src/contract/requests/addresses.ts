import * as z from 'zod';
import { requestShape } from '../named.ts';
import { isAddressLabel } from '../rules/addressLabel.ts';
import type { AddressesBody, LabeledAddressesBody } from '../shapes.generated.ts';
import { page } from './fields.ts';

/** Accepts one address or a non-empty list of addresses; `address` parses each. */
const oneOrSeveral = (address: z.ZodType<string>): z.ZodType<string | string[]> =>
  z.union([address, z.array(address).min(1, { error: 'should name at least one address' })], {
    error: 'should be an address or an array of addresses',
  });

export const addresses = (address: z.ZodType<string>): z.ZodType<AddressesBody> =>
  z.strictObject({ address: oneOrSeveral(address) });

export const labeledAddresses = (address: z.ZodType<string>): z.ZodType<LabeledAddressesBody> =>
  z
    .strictObject({
      address: oneOrSeveral(address),
      labels: z
        .record(
          address as z.ZodType<string, string>,
          z.string().refine(isAddressLabel, {
            error: 'should be at most 64 characters, without control characters',
          }),
        )
        .optional()
        .describe(
          'Labels by address, for addresses in this request, at most 64 characters each; an empty one removes the label. Sluice only.',
        ),
    })
    .superRefine(({ address: listed, labels = {} }, context) => {
      const those = new Set([listed].flat());
      for (const [labeled, label] of Object.entries(labels)) {
        if (those.has(labeled)) continue;
        context.addIssue({
          code: 'custom',
          message: 'should be for an address in this request',
          path: ['labels', labeled],
          input: label,
        });
        return;
      }
    });

const SEARCH = 'should be 1 to 100 characters of an address or a label';

export const addressSearch = z
  .string({ error: SEARCH })
  .trim()
  .min(1, { error: SEARCH })
  .max(100, { error: SEARCH })
  .describe(
    'A prefix that starts with `0x`, both ends such as `0x28C6…1d60`, or part of an address or label; 1 to 100 characters. Case-insensitive; on SQLite, only for a to z. Default: all addresses.',
  );

export const listAddressesQuerySchema = requestShape(
  'AddressQuery',
  'Filter and page of an address list.',
  z.object({ find: addressSearch.optional(), ...page }),
);
