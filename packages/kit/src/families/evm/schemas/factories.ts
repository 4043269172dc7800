/** Schemas of the factories of EVM streams. */
import * as z from 'zod';
import { namedRequest } from '../../../contract/named.ts';
import type { Factory } from '../../../contract/shapes.generated.ts';
import { evmAddress } from './values.ts';

const MAX_FACTORIES = 100;
/** Maximum number of generations: children, their children, and the children of those. */
const MAX_GENERATIONS = 3;

export const factorySchema: z.ZodType<Factory> = namedRequest(
  'Factory',
  'A contract that creates contracts, and the event that has their addresses.',
  z
    .strictObject({
      address: evmAddress.optional().describe('Address of the factory.'),
      childrenOf: z
        .int()
        .min(0)
        .optional()
        .describe(
          'Instead of `address`: the position of an earlier entry, whose children are the factories.',
        ),
      from: z
        .int()
        .min(0)
        .optional()
        .describe(
          'First block whose children are wanted: earlier blocks are searched. Default: only children in blocks from now on.',
        ),
      event: z
        .string()
        .max(4_096, { error: 'should have at most 4096 characters' })
        .describe(
          'Signature with the names of its parameters, or the name or signature of an event in `abi`.',
        ),
      parameter: z
        .string()
        .max(1_000, { error: 'should have at most 1000 characters' })
        .describe(
          'Name of the parameter with the address or addresses; `pool.token` for one inside a tuple.',
        ),
    })
    .superRefine(({ address, childrenOf }, context) => {
      if ((address === undefined) !== (childrenOf === undefined)) return;
      context.addIssue({
        code: 'custom',
        path: ['address'],
        message: 'should be given, unless childrenOf names an earlier entry',
        input: address,
      });
    }),
);

export const factoriesSchema: z.ZodType<Factory[]> = z
  .array(factorySchema)
  .max(MAX_FACTORIES, { error: `should list at most ${MAX_FACTORIES} factories` })
  .superRefine((factories, context) => {
    const generations: number[] = [];
    for (const [n, { childrenOf }] of factories.entries()) {
      const isEarlier = childrenOf === undefined || childrenOf < n;
      const generation = childrenOf === undefined ? 1 : (generations[childrenOf] ?? 0) + 1;
      generations.push(generation);
      if (isEarlier && generation <= MAX_GENERATIONS) continue;
      context.addIssue({
        code: 'custom',
        path: [n, 'childrenOf'],
        message: isEarlier
          ? `should have at most ${MAX_GENERATIONS} generations`
          : 'should be the position of an earlier entry',
        input: childrenOf,
      });
    }
  });
