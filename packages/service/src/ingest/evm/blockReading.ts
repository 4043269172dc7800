/** Reads the needed parts of blocks from one or more nodes, and checks them against each other. */
import type { BlockNeeds, EvmBlock } from '../../match/evm/block.ts';
import type { BlockHeader, BlockRef } from '../../store/blocks/contract.ts';
import { type Json, object } from '../json.ts';
import type { Providers } from '../nodes/providers.ts';
import { SourceError } from '../source.ts';
import { hashesOf } from './blockParts.ts';
import { toHeader } from './header.ts';
import { createProofs } from './proof/proveBlock.ts';
import type { Prover } from './proof/prover.ts';
import type { Body, Provider } from './provider.ts';
import type { ReceiptReader } from './receiptReader.ts';
import type { TraceReader } from './traces.ts';
import type { Verify } from './unverified.ts';

/** A header, or as much of it as is known before the block is read. */
type KnownHeader = BlockRef & Partial<Pick<BlockHeader, 'parentHash' | 'timestamp'>>;

export interface BlockReading {
  /** @throws SourceError if all nodes lack a part, or the parts contradict each other */
  read(header: KnownHeader, needs: BlockNeeds): Promise<EvmBlock>;
  /**
   * Reads the block at a height, with one call fewer than reading its header first; undefined if no
   * node has it.
   */
  readAt(
    number: number,
    needs: BlockNeeds,
  ): Promise<{ header: BlockHeader; block: EvmBlock } | undefined>;
}

export function createBlockReading({
  providers,
  prover,
  receipts,
  traces,
  verify,
}: {
  providers: Pick<Providers<Provider>, 'ask' | 'readAgreed' | 'doubt'>;
  prover: Prover;
  receipts: ReceiptReader;
  traces: TraceReader;
  verify: Verify;
}): BlockReading {
  /**
   * Returns whether to read full transactions. A proof needs them even if the caller needs only
   * logs.
   */
  const withTransactions = async ({ transactions, logs }: BlockNeeds): Promise<boolean> => {
    await prover.load();
    return transactions || (logs && (prover.isRequired() || prover.isJudging()));
  };

  /** Reads the block and checks that it matches the known fields of its header. */
  const readBody = async (
    node: Provider,
    header: KnownHeader,
    needs: BlockNeeds,
  ): Promise<Body> => {
    const what = `${node.name}: block ${header.number} ${header.hash}`;
    const body = object(
      await node.request('eth_getBlockByHash', [header.hash, needs.transactions]),
      what,
    );
    const seen = toHeader(body, prover.headers());
    if (
      seen.hash !== header.hash ||
      seen.number !== header.number ||
      (header.parentHash ?? seen.parentHash) !== seen.parentHash ||
      (header.timestamp ?? seen.timestamp) !== seen.timestamp
    ) {
      // Either this node or the provider of the header is wrong. Blaming only this node would let a
      // lying node that returns headers early discredit all others.
      providers.doubt(header.hash);
      throw new SourceError(
        'inconsistent',
        `${what} was returned as ${seen.number} ${seen.hash} on ${seen.parentHash} at ${seen.timestamp}`,
      );
    }
    return { header: seen, body };
  };

  /**
   * Reads the block from one provider. Other providers may supply missing parts by the same hash.
   */
  const readBlockOf = async (
    node: Provider,
    known: KnownHeader,
    wanted: BlockNeeds,
    given: Body | undefined,
  ): Promise<EvmBlock> => {
    const needs = { ...wanted, transactions: await withTransactions(wanted) };
    const { header, body } = given ?? (await readBody(node, known, needs));
    const part = <T>(read: (from: Provider) => Promise<T | undefined>): Promise<T | undefined> =>
      providers.ask(read, { hash: header.hash, first: node });
    const hashes = hashesOf(body);
    const internalTransactions =
      needs.traces && hashes.length > 0
        ? ((await part((from) => traces.read(from, header, hashes))) ?? [])
        : [];
    const readParts: Parameters<Verify>[2] = async (from, isFirst) => {
      // The parts from each node are read with that node's block, so that the responses of the
      // nodes can be compared.
      const own: Json =
        from === node || isFirst ? body : (await readBody(from, header, needs)).body;
      if (!needs.transactions) return receipts.readLogs(from, own, header);
      const { receipts: raw, ...parts } = await receipts.readAll(from, own, header);
      if (wanted.proofs && prover.isRequired() && parts.doubts.length === 0) {
        parts.proofs = createProofs(own, raw);
      }
      if (wanted.transactions) return parts;
      // Unless proofs are required, all parts were read only to determine a verdict. Doubts about
      // them must not delay a block of which only the logs are needed.
      return parts.doubts.length > 0 && !prover.isRequired()
        ? receipts.readLogs(from, own, header)
        : { ...parts, transactions: [] };
    };
    const rest =
      needs.transactions || needs.logs ? await verify(header, part, readParts) : undefined;
    return { ...header, logs: [], transactions: [], ...rest, internalTransactions };
  };

  return {
    async read(header, needs) {
      const block = await providers.ask((node) => readBlockOf(node, header, needs, undefined), {
        hash: header.hash,
      });
      return block!;
    },

    async readAt(number, needs) {
      const isComplete = await withTransactions(needs);
      const found = await providers.readAgreed(async (node) => {
        const body = await node.readBodyAt(number, isComplete);
        return body && { ...body, node };
      });
      if (found === undefined) return undefined;
      const { header, node: giver } = found;
      let given: Body | undefined = found;
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
  };
}
