/** Checks recent blocks of live nodes for fields, transaction types and rules that are unknown. */
import {
  type HeaderProof,
  createHeaderProver,
  toFindings,
} from '../../packages/service/src/families/evm/ingest/headerLayout.ts';
import { unknownFieldsOf } from '../../packages/service/src/families/evm/ingest/layout/headerFields.ts';
import {
  type Network,
  networkOf,
} from '../../packages/service/src/families/evm/ingest/networks.ts';
import type { Finding } from '../../packages/service/src/families/evm/ingest/normalize.ts';
import { checkRoots } from '../../packages/service/src/families/evm/ingest/proof/proveBlock.ts';
import {
  encodeTransaction,
  typeOf,
} from '../../packages/service/src/families/evm/ingest/proof/transactions.ts';
import type { Json } from '../../packages/service/src/ingest/json.ts';

export interface Watched {
  /** Chain ID in hex. */
  chain: string;
  url: string;
}

interface Report {
  text: string;
  /** 1 if something is not understood, otherwise 2 if a node can't be read, otherwise 0. */
  exitCode: 0 | 1 | 2;
}

/** Something that is not understood, and the change that covers it. */
interface Surprise {
  what: string;
  change: string;
}

const TIMEOUT_MS = 30_000;
const TABLE = 'packages/service/src/families/evm/ingest/networks.ts';
const LAYOUTS = 'packages/service/src/families/evm/ingest/layout/headerFields.ts';
const TYPES = 'packages/service/src/families/evm/ingest/proof/networkTypes.ts';

/** Reads the newest `blocks` blocks of each chain, and describes what is not understood. */
export async function watchForks(chains: readonly Watched[], blocks: number): Promise<Report> {
  const reports = await Promise.all(chains.map((watched) => watchChain(watched, blocks)));
  const text = reports.map((each) => each.text).join('\n\n');
  const codes = reports.map(({ exitCode }) => exitCode);
  return { text, exitCode: codes.includes(1) ? 1 : codes.includes(2) ? 2 : 0 };
}

async function watchChain({ chain, url }: Watched, blocks: number): Promise<Report> {
  const network = networkOf(chain);
  const title = `## ${network.name} ${chain}`;
  try {
    const surprises = new Map<string, Surprise & { first: number; count: number }>();
    const head = Number(await call(url, 'eth_blockNumber', []));
    const serves = await call(url, 'eth_chainId', []);
    if (serves !== chain) throw new Error(`the node serves ${String(serves)}`);
    const prover = createHeaderProver();
    const from = Math.max(head - blocks + 1, 1);
    for (let number = from; number <= head; number++) {
      for (const each of await findSurprises(url, number, network, prover)) {
        const known = surprises.get(each.what) ?? { ...each, first: number, count: 0 };
        surprises.set(each.what, { ...known, count: known.count + 1 });
      }
    }
    const read = `blocks ${from} to ${head}`;
    if (surprises.size === 0) return { text: `${title}\n\nUnderstood: ${read}.`, exitCode: 0 };
    const lines = [...surprises.values()].map(
      ({ what, change, first, count }) =>
        `- ${what} (block ${first}; ${count} of ${head - from + 1} blocks). ${change}`,
    );
    return { text: [title, '', `In ${read}:`, '', ...lines].join('\n'), exitCode: 1 };
  } catch (error) {
    // The URL may contain a key.
    const reason = (error as Error).message.replaceAll(url, '<URL>');
    return { text: `${title}\n\nCouldn't read the node: ${reason}`, exitCode: 2 };
  }
}

async function findSurprises(
  url: string,
  number: number,
  network: Network,
  prover: ReturnType<typeof createHeaderProver>,
): Promise<Surprise[]> {
  const height = `0x${number.toString(16)}`;
  const block = (await call(url, 'eth_getBlockByNumber', [height, true])) as Json | null;
  if (block === null) return [];
  const receipts = await readReceipts(url, height, block);
  const known = prover.check(block);
  const header = await prover.prove(block, 'node');
  const findings = [
    ...toFindings(header),
    // The roots bind only if the header is proven.
    ...(header.result === 'passed' ? checkRoots(block, receipts, network) : []),
  ];
  return [
    ...findFields(block, known, header),
    ...findTypes(block, network),
    ...findings
      .filter(({ code }) => !network.deviations.includes(code))
      .filter((finding) => !isExplained(finding))
      .map(toSurprise),
  ];
}

async function readReceipts(url: string, height: string, block: Json): Promise<Json[]> {
  const list = await call(url, 'eth_getBlockReceipts', [height]).catch(() => undefined);
  if (Array.isArray(list)) return list as Json[];
  const receipts: Json[] = [];
  for (const { hash } of block['transactions'] as Json[]) {
    const receipt = (await call(url, 'eth_getTransactionReceipt', [hash])) as Json | null;
    if (receipt !== null) receipts.push(receipt);
  }
  return receipts;
}

/** Describes fields that a search proved, and fields of a header that is not proven. */
function findFields(block: Json, known: HeaderProof, proof: HeaderProof): Surprise[] {
  if (known.result !== 'not-applicable') return [];
  const fields = unknownFieldsOf(block).map((name) => `${name}=${JSON.stringify(block[name])}`);
  const names = fields.map((each) => each.split('=')[0]).join(', ');
  return proof.result === 'passed'
    ? [
        {
          what: `The header has unknown fields that a search proves: ${names}`,
          change: `Add those that are hashed to the end of the layout in ${LAYOUTS}, others to NOT_HASHED: ${fields.join(', ')}`,
        },
      ]
    : [
        {
          what: `The header has unknown fields, and no layout was found: ${names}`,
          change: `Add a layout to LAYOUTS in ${LAYOUTS}: ${fields.join(', ')}`,
        },
      ];
}

function findTypes(block: Json, network: Network): Surprise[] {
  const unknown = (block['transactions'] as Json[]).filter(
    (each) => !network.isOutsideRoots(each, block) && encodeTransaction(each) === undefined,
  );
  return [...new Set(unknown.map(typeOf))].map((type) => {
    const example = unknown.find((each) => typeOf(each) === type)!;
    return {
      what: `The encoding of a transaction of type ${type} is unknown`,
      change: `Add '${type}' to NETWORK_TYPES in ${TYPES}. Its fields: ${Object.keys(example).join(', ')}; see ${String(example['hash'])}`,
    };
  });
}

/** Whether the unknown field or type is described already. */
const isExplained = ({ result, reason }: Finding): boolean =>
  result === 'not-applicable' && /unknown header fields|encoding of a transaction/.test(reason);

const toSurprise = ({ code, result, reason }: Finding): Surprise => ({
  what: `The check ${code} ${result === 'failed' ? 'failed' : 'does not apply'}: ${reason}`,
  change: `If the network is right, add '${code}' to the deviations of its row in ${TABLE}`,
});

async function call(url: string, method: string, params: unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`${method}: HTTP ${response.status}`);
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}
