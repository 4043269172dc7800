/** ABIs of verified contracts, from the servers that the operator named (`--abi-url`). */
import { type AbiItem, abiItemSchema } from '@sluice/kit/contract';
import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import { describeError } from '../../base/log.ts';

export interface AbiSource {
  /** Chains that a server is named for. */
  readonly chains: readonly string[];
  /**
   * Undefined where the server knows no verified contract at this address.
   *
   * @param chain one of `chains`
   * @throws Error that says for people why the server did not tell
   */
  read(chain: string, address: string): Promise<AbiItem[] | undefined>;
  /** Who is asked, without what the URL has of a key. */
  hostOf(chain: string): string;
}

const TIMEOUT_MS = 10_000;
/** Sources come along in some answers. */
const MAX_BYTES = 8 * 1024 * 1024;

/** @param urls by chain, with `{address}` in the place of the address */
export function createAbiSource(urls: Readonly<Record<string, string>>): AbiSource {
  const urlOf = (chain: string, address: string): URL =>
    new URL(urls[chain]!.replaceAll('{address}', address));
  const hostOf = (chain: string): string => urlOf(chain, '0x').host;
  return {
    chains: Object.keys(urls),
    hostOf,
    async read(chain, address) {
      let answer: unknown;
      try {
        const response = await fetch(urlOf(chain, address), {
          headers: { accept: 'application/json' },
          signal: AbortSignal.timeout(TIMEOUT_MS),
          // The operator chose this host and no other: it must not lead us into our own network.
          redirect: 'manual',
        });
        if (response.status === 404) return undefined;
        if (!response.ok) throw new Error(statusError(response));
        answer = parseJson(await readText(response));
      } catch (error) {
        throw new Error(`${hostOf(chain)} told no ABI: ${describeError(error)}`, { cause: error });
      }
      return findAbi(answer);
    },
  };
}

const statusError = ({ status }: Response): string =>
  status >= 300 && status < 400
    ? `HTTP ${status}: redirects are not followed; set --abi-url to the final address`
    : `HTTP ${status}`;

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * The ABI in an answer: the answer itself, `abi` of it (Sourcify, Blockscout), `output.abi` (the
 * compiler's metadata), or `result` as text (Etherscan). Items that are none are left out.
 */
export function findAbi(answer: unknown): AbiItem[] | undefined {
  const found = abiIn.safeParse(answer).data;
  return found?.flatMap((item) => abiItemSchema.safeParse(item).data ?? []);
}

const list = z.array(z.unknown());
const abiIn = z.union([
  list,
  z.object({ abi: list }).transform(({ abi }) => abi),
  z.object({ output: z.object({ abi: list }) }).transform(({ output }) => output.abi),
  z.object({ result: z.string() }).transform(({ result }, context) => {
    try {
      return list.parse(parseJson(result));
    } catch {
      context.addIssue('what is there instead is no ABI');
      return z.NEVER;
    }
  }),
]);
