/** The ABI of the token standards' events (ERC-20, ERC-721, ERC-1155). */
import type { AbiItem } from '@sluice/kit';

/** Builds an ABI item: `event('Approval', 'address indexed owner', …)`. */
const event = (name: string, ...inputs: string[]): AbiItem => ({
  type: 'event',
  name,
  anonymous: false,
  inputs: inputs.map((input) => {
    const words = input.split(' ');
    return { type: words[0]!, name: words.at(-1)!, indexed: words.includes('indexed') };
  }),
});

const FROM_TO = ['address indexed from', 'address indexed to'] as const;
const OWNER = 'address indexed owner';
const OPERATOR = 'address indexed operator';

export const STANDARD_EVENTS: readonly AbiItem[] = [
  event('Transfer', ...FROM_TO, 'uint256 value'),
  event('Approval', OWNER, 'address indexed spender', 'uint256 value'),
  event('Transfer', ...FROM_TO, 'uint256 indexed tokenId'),
  event('Approval', OWNER, 'address indexed approved', 'uint256 indexed tokenId'),
  event('ApprovalForAll', OWNER, OPERATOR, 'bool approved'),
  event('TransferSingle', OPERATOR, ...FROM_TO, 'uint256 id', 'uint256 value'),
  event('TransferBatch', OPERATOR, ...FROM_TO, 'uint256[] ids', 'uint256[] values'),
];
