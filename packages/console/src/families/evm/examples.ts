import type { StreamDraft } from '../../routes/streamForm/draft/draft.ts';
import type { Example } from '../../routes/streamForm/draft/example.ts';
import { withRule } from './draft.ts';

/**
 * USDC contracts by chain. Source:
 * https://developers.circle.com/stablecoins/usdc-contract-addresses
 */
const USDC: Readonly<Record<string, string>> = {
  '0x1': '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  '0xaa36a7': '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238',
  '0x89': '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
  '0xa4b1': '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
  '0x66eee': '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d',
  '0x2105': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  '0x14a34': '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  '0xa': '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
  '0xe708': '0x176211869cA2b568f2A7D4EE941E073a821EE1ff',
  '0xa86a': '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
};

/** The first account of a local development chain, such as Anvil. */
export const LOCAL_ACCOUNT = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const LOCAL_CHAIN = '0x7a69';

/** Returns the example for a chain; null for chains without a known address. */
export function findEvmExample(chain: string): Example | null {
  if (chain === LOCAL_CHAIN) {
    return {
      name: 'First account',
      address: LOCAL_ACCOUNT,
      add: (draft) => ({
        ...withAddress(draft, LOCAL_ACCOUNT, 'first account'),
        includeNativeTxs: true,
      }),
    };
  }
  const address = USDC[chain];
  if (address === undefined) return null;
  return {
    name: 'USDC',
    address,
    // Selects transfers, which most users want, unless events are already selected.
    add: (draft) => {
      const filled = withAddress(draft, address, 'USDC');
      return draft.rules.length > 0
        ? filled
        : withRule(filled, 'Transfer(address,address,uint256)');
    },
  };
}

/** Adds a labeled address as the last line of the address field. */
function withAddress(draft: StreamDraft, address: string, label: string): StreamDraft {
  const before = draft.addresses.trim();
  return { ...draft, addresses: `${before === '' ? '' : `${before}\n`}${address}, ${label}` };
}
