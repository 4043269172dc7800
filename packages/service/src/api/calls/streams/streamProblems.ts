import { toAptosChain } from '@sluice/kit/contract';
import type { StreamOptions, StreamRecord } from '../../../store/streams/contract.ts';

export interface ProblemNeeds {
  /** Returns whether blocks of this chain are read. */
  hasSource(chain: string): boolean;
  /** Returns why blocks of this chain are not read at the moment; undefined if they are. */
  whyDown(chain: string): string | undefined;
  /** Returns whether it is known that no node of this chain traces blocks. */
  lacksTraces(chain: string): boolean;
  /** Returns the events whose filters cannot be read, because they are not in the stream's ABI. */
  unreadEvents(options: StreamOptions): string[];
}

/**
 * Returns the problems that limit the matches of an active stream, with their fixes; empty if there
 * are none.
 */
export function problemOf(record: StreamRecord, needs: ProblemNeeds): string {
  const problems: string[] = [];
  const missing = record.chainIds.filter((chain) => !needs.hasSource(chain));
  if (missing.length > 0) {
    const flags = missing.map((chain) =>
      record.family === 'evm'
        ? `--chain ${chain}=<rpcUrl>`
        : `--aptos ${networkOf(chain)}=<fullnodeUrl>`,
    );
    problems.push(
      `No source for ${missing.map(networkOf).join(', ')}: start the service with ${flags.join(' ')}`,
    );
  }
  for (const chain of record.chainIds.filter((each) => !missing.includes(each))) {
    const why = needs.whyDown(chain);
    if (why !== undefined) problems.push(`${networkOf(chain)} is down: ${why}`);
  }
  if (record.family === 'aptos') return problems.join('. ');
  const { allAddresses, includeContractLogs, includeNativeTxs, includeInternalTxs } =
    record.options;
  // At every address, only logs are matched. The transactions of the logs are added.
  if (!includeContractLogs && (allAddresses || (!includeNativeTxs && !includeInternalTxs))) {
    problems.push(
      allAddresses
        ? 'Matches nothing: allAddresses requires includeContractLogs'
        : 'Matches nothing: set includeContractLogs, includeNativeTxs or includeInternalTxs',
    );
  }
  const unread = needs.unreadEvents(record.options);
  if (unread.length > 0) {
    const more = unread.length > NAMED ? ` and ${unread.length - NAMED} more` : '';
    problems.push(
      `The filter of ${unread.slice(0, NAMED).join(', ')}${more} matches nothing: add the event to abi`,
    );
  }
  const untraced = record.chainIds.filter(needs.lacksTraces);
  if (record.options.includeInternalTxs && untraced.length > 0 && missing.length === 0) {
    problems.push(
      `No internal transactions on ${untraced.join(', ')}: add a node that supports debug_traceBlockByHash or trace_block`,
    );
  }
  return problems.join('. ');
}

/** Maximum number of events that are named; the rest are counted. */
const NAMED = 3;

/** Returns a chain as messages show it: an Aptos chain by network name, an EVM chain by id. */
const networkOf = (chain: string): string => chain.replace(APTOS_PREFIX, '');
const APTOS_PREFIX = toAptosChain('mainnet').replace('mainnet', '');
