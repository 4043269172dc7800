/** One node of an EVM chain: what it is asked, and how. */
import { toChainId } from '@sluice/kit/contract';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { toHeader } from './header.ts';
import { object } from '../json.ts';
import { type RpcClient, createRpcClient } from './rpc.ts';
import { SourceError, isLacking } from '../source.ts';
import { type AnyProvider, type Identity, createStanding } from '../nodes/standing.ts';

export interface Provider extends AnyProvider {
  request(method: string, params: readonly unknown[], how?: RequestHow): Promise<unknown>;
  subscribeHeads(onHead: () => void): () => void;
}

interface RequestHow {
  /** `aside`: after all that blocks are made of. */
  order?: 'aside' | undefined;
  /** The node may refuse it without fault. */
  isOptional?: boolean | undefined;
  /** Of the answer, cut off beyond. */
  maxBytes?: number | undefined;
}

/** A contract that refuses a call refuses it everywhere; that is no fault of the node. */
const REVERTED =
  /revert|out of gas|gas required exceeds|invalid (opcode|jump)|stack (under|over)flow|VM (execution|exception)|EVM error|execution (aborted|timeout|timed out)/i;

export const isReverted = (error: SourceError): boolean =>
  error.kind === 'refused' && (error.rpcCode === 3 || REVERTED.test(error.message));

/** Headers: what latency is measured by, since whole blocks take as long as they are large. */
const isShort = (method: string, params: readonly unknown[]): boolean =>
  method.startsWith('eth_getBlockBy') && params[1] === false;

/** @param name of the node in messages: its host, and a number where a host is given twice. */
export function createProvider(chain: string, url: string, name: string): Provider {
  const client: RpcClient = createRpcClient(url, name);

  const request: Provider['request'] = (method, params, { order, isOptional, maxBytes } = {}) =>
    standing.run(() => client.request(method, params, maxBytes), {
      isShort: isShort(method, params),
      order,
      isOptional,
    });

  const readBlockHeader = async (
    method: string,
    at: string,
    what: string,
    how?: RequestHow,
  ): Promise<BlockHeader | undefined> => {
    const answer = await request(method, [at, false], how);
    if (answer === null) return undefined;
    const header = toHeader(chain, object(answer, `${name}: ${what}`));
    standing.remember(header.hash);
    return header;
  };

  const readIdentity = async (): Promise<Identity> => {
    const answer = await request('eth_chainId', []);
    const id = toChainId(answer);
    if (id !== chain) {
      throw new SourceError(
        'wrong-chain',
        `${name} serves chain ${id ?? JSON.stringify(answer)}, not ${chain}: correct --chain ${chain}=<rpcUrl>`,
      );
    }
    try {
      const genesis = await readBlockHeader('eth_getBlockByNumber', '0x0', 'block 0');
      return { genesisHash: genesis?.hash };
    } catch (error) {
      if (error instanceof SourceError && isLacking(error)) {
        return { genesisHash: undefined };
      }
      throw error;
    }
  };

  const standing = createStanding(name, readIdentity, { isNoFault: isReverted });
  return Object.assign(standing, {
    request,
    async readHead() {
      const header = await readBlockHeader('eth_getBlockByNumber', 'latest', 'the latest block');
      if (header === undefined) throw new SourceError('missing', `${name}: it has no latest block`);
      standing.noteHead(header);
      return header;
    },
    async readTagged(tag, order) {
      try {
        const what = `the ${tag} block`;
        return await readBlockHeader('eth_getBlockByNumber', tag, what, {
          order,
          isOptional: true,
        });
      } catch (error) {
        // Nodes word it in many ways that they do not know the tag, or no such block yet.
        if (error instanceof SourceError && isLacking(error)) return undefined;
        throw error;
      }
    },
    async readHeaderAt(number: number) {
      const what = `block ${number}`;
      const header = await readBlockHeader(
        'eth_getBlockByNumber',
        `0x${number.toString(16)}`,
        what,
      );
      if (header !== undefined && header.number !== number) {
        throw new SourceError('inconsistent', `${name}: ${what} came as block ${header.number}`);
      }
      return header;
    },
    async readHeaderOf(hash: string) {
      const header = await readBlockHeader('eth_getBlockByHash', hash, `block ${hash}`);
      if (header !== undefined && header.hash !== hash) {
        throw new SourceError('inconsistent', `${name}: block ${hash} came as ${header.hash}`);
      }
      return header;
    },
    subscribeHeads: client.subscribeHeads,
    close: client.close,
  } satisfies Omit<Provider, keyof typeof standing>);
}
