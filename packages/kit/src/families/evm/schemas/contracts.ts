/** The calls about contracts and ENS names. */
import * as z from 'zod';
import { count, flag, tagged, text } from '../../../contract/calls/basics.ts';
import { named } from '../../../contract/named.ts';
import { abiItemSchema } from '../../../contract/requests/abi.ts';
import { addressParam, evmChainParam } from './values.ts';

const contract = named(
  'ContractDetails',
  'The contract at an address, at the head of an EVM chain.',
  z.strictObject({
    isContract: flag.describe('Whether the address has code.'),
    token: z
      .strictObject({
        name: text.describe('Empty if not reported, like `symbol` and `standard`.'),
        symbol: text,
        decimals: count.nullable(),
        standard: z.enum(['ERC721', 'ERC1155', '']),
      })
      .nullable()
      .describe('Token metadata that the contract reports, unverified; null if it reports none.'),
  }),
);

const resolvedName = named(
  'ResolvedName',
  'The address of an ENS name at the head of a chain. The owner of the name may change it.',
  z.strictObject({
    name: text.describe('Normalized (ENSIP-15).'),
    address: text.describe('Lowercase.'),
    chainId: text.describe(
      'Where the name was resolved: `0x1`, or `0xaa36a7` (Sepolia) if `0x1` is not read.',
    ),
  }),
);

const contractAbi = named(
  'ContractAbi',
  'The ABI of a verified contract.',
  z.strictObject({
    abi: z
      .array(abiItemSchema)
      .describe('For a proxy, its own items and those of its implementation, without duplicates.'),
    implementation: text
      .nullable()
      .describe(
        'The current implementation of an EIP-1967 proxy, lowercase; null for other contracts.',
      ),
    source: text.describe('Host of the ABI source.'),
  }),
);

export const contractsCalls = tagged('Sluice', {
  getContract: {
    method: 'GET',
    path: '/sluice/evm/{chainId}/contracts/{address}',
    scope: 'streams:read',
    params: { chainId: evmChainParam, address: addressParam },
    summary: 'Check whether an address is a contract, and read its token metadata',
    description:
      'The metadata is what the contract reports at the head of the chain; it is not verified.',
    response: contract,
    errors: [400, 422, 503],
  },
  getContractAbi: {
    method: 'GET',
    path: '/sluice/evm/{chainId}/contracts/{address}/abi',
    scope: 'streams:read',
    params: { chainId: evmChainParam, address: addressParam },
    summary: 'Read the ABI of a verified contract',
    description:
      'The ABI comes from the ABI source of the chain (--abi-url). For a proxy, it includes the ABI of the implementation.',
    response: contractAbi,
    errors: [400, 404, 422, 503],
  },
  resolveName: {
    method: 'GET',
    path: '/sluice/names/{ensName}',
    scope: 'streams:read',
    params: { ensName: z.string().meta({ description: 'ENS name', examples: ['vitalik.eth'] }) },
    summary: 'Resolve an ENS name to its address',
    description:
      'Resolves names at the head of Ethereum, or of Sepolia if Ethereum is not read. Names that need an off-chain lookup are not resolved.',
    response: resolvedName,
    errors: [400, 404, 422, 503],
  },
});
