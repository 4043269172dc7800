/** Reads what a node returns for a block, in the ways that the node supports, and checks it. */
import type { UnverifiedCode } from '@sluice/kit/contract';
import type { BlockProofs } from '../match/block.ts';
import type { BlockNeeds, BlockHeader } from '../../../store/blocks/contract.ts';
import { type Json, toObject, toHex } from '../../../ingest/json.ts';
import { SourceError, isOfKind } from '../../../ingest/source.ts';
import { toFindings } from './headerLayout.ts';
import type { LearnedFacts } from './learned.ts';
import { mapLimited } from './mapLimited.ts';
import type { Network } from './networks.ts';
import {
  type Finding,
  type Parts,
  fromLogs,
  fromReceipts,
  hashesOf,
  declaredBloom,
  sortReceipts,
} from './normalize.ts';
import { checkRoots, createProofs } from './proof/proveBlock.ts';
import type { BlockBody, Provider } from './provider.ts';
import type { Ways } from './ways.ts';

/** The parts of a block from one node, with the evidence for them. */
export interface Answer extends Parts {
  findings: Finding[];
  notes: UnverifiedCode[];
  /** True if the roots of a header that hashes to the block's hash prove the parts. */
  isProven: boolean;
  /** Set if proofs were requested and the parts are proven. */
  proofs?: BlockProofs;
}

export interface Answers {
  /**
   * Reads the parts of a block from a node. If an answer fails a check, asks the node in another
   * way.
   *
   * @param block with full transactions if `needs.transactions` is set
   */
  read(node: Provider, block: BlockBody, needs: BlockNeeds): Promise<Answer>;
}

/** Maximum number of concurrent requests for single receipts of a block. */
const RECEIPTS_AT_ONCE = 16;

export const isFailed = ({ result }: Finding): boolean => result === 'failed';

/** Returns whether no other request to the node is likely to succeed now. */
const isAway = (error: SourceError): boolean => isOfKind(error, 'rate-limited', 'unreachable');

const isGood = ({ findings }: Answer): boolean => !findings.some(isFailed);

export function createAnswers({
  network,
  learned,
  ways,
}: {
  network: Network;
  learned: LearnedFacts;
  ways: Ways<Provider>;
}): Answers {
  const noteBloom = (block: Json, { logs, findings }: Parts & Pick<Answer, 'findings'>): void => {
    const covers = logs.length > 0 && findings.every(({ code }) => code !== 'bloom');
    if (covers && declaredBloom(block) !== undefined) learned.confirm('blooms-cover');
  };

  /** Checks the receipts of a block. */
  const judge = (
    { body: block, header, proof }: BlockBody,
    receipts: readonly unknown[],
    proofs: boolean,
  ): Answer => {
    const sorted = sortReceipts(block, header, receipts);
    const inOrder = sorted.inOrder.filter((each) => each !== undefined);
    const receiptsOfBlock = [...inOrder, ...sorted.others];
    const isComplete = inOrder.length === sorted.inOrder.length;
    const canProve = isComplete && sorted.findings.length === 0 && proof?.result === 'passed';
    const roots = canProve ? checkRoots(block, receiptsOfBlock, network) : [];
    const isProven = canProve && roots.length === 0;
    const { findings, notes, ...parts } = fromReceipts(block, header, sorted, isProven);
    if (isProven) {
      if (inOrder.length > 0) learned.recordRoots('');
      return {
        ...parts,
        findings: [],
        notes: [],
        isProven,
        ...(proofs && { proofs: createProofs(block, receiptsOfBlock, proof.encoded, network) }),
      };
    }
    const all = [...toFindings(proof), ...roots, ...findings];
    if (inOrder.length > 0 && proof !== undefined)
      learned.recordRoots(all.map(({ reason }) => reason).join('; '));
    return { ...parts, findings: all, notes, isProven };
  };

  const readSingly = (node: Provider, hashes: readonly string[]): Promise<unknown[]> =>
    mapLimited(hashes, RECEIPTS_AT_ONCE, (hash) =>
      node.request('eth_getTransactionReceipt', [hash]),
    );

  const readAll = async (node: Provider, block: BlockBody, proofs: boolean): Promise<Answer> => {
    const { body, header } = block;
    const complete = async (listed: unknown): Promise<Answer> => {
      const list: unknown[] = Array.isArray(listed) ? listed : [];
      const { inOrder } = sortReceipts(body, header, list);
      const missing = hashesOf(body).filter((_, n) => inOrder[n] === undefined);
      // If a transaction is in two blocks, the node may return its receipt from the other block.
      const others = (await readSingly(node, missing)).filter(
        (each) => each !== null && toObject(each, 'receipt')['blockHash'] === header.hash,
      );
      return judge(block, [...list, ...others], proofs);
    };
    const listBy = (name: string, at: unknown) => ({
      name,
      ask: async () => complete(await node.request('eth_getBlockReceipts', [at])),
    });
    const lists = [listBy('by hash', header.hash), listBy('by number', toHex(header.number))];
    let answer: Answer;
    try {
      answer = await ways.ask(node, 'receipts', lists, isGood);
    } catch (error) {
      if (!(error instanceof SourceError) || isAway(error)) throw error;
      answer = await complete([]);
    }
    const lacksLogs = answer.findings.some((each) => each.code === 'bloom' && isFailed(each));
    return lacksLogs ? addListedLogs(node, block, answer) : answer;
  };

  /** Takes the logs that the node lists, if they cover the bloom and the receipts do not. */
  const addListedLogs = async (
    node: Provider,
    { body, header }: BlockBody,
    answer: Answer,
  ): Promise<Answer> => {
    try {
      const listed = await node.request('eth_getLogs', [{ blockHash: header.hash }]);
      const { logs, findings, notes } = fromLogs(body, header, listed);
      if (findings.some(isFailed)) return answer;
      const others = answer.findings.filter(({ code }) => code !== 'bloom');
      return {
        ...answer,
        logs,
        findings: [...others, ...findings],
        notes: [...new Set([...answer.notes, ...notes])],
      };
    } catch (error) {
      if (!(error instanceof SourceError) || isAway(error)) throw error;
      return answer;
    }
  };

  const readLogs = async (node: Provider, { body, header, proof }: BlockBody): Promise<Answer> => {
    const isEmptyCredible =
      hashesOf(body).length === 0 ||
      (declaredBloom(body) !== undefined &&
        (proof?.result === 'passed' || learned.knows('blooms-cover')));
    const request = async (at: Json): Promise<Answer> => {
      const answer = await node.request('eth_getLogs', [at]);
      const { findings, ...parts } = fromLogs(body, header, answer);
      return { ...parts, findings: [...toFindings(proof), ...findings], isProven: false };
    };
    let isEmptyByHash = false;
    const byHash = {
      name: 'by hash',
      async ask() {
        const answer = await request({ blockHash: header.hash });
        isEmptyByHash = answer.logs.length === 0;
        return { answer, isCertain: !isEmptyByHash || isEmptyCredible };
      },
    };
    const byNumber = {
      name: 'by number',
      async ask() {
        const at = toHex(header.number);
        const checkPlace = async (): Promise<void> => {
          if ((await node.readHeaderAt(header.number))?.hash === header.hash) return;
          throw new SourceError('missing', 'another block is at this height');
        };
        await checkPlace();
        const answer = await request({ fromBlock: at, toBlock: at });
        await checkPlace();
        const hasLogs = answer.logs.length > 0;
        if (hasLogs && isEmptyByHash) ways.retire(node, 'logs', 'by hash');
        return { answer, isCertain: hasLogs || isEmptyCredible };
      },
    };
    const byReceipts = {
      name: 'from receipts',
      async ask() {
        // Receipts contain all logs, even those that the node's list of logs omits.
        const full = await node.readBodyOf(header.hash, true);
        if (full === undefined) throw new SourceError('missing', 'the block is missing');
        const answer = await readAll(node, full, false);
        return { answer: { ...answer, transactions: [] }, isCertain: true };
      },
    };
    const { answer } = await ways.ask(
      node,
      'logs',
      [byHash, byNumber, byReceipts],
      (each) => each.isCertain && isGood(each.answer),
    );
    return answer;
  };

  return {
    async read(node, block, needs) {
      try {
        const answer = needs.transactions
          ? await readAll(node, block, needs.proofs === true)
          : await readLogs(node, block);
        noteBloom(block.body, answer);
        return answer;
      } catch (error) {
        throw named(error, node, block.header);
      }
    },
  };
}

/** Adds the node and the block to the message of an error about a value. */
function named(error: unknown, { name }: Provider, { number }: BlockHeader): unknown {
  if (!(error instanceof SourceError) || error.message.startsWith(`${name}:`)) return error;
  return new SourceError(error.kind, `${name}: block ${number}: ${error.message}`, {
    ...(error.rpcCode !== undefined && { rpcCode: error.rpcCode }),
  });
}
