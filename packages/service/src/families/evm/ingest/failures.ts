/** Reads why transactions failed, from the trace of each. */
import type { CallFailure } from '../base/callFailure.ts';
import type { FailureAnswer, StateReader } from '../enrich/state.ts';
import type { BlockRef } from '../../../store/blocks/contract.ts';
import { RetryableError } from '../../../base/errors.ts';
import { toList, toObject } from '../../../ingest/json.ts';
import { SourceError, isOfKind } from '../../../ingest/source.ts';
import { failureOfResult, failureOfTrace } from './frames.ts';
import { mapLimited } from './mapLimited.ts';
import type { EvmSource } from './source.ts';

/** Maximum number of concurrent traces of one read. */
const CONCURRENCY = 4;
/** Maximum size of a trace, which has the input and output of the transaction. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const TRACER = { tracer: 'callTracer', tracerConfig: { onlyTopCall: true }, timeout: '30s' };

export function createFailureReader({
  requestAt,
}: Pick<EvmSource, 'requestAt'>): StateReader['failures'] {
  const request = (block: BlockRef, method: string, ...params: unknown[]): Promise<unknown> =>
    requestAt(block, method, params, { maxBytes: MAX_ANSWER_BYTES });

  const traceWithGeth = async (block: BlockRef, hash: string): Promise<CallFailure | undefined> => {
    const failure = failureOfResult(await request(block, 'debug_traceTransaction', hash, TRACER));
    // The trace has no block. After a reorg, it may be that of another block.
    const found = await request(block, 'eth_getTransactionByHash', hash);
    if ((found as { blockHash?: unknown } | null)?.blockHash !== block.hash)
      throw gone(block, hash);
    return failure;
  };

  const traceWithParity = async (
    block: BlockRef,
    hash: string,
  ): Promise<CallFailure | undefined> => {
    const [first] = toList(await request(block, 'trace_transaction', hash), 'traces');
    const trace = toObject(first, 'trace');
    if (trace['blockHash'] !== block.hash) throw gone(block, hash);
    return failureOfTrace(trace);
  };

  const read = async (block: BlockRef, hash: string): Promise<FailureAnswer> => {
    try {
      const failure = await traceWithGeth(block, hash).catch((error: unknown) => {
        if (isOfKind(error, 'unsupported')) return traceWithParity(block, hash);
        throw error;
      });
      return { outcome: 'read', failure };
    } catch (error) {
      return toAnswer(error, block);
    }
  };

  return (block, hashes) => mapLimited(hashes, CONCURRENCY, (hash) => read(block, hash));
}

const gone = ({ number }: BlockRef, hash: string): SourceError =>
  new SourceError('missing', `transaction ${hash} is no longer in block ${number}`);

function toAnswer(error: unknown, { number }: BlockRef): FailureAnswer {
  if (!(error instanceof SourceError)) throw error;
  switch (error.kind) {
    case 'unsupported':
      return { outcome: 'failed', message: 'no node traces transactions' };
    case 'missing':
    case 'pruned':
      return { outcome: 'refused', message: `no node traces transactions of block ${number}` };
    case 'refused':
    case 'too-large':
    case 'inconsistent':
      return { outcome: 'refused', message: `no node returned a usable trace: ${error.kind}` };
    case 'unreachable':
    case 'rate-limited':
    case 'disagreement':
    case 'settling':
    case 'wrong-chain':
      throw new RetryableError('unavailable', error.message, { cause: error });
  }
}
