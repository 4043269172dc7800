import * as z from 'zod';
import { named, typed } from '../named.ts';
import { isEventItem, listAbi, readAbi, readFunction } from '../rules/abi/readAbi.ts';
import type { AbiItem, AbiParameter } from '../shapes.generated.ts';

const abiParameterSchema: z.ZodType<AbiParameter> = named(
  'AbiParameter',
  'A parameter of an ABI item.',
  z.lazy(() =>
    z.strictObject({
      name: z.string(),
      type: z.string(),
      indexed: z.boolean().optional(),
      components: parameters,
      internalType: z.string().optional(),
    }),
  ),
);

const parameters = typed('readonly AbiParameter[]', z.array(abiParameterSchema).optional());

export const abiItemSchema: z.ZodType<AbiItem> = named(
  'AbiItem',
  'An ABI item in the JSON format that compilers write.',
  z.strictObject({
    type: typed(
      'string',
      z.enum(['event', 'function', 'error', 'constructor', 'fallback', 'receive']),
    ),
    name: z.string().optional(),
    inputs: parameters,
    outputs: parameters,
    anonymous: z.boolean().optional(),
    constant: z.boolean().optional(),
    payable: z.boolean().optional(),
    stateMutability: z.string().optional(),
    gas: z.number().optional(),
    signature: z
      .string()
      .optional()
      .describe('The selector or topic that web3.js adds; name and inputs take precedence.'),
  }),
);

const MAX_ITEMS = 1_000;
/**
 * Maximum number of inputs, outputs and components of all items together. The ABIs of the largest
 * contracts have about a third of this number.
 */
const MAX_PARAMETERS = 5_000;

/** A reference to {@link abiItemSchema} in the OpenAPI document. */
const ABI_ITEM = { $ref: '#/components/schemas/AbiItem' };

/**
 * An ABI in any form that {@link readAbi} reads. Events without a certain meaning are left out; the
 * service refuses them if the stream selects them.
 */
export const abiSchema: z.ZodType<AbiItem[]> = z
  .unknown()
  .transform((given, context): AbiItem[] => {
    const refuse = (message: string): never => {
      context.addIssue({ code: 'custom', message, input: given });
      return z.NEVER;
    };
    const list = listAbi(given);
    if (list === undefined) {
      return refuse('should be a list of ABI items, an artifact with one in abi, or its JSON text');
    }
    const events = list.filter(isEventItem);
    if (events.length > MAX_ITEMS) return refuse(`should have at most ${MAX_ITEMS} events`);
    if (countParameters(events) > MAX_PARAMETERS) {
      return refuse(`should have at most ${MAX_PARAMETERS} inputs and components of events`);
    }
    const fits = list.length <= MAX_ITEMS && countParameters(list) <= MAX_PARAMETERS;
    return readAbi(fits ? list : events)?.items ?? [];
  })
  .meta({ anyOf: [{ type: 'array', items: ABI_ITEM }, { type: 'object' }, { type: 'string' }] });

/** A function of an ABI, in any form that {@link readFunction} reads. */
export const functionSchema: z.ZodType<AbiItem> = z
  .unknown()
  .transform((given, context): AbiItem => {
    const read = countParameters([given]) > MAX_PARAMETERS ? TOO_LARGE : readFunction(given);
    if (!('message' in read)) return read;
    const { path, message } = read;
    context.addIssue({ code: 'custom', path: [...path], message, input: given });
    return z.NEVER;
  })
  .meta(ABI_ITEM);

const TOO_LARGE = {
  path: [],
  message: `should have at most ${MAX_PARAMETERS} inputs, outputs and components`,
};

/**
 * Counts the inputs, outputs and components of an unvalidated ABI. Stops above
 * {@link MAX_PARAMETERS}.
 */
function countParameters(given: readonly unknown[]): number {
  let count = 0;
  const lists: (readonly unknown[])[] = [given];
  for (let list = lists.pop(); list !== undefined && count <= MAX_PARAMETERS; list = lists.pop()) {
    for (const each of list.slice(0, MAX_PARAMETERS + 1)) {
      if (typeof each !== 'object' || each === null) continue;
      for (const part of ['inputs', 'outputs', 'components']) {
        const inner = (each as Record<string, unknown>)[part];
        if (!Array.isArray(inner)) continue;
        count += inner.length;
        lists.push(inner);
      }
    }
  }
  return count;
}
