/** Schemas of the values on chain that EVM streams read. */
import * as z from 'zod';
import { namedRequest, typed } from '../../../contract/named.ts';
import { functionSchema } from '../../../contract/requests/abi.ts';
import { writeFunction } from '../../../contract/rules/functions.ts';
import type { ReadCondition, StreamRead } from '../../../contract/shapes.generated.ts';
import { evmAddress } from './values.ts';

const MAX_READS = 100;
/** Maximum number of addresses whose balances one entry reads. */
const MAX_ADDRESSES = 1_000;
/** Maximum decimals: those of the largest power of ten that fits a uint256. */
const MAX_DECIMALS = 77;

const threshold = z.string().regex(/^-?\d{1,78}(?:\.\d{1,78})?$/, {
  error: 'should be a decimal number as text, e.g. "1000.5"',
});

export const conditionSchema: z.ZodType<ReadCondition> = namedRequest(
  'ReadCondition',
  'When a value is sent: `changes`; in the first block of each interval (`every`, in blocks by default); or once per crossing of a threshold, in the unit of the value. `crosses` counts a value at the threshold as above it.',
  z.union(
    [
      z.literal('changes'),
      z.strictObject({
        every: z.int().min(1).max(100_000_000),
        unit: z.enum(['blocks', 'seconds']).optional(),
      }),
      z.strictObject({ below: threshold }),
      z.strictObject({ above: threshold }),
      z.strictObject({ crosses: threshold }),
    ],
    {
      error:
        'should be changes, { every: 100 }, { every: 60, unit: "seconds" }, or { below: "1000.5" }, with above or crosses likewise',
    },
  ),
);

/** Reads a function from text, or from an ABI item, which becomes text with its outputs. */
const functionText = typed(
  'string | AbiItem',
  z
    .unknown()
    .transform((given, context): string => {
      const item = typeof given === 'object' ? functionSchema.safeParse(given).data : undefined;
      const text = item?.type === 'function' ? writeFunction(item, 'with outputs') : given;
      if (typeof text === 'string' && text.length <= 4_096) return text;
      context.addIssue({
        code: 'custom',
        message:
          'should be a signature with its outputs, e.g. totalSupply() returns (uint256), or a function of abi',
        input: given,
      });
      return z.NEVER;
    })
    .meta({ anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/AbiItem' }] }),
);

const readSchema: z.ZodType<StreamRead> = namedRequest(
  'StreamRead',
  'A value that is read from the state of each block: the result of a view function, or balances.',
  z
    .strictObject({
      contract: evmAddress.optional().describe('Address of the contract that is called.'),
      function: functionText
        .optional()
        .describe(
          'With `contract`: a signature with its outputs (`balanceOf(address) returns (uint256)`), an ABI item, which is stored as a signature, or the name or signature of a function in `abi`.',
        ),
      arguments: z
        .array(z.unknown())
        .max(100, { error: 'should have at most 100 values' })
        .optional()
        .describe('Arguments of the function: integers as decimal text, structs as arrays.'),
      output: z
        .string()
        .max(1_000)
        .optional()
        .describe(
          'The output to read, by its name or position; `price.value` for one inside a struct. By default the only output, or all of them as a list.',
        ),
      balance: typed(
        'string',
        z.union([z.literal('native'), evmAddress], {
          error: 'should be native, or the address of a token',
        }),
      )
        .optional()
        .describe('Instead of `contract`: `native`, or the address of an ERC-20 token.'),
      of: z
        .array(evmAddress)
        .min(1, { error: 'should list at least one address' })
        .max(MAX_ADDRESSES, { error: `should list at most ${MAX_ADDRESSES} addresses` })
        .optional()
        .describe(
          `Accounts whose balance is read. Default: the addresses of the stream, of which there may be at most ${MAX_ADDRESSES}.`,
        ),
      decimals: z
        .int()
        .min(0)
        .max(MAX_DECIMALS)
        .optional()
        .describe(
          'Decimals of the unit of the threshold. Default: 18 for native balances, those of the token for its balances, and otherwise 0.',
        ),
      when: conditionSchema,
    })
    .superRefine((read, context) => {
      const refuse = (field: string, message: string): void =>
        context.addIssue({ code: 'custom', path: [field], message, input: read });
      const isCall = read.contract !== undefined;
      if (isCall === (read.balance !== undefined)) {
        return refuse('contract', 'should be given, unless balance is');
      }
      const others = isCall ? (['of'] as const) : (['function', 'arguments', 'output'] as const);
      for (const field of others) {
        if (read[field] !== undefined) {
          refuse(field, `should be left out with ${isCall ? 'contract' : 'balance'}`);
        }
      }
      if (isCall && read.function === undefined) {
        refuse('function', 'should name the function to call');
      }
    }),
);

export const readsSchema: z.ZodType<StreamRead[]> = z
  .array(readSchema)
  .max(MAX_READS, { error: `should list at most ${MAX_READS} reads` });
