/** Block explorers by chain id. */

const aptos = (network: string): [string, string] => [
  `aptos:${network}`,
  `https://explorer.aptoslabs.com/?network=${network}`,
];

/**
 * Base URLs of the explorers of known chains. EVM explorers have the paths of Etherscan and
 * Blockscout: `/tx`, `/address` and `/block`.
 */
export const EXPLORERS: Readonly<Record<string, string>> = {
  '0x1': 'https://etherscan.io',
  '0xaa36a7': 'https://sepolia.etherscan.io',
  '0x4268': 'https://holesky.etherscan.io',
  '0x89': 'https://polygonscan.com',
  '0x13882': 'https://amoy.polygonscan.com',
  '0x38': 'https://bscscan.com',
  '0x61': 'https://testnet.bscscan.com',
  '0xa4b1': 'https://arbiscan.io',
  '0x66eee': 'https://sepolia.arbiscan.io',
  '0x2105': 'https://basescan.org',
  '0x14a34': 'https://sepolia.basescan.org',
  '0xa': 'https://optimistic.etherscan.io',
  '0xaa37dc': 'https://optimism-sepolia.blockscout.com',
  '0xe708': 'https://lineascan.build',
  '0xe705': 'https://sepolia.lineascan.build',
  '0xa86a': 'https://snowtrace.io',
  '0xfa': 'https://ftmscan.com',
  '0xfa2': 'https://testnet.ftmscan.com',
  '0x19': 'https://explorer.cronos.org',
  '0x64': 'https://gnosisscan.io',
  '0x27d8': 'https://blockscout.chiadochain.net',
  '0x15b38': 'https://scan.chiliz.com',
  '0x15b32': 'http://spicy-explorer.chiliz.com',
  '0x504': 'https://moonscan.io',
  '0x505': 'https://moonriver.moonscan.io',
  '0x507': 'https://moonbase.moonscan.io',
  '0x2eb': 'https://evm.flowscan.io',
  '0x221': 'https://evm-testnet.flowscan.io',
  '0x7e4': 'https://app.roninchain.com',
  '0x46f': 'https://blockscout.lisk.com',
  '0x106a': 'https://sepolia-blockscout.lisk.com',
  '0x3e7': 'https://hyperevmscan.io',
  '0x8f': 'https://monadscan.com',
  ...Object.fromEntries(['mainnet', 'testnet', 'devnet'].map(aptos)),
};
