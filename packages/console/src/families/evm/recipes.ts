import { FEED_URL, QUEUE_BROKERS, TABLES_EXAMPLE } from '@sluice/kit/contract';
import type { Recipe } from '../../routes/newStream/recipe.ts';
import type { StreamDraft } from '../../routes/streamForm/draft/draft.ts';
import { ERC20_TRANSFER, UNISWAP_V3_SWAP, withEvents, withWalletEvents } from './draft.ts';
import { withConditions, withLeastAmount } from './leastAmount.ts';
import { parseEvents } from './routes/abiText.ts';
import { NEW_FACTORY } from './routes/factories.ts';
import { NEW_READ } from './routes/reads.ts';

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const POOL_CREATED =
  'PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)';
const ERC1155_SINGLE =
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)';
const ERC1155_BATCH =
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)';
const ERC721_TRANSFER =
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)';

const withTransfers = (draft: StreamDraft): StreamDraft =>
  withEvents(draft, parseEvents(ERC20_TRANSFER).items);

export const EVM_RECIPES: readonly Recipe[] = [
  {
    id: 'wallet',
    title: 'Watch a wallet',
    text: 'Paste the address of an account. Watches its native payments and its token and NFT transfers.',
    picture: 'account',
    example: 'Received 0.5 ETH, sent 250 USDC',
    family: 'evm',
    toFill: ['addresses'],
    name: (subject = '') => `Wallet ${subject}`.trimEnd(),
    fill: (draft) => withWalletEvents({ ...draft, includeNativeTxs: true }),
  },
  {
    id: 'transfers',
    title: 'Token transfers',
    text: 'Paste the address of a token. Watches all transfers of the token.',
    picture: 'transfers',
    example: '250 USDC from binance-14 to treasury',
    family: 'evm',
    toFill: ['addresses'],
    name: (subject = 'Token') => `${subject} transfers`,
    fill: withTransfers,
  },
  {
    id: 'payments',
    title: 'Large payments',
    text: 'Paste the address of a token and enter an amount. Watches transfers of at least this amount.',
    picture: 'amounts',
    example: '1,250,000 USDC to treasury',
    family: 'evm',
    toFill: ['addresses', 'amount'],
    name: (subject) => (subject === undefined ? 'Large payments' : `Large ${subject} payments`),
    fill: (draft) => withLeastAmount(draft, ''),
  },
  {
    id: 'events',
    title: 'Contract events',
    text: 'Paste the address of a contract, then choose from its events.',
    picture: 'logs',
    example: 'OwnershipTransferred to treasury',
    family: 'evm',
    toFill: ['addresses', 'events'],
    name: (subject = 'Contract') => `${subject} events`,
    fill: (draft) => draft,
  },
  {
    id: 'calls',
    title: 'Calls of a function',
    text: 'Paste the address of a contract and enter its functions. Watches their calls, with the arguments.',
    picture: 'call',
    example: 'transfer(treasury, 250 USDC)',
    family: 'evm',
    toFill: ['addresses', 'functions'],
    name: (subject = 'Contract') => `${subject} calls`,
    fill: (draft) => ({
      ...draft,
      includeContractLogs: false,
      calledFunctions: 'transfer(address to, uint256 value)',
    }),
  },
  {
    id: 'failed',
    title: 'Failed transactions',
    text: 'Paste the address of a contract. Watches the calls of it that fail, with the reason.',
    picture: 'failure',
    example: 'swap failed: “slippage too high”',
    family: 'evm',
    toFill: ['addresses'],
    name: (subject = 'Contract') => `${subject} failures`,
    fill: (draft) => ({
      ...draft,
      includeContractLogs: false,
      calledFunctions: '*',
      transactionStatus: 'failed',
    }),
  },
  {
    id: 'mints',
    title: 'NFT mints',
    text: 'Paste the address of a collection. Watches its mints: transfers from the zero address.',
    picture: 'mint',
    example: 'Token 4021, minted by treasury',
    family: 'evm',
    toFill: ['addresses'],
    name: (subject = 'NFT') => `${subject} mints`,
    fill: (draft) =>
      withConditions(draft, [ERC721_TRANSFER, ERC1155_SINGLE, ERC1155_BATCH], {
        name: 'from',
        operator: 'eq',
        value: ZERO_ADDRESS,
      }),
  },
  {
    id: 'pools',
    title: 'Pools of a factory',
    text: 'Enter the address of a factory, such as that of Uniswap v3. Watches the swaps in each pool that it creates.',
    picture: 'children',
    example: 'Swap of 1.2 WETH in a new pool',
    family: 'evm',
    toFill: ['factory'],
    name: () => 'Pools',
    fill: (draft) => ({
      ...withEvents(draft, parseEvents(UNISWAP_V3_SWAP).items),
      factories: [{ ...NEW_FACTORY, event: POOL_CREATED, parameter: 'pool' }],
    }),
  },
  {
    id: 'balance',
    title: 'Balance below a threshold',
    text: 'Paste the addresses of accounts and enter an amount. Sends a webhook when a native balance falls below it.',
    picture: 'falling',
    example: '0.51 → 0.48 ETH, below 0.5',
    family: 'evm',
    toFill: ['addresses', 'threshold'],
    name: (subject = '') => `Balance ${subject}`.trimEnd(),
    fill: (draft) => ({
      ...draft,
      includeContractLogs: false,
      reads: [{ ...NEW_READ, source: 'native', when: { kind: 'below', limit: '' } }],
    }),
  },
  {
    id: 'value',
    title: 'Value changes',
    text: 'Enter the address of a contract, and one of its view functions. Sends a webhook when the result changes.',
    picture: 'steps',
    example: 'totalSupply: 1,000,000 → 1,000,250',
    family: 'evm',
    toFill: ['contract'],
    name: () => 'Value changes',
    fill: (draft) => ({
      ...draft,
      includeContractLogs: false,
      reads: [{ ...NEW_READ, function: 'totalSupply() returns (uint256)' }],
    }),
  },
  {
    id: 'feed',
    title: 'Transfers as a feed',
    text: 'Paste the address of a token. Your program reads its transfers from this service, and needs no URL.',
    picture: 'feed',
    example: 'sluice feed transfers',
    family: 'evm',
    toFill: ['addresses'],
    webhookUrl: FEED_URL,
    name: (subject = 'Token') => `${subject} feed`,
    fill: withTransfers,
  },
  {
    id: 'queue',
    title: 'Transfers to a queue',
    text: 'Paste the address of a token and enter the URL of a broker. Each webhook becomes a message.',
    picture: 'queue',
    example: 'A message with 250 USDC in “payments”',
    family: 'evm',
    toFill: ['addresses', 'destination'],
    webhookUrl: QUEUE_BROKERS[0]!.example,
    name: (subject = 'Token') => `${subject} messages`,
    fill: withTransfers,
  },
  {
    id: 'tables',
    title: 'Transfers in tables',
    text: 'Paste the address of a token and enter the URL of a database. Each transfer becomes a row, which follows reorgs.',
    picture: 'table',
    example: 'select sum(value) from event_transfer',
    family: 'evm',
    toFill: ['addresses', 'destination'],
    webhookUrl: TABLES_EXAMPLE,
    name: (subject = 'Token') => `${subject} tables`,
    fill: withTransfers,
  },
];
