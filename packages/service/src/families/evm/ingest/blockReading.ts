/** Reads the needed parts of blocks from one or more nodes. */
import type { EvmBlock } from '../match/block.ts';
import type { BlockNeeds, BlockHeader, BlockRef } from '../../../store/blocks/contract.ts';
import type { Providers } from '../../../ingest/nodes/providers.ts';
import { SourceError } from '../../../ingest/source.ts';
import type { ChooseBest } from './bestAnswer.ts';
import { encodeIds } from '../../../ingest/later/records.ts';
import { EVM_RECORDS } from './recordIds.ts';
import type { AcceptBlock } from './acceptance.ts';
import type { Answers } from './answers.ts';
import { hashesOf } from './normalize.ts';
import type { BlockBody, Provider } from './provider.ts';
import type { TraceReader, TracedRecords } from './traces.ts';

/** A header, or as much of it as is known before the block is read. */
type KnownHeader = BlockRef & Partial<Pick<BlockHeader, 'parentHash' | 'timestamp'>>;

export interface BlockReading {
  /** @throws SourceError if all nodes lack a part, or no answer is accepted */
  read(header: KnownHeader, needs: BlockNeeds): Promise<EvmBlock>;
  /**
   * Reads the block at a height, with one call fewer than reading its header first; undefined if no
   * node has it.
   */
  readAt(
    number: number,
    needs: BlockNeeds,
  ): Promise<{ header: BlockHeader; block: EvmBlock } | undefined>;
  /** Reads an uncertain block again; see `LaterReadings.read`. */
  readAgain(
    header: BlockHeader,
    needs: BlockNeeds,
  ): Promise<{ block: EvmBlock; isComplete: boolean }>;
}

export function createBlockReading({
  providers,
  answers,
  accept,
  chooseBest,
  traces,
  isChecked,
  readsRoots,
  readAgainInMs,
}: {
  providers: Pick<Providers<Provider>, 'ask' | 'readAgreed' | 'doubt'>;
  answers: Answers;
  accept: AcceptBlock;
  chooseBest: ChooseBest;
  traces: TraceReader;
  /** Whether blocks are checked against their headers. */
  isChecked: boolean;
  /** Returns whether to read complete blocks only to prove them. */
  readsRoots(): boolean;
  /** Milliseconds until an uncertain block is read again; undefined if it is not. */
  readAgainInMs: number | undefined;
}): BlockReading {
  const readsAll = ({ transactions, logs, proofs }: BlockNeeds): boolean =>
    transactions || (logs && isChecked && (proofs === true || readsRoots()));

  /** Reads the block and checks that it matches the known fields of its header. */
  const readBody = async (
    node: Provider,
    header: KnownHeader,
    needs: BlockNeeds,
  ): Promise<BlockBody> => {
    const what = `${node.name}: block ${header.number} ${header.hash}`;
    const read = await node.readBodyOf(header.hash, needs.transactions);
    if (read === undefined) throw new SourceError('missing', `${what} is missing`);
    const seen = read.header;
    if (
      seen.number !== header.number ||
      (header.parentHash ?? seen.parentHash) !== seen.parentHash ||
      (header.timestamp ?? seen.timestamp) !== seen.timestamp
    ) {
      // Either this node or the provider of the header is wrong. Blaming only this node would let a
      // lying node that returns headers early discredit all others.
      providers.doubt(header.hash);
      throw new SourceError(
        'inconsistent',
        `${what} was returned as ${seen.number} on ${seen.parentHash} at ${seen.timestamp}`,
      );
    }
    return read;
  };

  /**
   * Reads the block from one provider. Other providers may supply missing parts by the same hash.
   */
  const readBlockOf = async (
    node: Provider,
    known: KnownHeader,
    wanted: BlockNeeds,
    given: BlockBody | undefined,
    how = accept,
  ): Promise<EvmBlock> => {
    const needs = { ...wanted, transactions: readsAll(wanted) };
    const body = given ?? (await readBody(node, known, needs));
    const { header } = body;
    const part = <T>(read: (from: Provider) => Promise<T | undefined>): Promise<T | undefined> =>
      providers.ask(read, { hash: header.hash, first: node });
    const hashes = hashesOf(body.body);
    const traced =
      needs.traces && hashes.length > 0
        ? await readTraces(part, (from) => traces.read(from, header, hashes, needs.calls === true))
        : undefined;
    const readParts: Parameters<AcceptBlock>[2] = async (from, isFirst) => {
      // The parts from each node are read with that node's block, so that the responses of the
      // nodes can be compared.
      const own = from === node || isFirst ? body : await readBody(from, header, needs);
      return answers.read(from, own, needs);
    };
    const { unverified, ...parts } =
      needs.transactions || needs.logs
        ? await how(header, part, readParts)
        : { logs: [], transactions: [] };
    const block: EvmBlock = {
      ...header,
      ...parts,
      ...(!wanted.transactions && { transactions: [] }),
      internalTransactions: traced?.internalTransactions ?? [],
      ...(traced?.calls && { calls: traced.calls, failures: traced.failures }),
      ...(traced && { traced: traced.traced }),
      ...withTraces(unverified, traced),
    };
    const { unverified: mark } = block;
    const isReadAgain = mark !== undefined && (mark.isUncertain || needs.holds === true);
    if (isReadAgain && readAgainInMs !== undefined) {
      const records = encodeIds(EVM_RECORDS.of(block));
      mark.reading = { needs: { ...wanted }, records, dueInMs: readAgainInMs };
    }
    return block;
  };

  return {
    async read(header, needs) {
      const block = await providers.ask((node) => readBlockOf(node, header, needs, undefined), {
        hash: header.hash,
      });
      return block!;
    },

    async readAt(number, needs) {
      const isComplete = readsAll(needs);
      const found = await providers.readAgreed(async (node) => {
        const body = await node.readBodyAt(number, isComplete);
        return body && { ...body, node };
      });
      if (found === undefined) return undefined;
      const { header, node: giver } = found;
      let given: BlockBody | undefined = found;
      const block = await providers.ask(
        (node) => {
          const usable = node === giver ? given : undefined;
          // A retry reads the block again.
          given = undefined;
          return readBlockOf(node, header, needs, usable);
        },
        { hash: header.hash, first: giver },
      );
      return { header, block: block! };
    },

    async readAgain(header, needs) {
      let isComplete = !needs.transactions && !needs.logs;
      const how: AcceptBlock = async (...given) => {
        const best = await chooseBest(...given);
        isComplete = best.isComplete;
        return best.accepted;
      };
      const block = await providers.ask(
        (node) => readBlockOf(node, header, needs, undefined, how),
        {
          hash: header.hash,
        },
      );
      return { block: block!, isComplete };
    },
  };
}

/**
 * Reads the traces of a block from one node after another. If each lacks some, returns those of the
 * first node.
 */
async function readTraces(
  ask: (
    read: (from: Provider) => Promise<TracedRecords | undefined>,
  ) => Promise<TracedRecords | undefined>,
  read: (from: Provider) => Promise<TracedRecords | undefined>,
): Promise<TracedRecords | undefined> {
  let partial: TracedRecords | undefined;
  try {
    const complete = await ask(async (from) => {
      const traced = await read(from);
      if (traced?.isPartial !== true) return traced;
      partial ??= traced;
      return undefined;
    });
    return complete ?? partial;
  } catch (error) {
    if (partial === undefined) throw error;
    // The node that failed may have the traces.
    return { ...partial, mayAppear: true };
  }
}

/** Adds the mark of missing traces. */
function withTraces(
  unverified: EvmBlock['unverified'],
  traced: TracedRecords | undefined,
): Pick<EvmBlock, 'unverified'> {
  if (traced?.isPartial !== true) return unverified === undefined ? {} : { unverified };
  const { codes = [], witnesses = 1, isUncertain = false } = unverified ?? {};
  return {
    unverified: {
      codes: [...codes, 'traces'],
      witnesses,
      isUncertain: isUncertain || traced.mayAppear,
    },
  };
}
