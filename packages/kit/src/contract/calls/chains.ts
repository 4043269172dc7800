import * as z from 'zod';
import {
  text,
  flag,
  count,
  number,
  unixMs,
  chainId,
  evmChainParam,
  addressParam,
  anyChainParam,
  tagged,
} from './basics.ts';
import { component, named, shape } from '../named.ts';
import { abiItemSchema, chainLogQuerySchema } from '../index.ts';

const gapKind = shape(
  'GapKind',
  '`skipped`: the chain went on later, and what lies between was left out · `restarted`: another chain, or one that was set up anew, began here, and nothing up to it was read · `passed-over`: no stream watched the chain, so that its blocks were not read; nothing is missing · `halted`: it stopped before a block, and nothing was skipped',
  z.enum(['skipped', 'restarted', 'passed-over', 'halted']),
);

const providerState = shape(
  'ProviderState',
  '`good` · `lagging` behind the best of the others · `limited` asked us to wait · `down` does not answer, and is tried again from time to time · `wrong-chain` serves another chain and is left out',
  z.enum(['good', 'lagging', 'limited', 'down', 'wrong-chain']),
);

const reorg = shape(
  'Reorg',
  'A chain that went another way.',
  z.strictObject({
    chainId,
    blockNumber: count.describe('The newest block that stayed.'),
    depth: count.describe('Blocks that left the chain.'),
    at: unixMs,
  }),
);

const chainGap = shape(
  'ChainGap',
  'Where a chain did not go on block by block.',
  z.strictObject({
    chainId,
    kind: gapKind,
    from: count.describe(
      'The first block that was not read; of a halt the one it waits for. Heights, of Aptos too.',
    ),
    to: count.nullable().describe('The last one; null of a halt.'),
    reason: text.describe('For people: why.'),
    at: unixMs.describe('When it came to be.'),
    endedAt: unixMs
      .nullable()
      .describe(
        'When it was over, and when blocks were last passed over; null of a halt that lasts.',
      ),
  }),
);

const providerScore = shape(
  'ProviderScore',
  'How a node is judged now, each part in what that many milliseconds of latency would count; the lowest total is followed, and left only for half of it. All but latency and lag are forgotten with time.',
  z.strictObject({
    total: count,
    latency: count.describe('At least 25; 100 before the first answer.'),
    lag: count.describe('600 for as much as counts as lagging.'),
    failures: count.describe('1,000 for each request that failed, halved every 30 s.'),
    doubt: count.describe(
      '60,000 for each contradiction, a fifth of it for being outvoted; halved every five minutes.',
    ),
  }),
);

const providerHealth = shape(
  'ProviderHealth',
  'One node of a chain, as it was last seen.',
  z.strictObject({
    name: text.describe('Its host; never the path or query of its URL, where keys stand.'),
    state: providerState,
    message: text.describe('For people: what is wrong, or empty.'),
    head: count.nullable().describe('Newest block it said it has, null before it answered.'),
    latencyMs: number
      .nullable()
      .describe('Of short requests, a moving average; null before the first.'),
    failures: count.describe(
      'Requests that failed and answers that were refused, since the start.',
    ),
    disagreements: count.describe(
      'Heights at which its block was another than that of another provider, since the start.',
    ),
    score: providerScore,
    isFollowed: flag.describe('It is the one whose head is taken.'),
    hasVoice: flag.describe(
      'Whether it is heard where nodes differ: not while it is away, was caught in a lie, or stands still.',
    ),
  }),
);

const chainProgress = shape(
  'ChainProgress',
  'How far a chain that fell behind has come; `checkpoint` is where it stands.',
  z.strictObject({
    from: count.describe('Where it began to catch up.'),
    to: count.describe('The head it is after; it moves.'),
    perSecond: number.describe('Blocks committed per second, lately.'),
    secondsLeft: number
      .nullable()
      .describe(
        `Until it stands at the head, the head's own growth counted in; null while it does not get nearer.`,
      ),
  }),
);

const unverifiedBlocks = shape(
  'UnverifiedBlocks',
  'What a chain has accepted unverified, as far as it is kept: the newest 1,000 ranges of blocks. `docs/nodes.md` names the reasons.',
  z.strictObject({
    blocks: count.describe('The number of blocks.'),
    latest: count.describe('The newest of them.'),
    reason: text.describe('Why the newest one could not be verified, and why it was accepted.'),
  }),
);

const chainAgreement = shape(
  'ChainAgreement',
  "How a chain's newest block was held against other nodes. `agreed`: a second node has the same one · `alone`: there is no other, or none that answers and is believed · `outvoted`: most have it, others another · `disagreed`: no side has most, and nothing is taken",
  z.strictObject({
    blockNumber: count,
    state: z.enum(['agreed', 'alone', 'outvoted', 'disagreed']),
  }),
);

const chainBlock = shape(
  'ChainBlock',
  'One tick of the block tape.',
  z.strictObject({
    number: count,
    hash: text,
    timestamp: count,
    matches: count.describe('Streams that matched the block.'),
  }),
);

const chainHealth = shape(
  'ChainHealth',
  'How a chain is followed: what is read, what is committed, and what stands in the way.',
  z.strictObject({
    id: text,
    name: text,
    code: text,
    state: shape(
      'ChainState',
      'How a chain is followed at the moment.',
      z.enum(['starting', 'live', 'catching-up', 'down']),
    ),
    message: text.describe('For people: why it is down, or empty.'),
    head: count.nullable().describe('Newest block the source knows, null before it answered.'),
    headAgeMs: count
      .nullable()
      .describe('Milliseconds since that block was first seen; null before the first.'),
    checkpoint: count
      .nullable()
      .describe('Last block whose deliveries are committed, null before the first.'),
    confirmations: z
      .union([count, z.literal('finalized')])
      .describe(
        'Blocks that must follow before a match is confirmed; `finalized`: as the chain itself says.',
      ),
    confirmedUpTo: count
      .nullable()
      .describe('Last block whose matches are confirmed, null before the first.'),
    safe: count
      .nullable()
      .describe(
        'Newest block that a node calls safe; null where none does, of Aptos the head. For people.',
      ),
    finalized: count.nullable().describe('Newest block that a node calls finalized, likewise.'),
    agreement: chainAgreement
      .nullable()
      .describe('How its newest block was held against the other nodes; null before the first.'),
    providers: z
      .array(providerHealth)
      .describe('The nodes it is read from, in the order they were given.'),
    progress: chainProgress.nullable().describe('Null but while catching up.'),
    unverified: unverifiedBlocks
      .nullable()
      .describe(
        'Blocks that were accepted although not everything about them could be verified; null without any.',
      ),
    blocks: z.array(chainBlock).describe('Newest blocks first, at most 60.'),
  }),
);

const chainResumed = named(
  'ChainResumed',
  'What the service answers when a halted chain goes on.',
  z.strictObject({ chainId, from: count.describe('The first block that is read.') }),
);

const chainHealthList = component(
  'ChainHealthList',
  z.strictObject({ result: z.array(chainHealth) }),
);

const reorgList = component('ReorgList', z.strictObject({ result: z.array(reorg) }));

const gapList = component('GapList', z.strictObject({ result: z.array(chainGap) }));

const contract = named(
  'Contract',
  'What is at an address of an EVM chain, at its head.',
  z.strictObject({
    isContract: flag.describe('Whether there is code; an account has none.'),
    token: z
      .strictObject({
        name: text.describe('Empty where it does not say, as are the others.'),
        symbol: text,
        decimals: count.nullable(),
        standard: z.enum(['ERC721', 'ERC1155', '']),
      })
      .nullable()
      .describe(
        'What the contract says of itself, which nobody checks; null where it says nothing of a token.',
      ),
  }),
);

const resolvedName = named(
  'ResolvedName',
  'What a name of ENS stands for, at the head of its chain: whoever has the name may change that.',
  z.strictObject({
    name: text.describe('As names are compared (ENSIP-15).'),
    address: text.describe('Lower case.'),
    chainId: text.describe(
      'Where it was asked: `0x1`, or `0xaa36a7` (Sepolia) where that alone is read.',
    ),
  }),
);

const contractAbi = named(
  'ContractAbi',
  'The ABI of a contract whose source somebody has verified.',
  z.strictObject({
    abi: z
      .array(abiItemSchema)
      .describe('Of a proxy its own items and those of what it forwards to, each once.'),
    implementation: text
      .nullable()
      .describe(
        'What the contract forwards to at the moment (EIP-1967), lower case; null where it is no such proxy.',
      ),
    source: text.describe('Host of who told it.'),
  }),
);

export const chainsCalls = tagged('Sluice', {
  listChains: {
    method: 'GET',
    path: '/sluice/chains',
    scope: 'streams:read',
    summary: 'How each chain is followed',
    answer: chainHealthList,
    errors: [],
  },
  resumeChain: {
    method: 'POST',
    path: '/sluice/chains/{id}/resume',
    scope: 'settings:admin',
    params: { id: anyChainParam },
    summary: 'Go on with a halted chain; what is left out is recorded as a hole',
    body: component(
      'ResumeChain',
      z.strictObject({
        from: z
          .int({ error: 'should be a block number' })
          .min(1, { error: 'should be a block number, 1 or more' })
          .optional(),
      }),
    ),
    answer: chainResumed,
    errors: [400, 404, 409, 422, 503],
  },
  listReorgs: {
    method: 'GET',
    path: '/sluice/reorgs',
    scope: 'history:read',
    summary: 'Where chains went another way, newest first; of each chain 100 are kept',
    query: chainLogQuerySchema,
    answer: reorgList,
    errors: [422],
  },
  listGaps: {
    method: 'GET',
    path: '/sluice/gaps',
    scope: 'history:read',
    summary: 'Where chains did not go on block by block, and why, newest first',
    description:
      'Blocks that were left out when a chain was resumed, passed over while no stream watched it, or ' +
      'before which it halted; of each chain 100 are kept.',
    query: chainLogQuerySchema,
    answer: gapList,
    errors: [422],
  },
  getContract: {
    method: 'GET',
    path: '/sluice/evm/{chainId}/contracts/{address}',
    scope: 'streams:read',
    params: { chainId: evmChainParam, address: addressParam },
    summary: 'What is at an address of a chain: a contract or none, a token perhaps',
    description: 'As the contract says of itself at the head of the chain: nobody checks its name.',
    answer: contract,
    errors: [400, 422, 503],
  },
  getContractAbi: {
    method: 'GET',
    path: '/sluice/evm/{chainId}/contracts/{address}/abi',
    scope: 'streams:read',
    params: { chainId: evmChainParam, address: addressParam },
    summary: 'The ABI of a verified contract',
    description:
      'Asked of the server that the operator named for the chain (--abi-url); of a proxy also that of what it forwards to.',
    answer: contractAbi,
    errors: [400, 404, 422, 503],
  },
  resolveName: {
    method: 'GET',
    path: '/sluice/names/{ensName}',
    scope: 'streams:read',
    params: { ensName: z.string().meta({ description: 'Name of ENS', examples: ['vitalik.eth'] }) },
    summary: 'The address that a name of ENS stands for',
    description:
      'Asked of Ethereum, or of Sepolia where that alone is read, at its head. Names that a server outside of the chain would tell are not followed.',
    answer: resolvedName,
    errors: [400, 404, 422, 503],
  },
});
