/**
 * Mines blocks on a real chain that contain every kind of record, failed calls and unusual tokens.
 */
import {
  type Anvil,
  type DeployedContracts,
  crier,
  deployContracts,
  devAccounts,
  oddToken,
  sluiceCollectible,
  sluiceItems,
  sluiceToken,
  valueMover,
} from '@sluice/testkit';
import {
  type Abi,
  type Address,
  type Hex,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  numberToHex,
  pad,
  toHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** Addresses of the contracts that {@link deployEveryKind} deploys, in lowercase. */
export interface Contracts extends DeployedContracts {
  /** `OddToken`: its name and symbol are `bytes32`, and it has 18 decimals. */
  odd: Address;
  /** `ValueMover` */
  mover: Address;
  /** `Crier`: emits any log. Its name is not valid UTF-8. */
  crier: Address;
}

export const [owner, friend, stranger] = devAccounts.map(({ address }) => address) as [
  Address,
  Address,
  Address,
];
/** An account without a key that receives ether from the contracts. */
export const heir: Address = pad('0xfe11', { size: 20 });

/** A transaction to send. `from` defaults to the owner. */
export interface Sent {
  from?: Address;
  to?: Address;
  data?: Hex;
  value?: bigint;
  [field: string]: unknown;
}

/**
 * Default gas limit. Enough for these transactions, and below the maximum per transaction
 * (EIP-7825).
 */
const GAS = '0x4c4b40';

/**
 * Mines one block with these transactions and returns its number.
 * @throws Error if the block does not contain all of them
 */
export async function mine(anvil: Anvil, transactions: readonly Sent[]): Promise<number> {
  await anvil.request('evm_setAutomine', [false]);
  for (const { value = 0n, ...transaction } of transactions) {
    await anvil.request('eth_sendTransaction', [
      { from: owner, gas: GAS, value: numberToHex(value), ...transaction },
    ]);
  }
  await anvil.request('evm_mine');
  await anvil.request('evm_setAutomine', [true]);
  const block = await anvil.request<{ number: Hex; transactions: unknown[] }>(
    'eth_getBlockByNumber',
    ['latest', false],
  );
  if (block.transactions.length !== transactions.length) {
    throw new Error(`sent ${transactions.length}, mined ${block.transactions.length}`);
  }
  return Number(block.number);
}

export const call = (
  to: Address,
  abi: Abi,
  functionName: string,
  args: readonly unknown[],
  more: Sent = {},
): Sent => ({ to, data: encodeFunctionData({ abi, functionName, args }), ...more });

export async function deployEveryKind(anvil: Anvil): Promise<Contracts> {
  const deployed = await deployContracts(anvil);
  const deploy = async (data: Hex, value = 0n): Promise<Address> => {
    await mine(anvil, [{ data, value }]);
    const [receipt] = await anvil.request<[{ contractAddress: Address }]>('eth_getBlockReceipts', [
      'latest',
    ]);
    return receipt.contractAddress;
  };
  const toOwner = encodeAbiParameters([{ type: 'address' }], [owner]);
  return {
    ...deployed,
    odd: await deploy(concatHex([oddToken.bytecode, toOwner])),
    mover: await deploy(valueMover.bytecode, 1_000n),
    crier: await deploy(crier.bytecode),
  };
}

const MAX = 2n ** 256n - 1n;
const TRANSFER = keccak256(toHex('Transfer(address,address,uint256)'));
const topicOf = (address: Address): Hex => pad(address);
const word = (value: bigint): Hex => numberToHex(value, { size: 32 });

/**
 * Mines blocks that together contain every kind of record, and returns their numbers. Afterwards,
 * the friend owns the NFT that was minted for the owner.
 */
export async function mineEveryKind(anvil: Anvil, contracts: Contracts): Promise<number[]> {
  const { erc20, erc721, erc1155, odd, mover } = contracts;
  const token = (name: string, ...args: unknown[]) => call(erc20, sluiceToken.abi, name, args);
  const collectible = (name: string, ...args: unknown[]) =>
    call(erc721, sluiceCollectible.abi, name, args);
  const items = (name: string, ...args: unknown[]) => call(erc1155, sluiceItems.abi, name, args);
  const cry = (topics: Hex[], data: Hex) => call(contracts.crier, crier.abi, 'cry', [topics, data]);
  const lastId = async (): Promise<bigint> => {
    const { data } = collectible('lastTokenId');
    return BigInt(await anvil.request<Hex>('eth_call', [{ to: erc721, data }, 'latest']));
  };
  const created = encodeAbiParameters([{ type: 'address' }], [owner]);
  const newestId = (await lastId()) + 1n;

  return [
    // Transactions of types 0, 1, 2 and 4, a contract creation, and two failures.
    await mine(anvil, [
      { to: friend, value: 10n ** 18n, type: '0x0', gasPrice: numberToHex(5n * 10n ** 9n) },
      {
        to: stranger,
        value: 1n,
        type: '0x1',
        gasPrice: numberToHex(4n * 10n ** 9n),
        accessList: [{ address: erc20, storageKeys: [word(1n)] }],
      },
      { to: friend, value: 2n, from: stranger, type: '0x2', data: '0xc0ffee' },
      await delegation(anvil, contracts.crier),
      { data: concatHex([oddToken.bytecode, created]) },
      { from: friend, ...token('transferFrom', owner, friend, 1n) },
      { from: friend, data: '0xfe' },
    ]),
    // ERC-20 transfers and approvals, with amounts from 0 to 2**256 - 1.
    await mine(anvil, [
      token('transfer', friend, 1_234_500n),
      token('transfer', stranger, 0n),
      token('approve', friend, MAX),
      token('approve', stranger, 2n ** 53n + 1n),
      call(odd, oddToken.abi, 'transfer', [friend, 25n * 10n ** 17n]),
      call(odd, oddToken.abi, 'transfer', [stranger, 1n]),
    ]),
    await mine(anvil, [
      collectible('mint', owner),
      collectible('mint', stranger),
      collectible('approve', friend, newestId),
      collectible('setApprovalForAll', friend, true),
    ]),
    await mine(anvil, [
      collectible('transferFrom', owner, friend, newestId),
      collectible('setApprovalForAll', friend, false),
      items('setApprovalForAll', stranger, true),
      items('safeTransferFrom', owner, friend, 1n, 5n, '0x'),
      items('safeBatchTransferFrom', owner, stranger, [4n, 2n, 3n], [1n, 0n, 7n], '0x'),
      items('mint', friend, MAX, 9n),
    ]),
    // Internal transfers of ether: `move` reverts some of them, and `moveAndFail` reverts all.
    await mine(anvil, [
      call(mover, valueMover.abi, 'move', [heir], { value: 100n }),
      call(mover, valueMover.abi, 'moveAndFail', [heir], { value: 100n }),
      call(mover, valueMover.abi, 'move', [friend], { from: stranger }),
      token('transfer', mover, 7n),
    ]),
    // A Transfer event of a token without decimals, two logs that contradict their topic, a log
    // without topics, and one with invalid UTF-8.
    await mine(anvil, [
      cry([TRANSFER, topicOf(owner), topicOf(friend)], word(77n)),
      cry([TRANSFER, topicOf(owner), topicOf(friend)], '0x1234'),
      cry([TRANSFER, topicOf(owner)], word(78n)),
      cry([], '0xdeadbeef'),
      cry([keccak256(toHex('Said(string)'))], garbledText),
    ]),
  ];
}

/** Argument of `Said(string)` with invalid UTF-8. */
const garbledText = encodeAbiParameters([{ type: 'bytes' }], ['0xc328ff']);

/** Returns a transaction of type 4, which sets the code of an account without ether (EIP-7702). */
async function delegation(anvil: Anvil, address: Address): Promise<Sent> {
  const account = privateKeyToAccount(pad('0xa11ce', { size: 32 }));
  const nonce = Number(
    await anvil.request<Hex>('eth_getTransactionCount', [account.address, 'latest']),
  );
  const { r, s, yParity, chainId } = await account.signAuthorization({
    address,
    chainId: anvil.chainId,
    nonce,
  });
  const authorization = { address, r, s, nonce: numberToHex(nonce) };
  return {
    to: friend,
    type: '0x4',
    authorizationList: [
      { ...authorization, yParity: numberToHex(yParity!), chainId: numberToHex(chainId) },
    ],
  };
}
