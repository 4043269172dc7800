import { describe, expect, test } from 'vitest';
import { SourceError } from '../source.ts';
import { parseRangeRefusal } from './rangeRefusal.ts';
import { readResult } from './rpcError.ts';

const ALCHEMY =
  'Log response size exceeded. You can make eth_getLogs requests with up to a 10,000 block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x0, 0x79bcb3]';

/** Error messages of providers, with their codes and the ranges that they suggest. */
const REFUSALS: [provider: string, code: number, text: string, suggests: object][] = [
  ['Alchemy', -32602, ALCHEMY, { to: 0x79bcb3 }],
  [
    'Alchemy, free',
    -32600,
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x1180fca, 0x1180fd3]. Upgrade to PAYG for expanded block range.',
    { to: 0x1180fd3 },
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
];

describe('a refused range', () => {
  test.each(REFUSALS)(
    'of %s is too large, and suggests a range',
    (_provider, code, text, suggests) => {
      const answer = { id: 1, error: { code, message: text } };
      let refused: unknown;
      try {
        readResult('node', 'eth_getLogs', answer);
      } catch (error) {
        refused = error;
      }
      expect(refused).toBeInstanceOf(SourceError);
      expect(refused).toMatchObject({ kind: 'too-large', range: suggests });
    },
  );

  test('with a range that ends before it begins suggests nothing', () => {
    expect(parseRangeRefusal('Try with this block range [0x20, 0x10]')).toEqual({});
    expect(parseRangeRefusal('retry with the range 500-100')).toEqual({});
  });

  test('is not found in an error of another method', () => {
    const answer = { id: 1, error: { code: -32000, message: 'gas exceeds limit of 10' } };
    expect(() => readResult('node', 'eth_call', answer)).toThrow(
      expect.objectContaining({ kind: 'refused' }) as Error,
    );
  });
});
