/** Reads the ABIs of verified contracts from the configured servers. */
import { type AbiItem, readAbi } from '@sluice/kit/contract';
import { parseJson } from '../../../base/json.ts';
import { cleanNodeText } from '../../../base/foreignText.ts';
import { describeError } from '../../../base/log.ts';
import { flagOf } from '../../../config/settings.ts';

export interface AbiSource {
  readonly chains: readonly string[];
  /**
   * Returns the ABI of a contract; undefined if the server has no verified ABI for it.
   *
   * @param chain one of `chains`
   * @throws Error that describes why the server returned no ABI
   */
  read(chain: string, address: string): Promise<AbiItem[] | undefined>;
  /** Returns the server's host without the rest of the URL, which may contain a key. */
  hostOf(chain: string): string;
}

const TIMEOUT_MS = 10_000;
/** Maximum response size in bytes. Some responses include the contract's source code. */
const MAX_BYTES = 8 * 1024 * 1024;

/** @param urls URLs by chain, with the placeholder `{address}` */
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
          // Does not follow redirects, which could lead into the internal network.
          redirect: 'manual',
        });
        if (response.status === 404) return undefined;
        if (!response.ok) throw new Error(statusError(response));
        answer = parseJson(await readText(response));
      } catch (error) {
        const clean = cleanNodeText(urlOf(chain, address).href);
        // oxlint-disable-next-line preserve-caught-error -- its text is not clean
        throw new Error(`${hostOf(chain)} returned no ABI: ${clean(describeError(error))}`);
      }
      return readAbi(answer)?.items;
    },
  };
}

const statusError = ({ status }: Response): string =>
  status >= 300 && status < 400
    ? `HTTP ${status}: redirects are not followed. Set ${flagOf('abiUrls')} to the final address`
    : `HTTP ${status}`;

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`the response exceeds ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
