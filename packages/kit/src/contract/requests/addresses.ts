import * as z from 'zod';
import { component, sentShape } from '../named.ts';
import type { AddressesBody, LabelledAddressesBody } from '../shapes.generated.ts';
import { aptosAddress, evmAddress, page } from './fields.ts';

/** One or several addresses; the parsed form is lower case. */
const oneOrSeveral = (address: z.ZodType<string>): z.ZodType<string | string[]> =>
  z.union([address, z.array(address).min(1, { error: 'should name at least one address' })], {
    error: 'should be an address or an array of addresses',
  });

const addresses = (address: z.ZodType<string>): z.ZodType<AddressesBody> =>
  z.strictObject({ address: oneOrSeveral(address) });

/** Whether a text will do as the label of an address. */
export const isAddressLabel = (text: string): boolean => /^[^\p{Cc}]{1,64}$/u.test(text);

const labelledAddresses = (address: z.ZodType<string>): z.ZodType<LabelledAddressesBody> =>
  z
    .strictObject({
      address: oneOrSeveral(address),
      labels: z
        .record(
          address as z.ZodType<string, string>,
          z.string().refine(isAddressLabel, {
            error: 'should be a text of 1 to 64 characters, without control characters',
          }),
        )
        .optional()
        .describe(
          'Names for people, by address: of addresses of this request, 1 to 64 characters each. Ours; the hosted service has no such key.',
        ),
    })
    .superRefine(({ address: listed, labels = {} }, context) => {
      const those = new Set([listed].flat());
      for (const [labelled, label] of Object.entries(labels)) {
        if (those.has(labelled)) continue;
        context.addIssue({
          code: 'custom',
          message: 'should be of an address of this request',
          path: ['labels', labelled],
          input: label,
        });
        return;
      }
    });

export const evmAddressesSchema = component(
  'EvmAddresses',
  sentShape('AddressesBody', 'One address or several.', addresses(evmAddress)),
);

export const evmLabelledAddressesSchema = component(
  'LabelledEvmAddresses',
  sentShape(
    'LabelledAddressesBody',
    'What is added, or what replaces the whole list.',
    labelledAddresses(evmAddress),
  ),
);

export const aptosAddressesSchema = component('AptosAddresses', addresses(aptosAddress));

export const aptosLabelledAddressesSchema = component(
  'LabelledAptosAddresses',
  labelledAddresses(aptosAddress),
);

const SEARCH = 'should be 1 to 100 characters of an address or a label';

export const listAddressesQuerySchema = sentShape(
  'ListAddresses',
  'Which addresses of a stream are listed.',
  z.object({
    find: z
      .string({ error: SEARCH })
      .trim()
      .min(1, { error: SEARCH })
      .max(100, { error: SEARCH })
      .optional()
      .describe(
        'Default: all of them. 1 to 100 characters: what an address begins with, from `0x` on; its ends, as `0x28C6…1d60`; or a part of an address or of its label. The case of a to z does not matter; that of other letters does on SQLite.',
      ),
    ...page,
  }),
);
