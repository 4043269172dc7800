import * as z from 'zod';
import { named, typed } from '../named.ts';
import { canonicalType } from '../rules/events.ts';
import type { AbiItem, AbiParameter } from '../shapes.generated.ts';

const MAX_TYPE_CHARACTERS = 256;
const isAbiType = (type: string): boolean =>
  /^tuple(\[\d*\])*$/.test(type) || canonicalType(type) !== undefined;

export const abiParameterSchema: z.ZodType<AbiParameter> = named(
  'AbiParameter',
  'A parameter of an ABI item.',
  z.lazy(() =>
    z
      .strictObject({
        name: z.string().default(''),
        type: z
          .string()
          .max(MAX_TYPE_CHARACTERS, {
            error: `should be at most ${MAX_TYPE_CHARACTERS} characters`,
            abort: true,
          })
          .refine(isAbiType, {
            error: 'should be a Solidity type, e.g. uint256, address[] or tuple',
            abort: true,
          }),
        indexed: z.boolean().optional(),
        components: parameters,
        internalType: z.string().optional(),
      })
      .refine((it) => !it.type.startsWith('tuple') || it.components !== undefined, {
        error: 'a tuple should list its components',
        path: ['components'],
        abort: true,
      }),
  ),
);

const parameters = typed('readonly AbiParameter[]', z.array(abiParameterSchema).optional());

export const abiItemSchema: z.ZodType<AbiItem> = named(
  'AbiItem',
  'An ABI item in the JSON format that compilers write.',
  z
    .strictObject({
      type: typed(
        'string',
        z.enum(['event', 'function', 'error', 'constructor', 'fallback', 'receive'], {
          error: 'should be one of event, function, error, constructor, fallback, receive',
        }),
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
        .regex(/^0x([0-9a-fA-F]{8}|[0-9a-fA-F]{64})$/, {
          error: 'should be a selector or a topic in hex, or be left out',
        })
        .optional()
        .describe('The selector or topic that web3.js adds; name and inputs take precedence.'),
    })
    .refine((it) => !['event', 'function', 'error'].includes(it.type) || Boolean(it.name), {
      error: 'an event, function or error should have a name',
      path: ['name'],
    })
    .refine(
      (it) => (it.inputs ?? []).filter((input) => input.indexed).length <= (it.anonymous ? 4 : 3),
      {
        error: 'an event should have at most 3 indexed inputs (4 when anonymous)',
        path: ['inputs'],
      },
    ),
);
