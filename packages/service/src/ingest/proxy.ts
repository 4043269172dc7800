/** What stands behind a proxy contract. */
import { type Source, SourceError } from './source.ts';

/** Where proxies keep the address they forward to. */
const SLOTS = [
  // EIP-1967
  '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
  // keccak256('org.zeppelinos.proxy.implementation'), of proxies from before it
  '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3',
];
const ADDRESS = /^0x0{24}([0-9a-f]{40})$/;
const NOBODY = '0'.repeat(40);

/** Lower case; undefined where the contract keeps none in a place that is known. */
export async function readImplementation(
  source: Pick<Source, 'readHead' | 'requestAt'>,
  address: string,
): Promise<string | undefined> {
  const head = await source.readHead();
  const number = `0x${head.number.toString(16)}`;
  for (const slot of SLOTS) {
    const word = await source.requestAt(head, 'eth_getStorageAt', [address, slot, number]);
    if (typeof word !== 'string') {
      throw new SourceError('inconsistent', 'eth_getStorageAt answered no hex');
    }
    const found = ADDRESS.exec(word.toLowerCase())?.[1];
    if (found !== undefined && found !== NOBODY) return `0x${found}`;
  }
  return undefined;
}
