/** How providers refuse `eth_getLogs` over a range: their messages, codes and limits. */
import type { SourceErrorKind } from '../source.ts';
import type { RangeRefusal } from './rangeRefusal.ts';

export interface Refusal {
  provider: string;
  code: number;
  text: string;
  /** The `data` of the error. */
  data?: unknown;
  /** HTTP status of the response. Default: 200. */
  status?: number;
  /** Whether the body of the response is the text alone. Default: false. */
  isPlain?: boolean;
  /** The kind of the error. Default: `too-large`. */
  kind?: SourceErrorKind;
  /** The range that the refusal suggests. */
  suggests: RangeRefusal;
  /**
   * Number of blocks that the node accepts; 0 if it accepts no range. Default: the limit that the
   * refusal states, or {@link VAGUE_LIMIT}.
   */
  blocks?: number;
}

/** Limit of nodes whose refusals state no limit. */
const VAGUE_LIMIT = 500;

export const limitOf = ({ blocks, suggests }: Refusal): number =>
  blocks ?? suggests.blocks ?? VAGUE_LIMIT;

/** Returns the refusal as a fault of a scripted node, which suggests a range of its chain. */
export const toTrouble = (refusal: Refusal) => {
  const { code, text, data, status, isPlain } = refusal;
  return {
    kind: 'rangeLimit' as const,
    blocks: limitOf(refusal),
    code,
    message: text
      .replace(/\[0x[0-9a-f]+, ?0x[0-9a-f]+\]/i, '[$from, $to]')
      .replace(/the range \d+-\d+/, 'the range $fromNumber-$toNumber'),
    ...(data !== undefined && { data }),
    ...(status !== undefined && { status }),
    ...(isPlain !== undefined && { isPlain }),
  };
};

const ALCHEMY =
  'Log response size exceeded. You can make eth_getLogs requests with up to a 10,000 block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x0, 0x79bcb3]';

type Row = readonly [
  provider: string,
  code: number,
  text: string,
  suggests: RangeRefusal,
  more?: Partial<Refusal>,
];

const ROWS: readonly Row[] = [
  ['Alchemy', -32602, ALCHEMY, { to: 0x79bcb3 }],
  [
    'Alchemy, free',
    -32600,
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x1180fca, 0x1180fd3]. Upgrade to PAYG for expanded block range.',
    { to: 0x1180fd3 },
    { blocks: 10 },
  ],
  [
    'Alchemy, slow',
    -32000,
    'Query timeout exceeded. Consider reducing your block range. Based on your parameters and the response size limit, this block range should work: [0x5223c98, 0x5223e80]',
    { to: 0x5223e80 },
  ],
  [
    'Infura',
    -32005,
    'query returned more than 10000 results. Try with this block range [0xBDE5F8, 0x102DBCC].',
    { to: 0x102dbcc },
  ],
  ['Infura, range', -32005, 'range 25887126 - 25897126 exceeds limit of 10000', { blocks: 10_000 }],
  ['Infura, bare', -32005, 'query returned more than 10000 results', {}],
  ['QuickNode', -32614, 'eth_getLogs is limited to a 10,000 range', { blocks: 10_000 }],
  ['QuickNode, trial', -32615, 'eth_getLogs is limited to a 5 range', { blocks: 5 }],
  ['Ankr', -32600, 'block range is too wide', {}],
  ['Ankr, results', -32000, 'query exceeds max results 20000', {}],
  [
    'Ankr, suggestion',
    -32000,
    'query exceeds max results 20000, retry with the range 59066104-59066970',
    { to: 59_066_970 },
  ],
  ['Ankr, TAC', -32000, 'maximum [from, to] blocks distance: 2000', { blocks: 2_000 }],
  ['dRPC', 35, 'ranges over 10000 blocks are not supported on freetier', { blocks: 10_000 }],
  ['dRPC, results', -32000, 'query returns too many logs', {}],
  [
    'Chainstack',
    -32602,
    'Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits',
    {},
  ],
  ['PublicNode', -32701, 'exceed maximum block range: 50000', { blocks: 50_000 }],
  [
    'Avalanche',
    -32000,
    'requested too many blocks from 1 to 5000, maximum is set to 2048',
    { blocks: 2_048 },
  ],
  ['Cloudflare', -32047, 'Invalid eth_getLogs request. Max range: 800', { blocks: 800 }],
  ['thirdweb', -32000, 'Maximum allowed number of requested blocks is 2000', { blocks: 2_000 }],
  ['1RPC', -32602, 'eth_getLogs is limited to 0 - 50 blocks range', { blocks: 50 }],
  ['1RPC, bytes', -32000, 'response size should not greater than 10000000 bytes', {}],
  ['BlockPI', -32000, 'eth_getLogs is limited to 1024 block range', { blocks: 1_024 }],
  [
    'Blast',
    -32000,
    'block range exceeds the range allowed for your plan (5000 > 500)',
    { blocks: 500 },
  ],
  ['Coinbase', -32000, 'please limit the query to at most 1,000 blocks', { blocks: 1_000 }],
  ['Merkle', -32000, 'eth_getLogs range is too large, max is 10k blocks', { blocks: 10_000 }],
  ['Moonriver', -32000, 'block range is too wide (maximum 1024)', { blocks: 1_024 }],
  ['Harmony', -32000, 'query must be smaller than size 1024', { blocks: 1_024 }],
  ['Swell', -32000, 'block range greater than 10000 max', { blocks: 10_000 }],
  ['Optimism', -32000, 'backend response too large', {}],
  ['Base', -32000, 'block range too large', {}],
  ['Arbitrum', -32000, 'logs matched by query exceeds limit of 10000', {}],
  ['reth, range', -32602, 'query exceeds max block range 100000', { blocks: 100_000 }],
  [
    'reth, results',
    -32602,
    'query exceeds max results 20000, retry with the range 10-20',
    { to: 20 },
  ],
  ['geth', -32000, 'exceed max block range 5000', { blocks: 5_000 }],
  ['BSC', -32005, 'limit exceeded', {}, { blocks: 1 }],
  ['BSC, wider', -32005, 'limit exceeded', {}],
  [
    'Tenderly',
    -32602,
    'invalid params',
    { blocks: 2_000 },
    { data: { error_id: '4ed94073', payload: 'range 9009594 is bigger than range limit 2000' } },
  ],
  [
    'a limit in data',
    -32602,
    'Invalid params',
    { blocks: 200 },
    {
      data: 'requested block range 16777217 exceeds the limit of 200; narrow your fromBlock/toBlock',
    },
  ],
  [
    'a nested message',
    -32603,
    'internal error',
    {},
    { data: { message: 'block range is too wide' } },
  ],
  [
    'a gateway that nests errors',
    -32000,
    'upstream error',
    { blocks: 300 },
    { data: [{ cause: { error: { message: 'exceed maximum block range: 300' } } }] },
  ],
  [
    'Erigon',
    -32602,
    'query block range exceeds server limit, narrow your filter: 700',
    { blocks: 700 },
  ],
  [
    'Morph',
    -32000,
    'block range is larger than max block range, block range = 5120, max block range = 5000',
    { blocks: 5_000 },
  ],
  [
    'a limit after the requested size',
    -32000,
    'block range too large (2500), maximum allowed is 2000 blocks',
    { blocks: 2_000 },
  ],
  ['Energy Web', -32000, 'Query requested more than 10.000 blocks', { blocks: 10_000 }],
  ['Candle', -32600, 'block range too high', {}],
  ['Optimism, Sepolia', -32062, 'Block range is too large', {}, { data: { trace_id: 'af2eeafc' } }],
  [
    'QuickNode over HTTP 413',
    -32614,
    'eth_getLogs is limited to a 1,000 range',
    { blocks: 1_000 },
    { status: 413 },
  ],
  [
    'Alchemy over HTTP 400',
    -32600,
    'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x1a30dfd, 0x1a30ff0]',
    { to: 0x1a30ff0 },
    { status: 400 },
  ],
  [
    'a gateway over HTTP 413',
    0,
    '<html><body><h1>413</h1>Maximum block range: 800</body></html>',
    { blocks: 800 },
    { status: 413, isPlain: true },
  ],
  [
    'a gateway over HTTP 422',
    0,
    'unprocessable',
    {},
    { kind: 'refused', status: 422, isPlain: true },
  ],
  ['a server over HTTP 500', 0, 'block range too large', {}, { status: 500, isPlain: true }],
  ['reth, bytes', -32008, 'Response is too big', {}, { data: 'Exceeded max limit of 157286400' }],
  ['a node without a reason', -32602, 'Invalid params', {}, { kind: 'refused' }],
  ['a node whose limit is an internal error', -32603, 'Internal error', {}, { kind: 'refused' }],
  [
    'a node that states a limit that is too high',
    -32000,
    'max block range 9000',
    { blocks: 9_000 },
    { blocks: 100 },
  ],
  [
    'a node that states a limit that is too low',
    -32000,
    'max block range 3',
    { blocks: 3 },
    { blocks: 1_000 },
  ],
  [
    'a node without the method',
    -32601,
    'the method eth_getLogs does not exist',
    {},
    { kind: 'unsupported', blocks: 0 },
  ],
  [
    'PublicNode, archive',
    -32602,
    'Archive requests require a personal token',
    {},
    { kind: 'pruned', blocks: 0 },
  ],
];

export const REFUSALS: readonly Refusal[] = ROWS.map(([provider, code, text, suggests, more]) => ({
  provider,
  code,
  text,
  suggests,
  ...more,
}));
