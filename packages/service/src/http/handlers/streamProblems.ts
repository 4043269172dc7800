import { toAptosChain } from '@sluice/kit/contract';
import type { StreamRecord } from '../../store/store.ts';

export interface ProblemNeeds {
  /** Whether blocks of this chain are read. */
  hasSource(chain: string): boolean;
  /** Whether it is known that no node of this chain traces blocks. */
  lacksTraces(chain: string): boolean;
}

/** What keeps an active stream from finding all that it asks for, with the fix; empty where nothing does. */
export function problemOf(record: StreamRecord, needs: ProblemNeeds): string {
  const [missing, ...others] = record.chainIds.filter((chain) => !needs.hasSource(chain));
  if (missing !== undefined) {
    const flag =
      record.family === 'evm'
        ? `--chain ${missing}=<rpcUrl>`
        : `--aptos ${networkOf(missing)}=<fullnodeUrl>`;
    const names = [missing, ...others].map(networkOf).join(', ');
    return `No source for ${names}: start the service with ${flag}`;
  }
  if (record.family === 'aptos' || !record.options.includeInternalTxs) return '';
  const untraced = record.chainIds.filter(needs.lacksTraces);
  return untraced.length === 0
    ? ''
    : `No internal transactions on ${untraced.join(', ')}: no node there offers debug_traceBlockByHash or trace_block`;
}

/** An Aptos chain goes by its network's name; an EVM chain by its id. */
const networkOf = (chain: string): string => chain.replace(APTOS_PREFIX, '');
const APTOS_PREFIX = toAptosChain('mainnet').replace('mainnet', '');
