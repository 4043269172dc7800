import * as z from 'zod';
import {
  text,
  flag,
  count,
  number,
  unixMs,
  chainId,
  anyChainParam,
  tagged,
  urlOrigin,
  nodeTestResult,
} from './basics.ts';
import { component, named, shape } from '../named.ts';
import { chainLogQuerySchema } from '../requests/activity.ts';
import { nodeUrlSchema } from '../requests/account.ts';

const gapKind = shape(
  'GapKind',
  '`skipped`: the chain was resumed at a later block, without those in between · `restarted`: a different or reset chain began here, and earlier blocks were not read · `passed-over`: no stream watched the chain, so its blocks were not read; nothing is missing · `halted`: the chain stopped before a block; no block was skipped',
  z.enum(['skipped', 'restarted', 'passed-over', 'halted']),
);

const providerState = shape(
  'ProviderState',
  '`good` · `lagging`: behind the best other node · `limited`: rate-limits requests · `down`: does not respond, and is retried from time to time · `wrong-chain`: serves another chain, and is not used',
  z.enum(['good', 'lagging', 'limited', 'down', 'wrong-chain']),
);

const reorg = shape(
  'Reorg',
  'A reorg of a chain.',
  z.strictObject({
    chainId,
    blockNumber: count.describe('The newest block that stayed in the chain.'),
    depth: count.describe('Blocks that left the chain.'),
    at: unixMs,
  }),
);

const chainGap = shape(
  'ChainGap',
  'A range of blocks of a chain that were not read.',
  z.strictObject({
    chainId,
    kind: gapKind,
    from: count.describe(
      'The first block that was not read; for a halt, the block that the chain waits for. On Aptos, a height.',
    ),
    to: count.nullable().describe('The last block that was not read; null for a halt.'),
    reason: text.describe('Human-readable reason.'),
    at: unixMs.describe('When it began.'),
    endedAt: unixMs
      .nullable()
      .describe('When it ended, or when blocks were last passed over; null while halted.'),
  }),
);

const providerScore = shape(
  'ProviderScore',
  'The current score of a node. Each part counts as much as that many milliseconds of latency. The node with the lowest total is the primary, until the total of another is at most half as high. All parts but latency and lag decay over time.',
  z.strictObject({
    total: count,
    latency: count.describe('At least 25; 100 before the first response.'),
    lag: count.describe('600 at the lag from which the node counts as lagging.'),
    failures: count.describe('1,000 for each failed request, halved every 30 seconds.'),
    doubt: count.describe(
      '60,000 for each contradiction, 12,000 for being outvoted; halved every 5 minutes.',
    ),
  }),
);

const providerHealth = shape(
  'ProviderHealth',
  'The last known state of a node of a chain.',
  z.strictObject({
    name: text.describe(
      'Host of the node, without the path and query of its URL, which may contain keys.',
    ),
    state: providerState,
    message: text.describe('Human-readable problem, or empty.'),
    head: count
      .nullable()
      .describe('Newest block that the node reported; null before the first response.'),
    latencyMs: number
      .nullable()
      .describe('Moving average over short requests; null before the first.'),
    failures: count.describe('Failed requests and rejected responses since the start.'),
    disagreements: count.describe(
      'Number of heights at which the node disagreed with another one, since the start.',
    ),
    score: providerScore,
    isPrimary: flag.describe('Whether the node is the primary.'),
    addedId: text
      .nullable()
      .describe(
        'ID of a node that was added while the service ran, as in `listNodes`; null for a node from flags, variables or the settings file.',
      ),
    hasVote: flag.describe(
      'Whether the node votes when nodes disagree: not while unavailable, doubted or stalled.',
    ),
  }),
);

const chainProgress = shape(
  'ChainProgress',
  'The progress of a chain that is catching up; `checkpoint` is its current block.',
  z.strictObject({
    from: count.describe('The block from which it began to catch up.'),
    to: count.describe('The current head.'),
    perSecond: number.describe('Recent number of blocks committed per second.'),
    secondsLeft: number
      .nullable()
      .describe(
        'Estimated time until the chain reaches the moving head; null if it is not getting closer.',
      ),
  }),
);

const unverifiedBlocks = shape(
  'UnverifiedBlocks',
  'Blocks that a chain accepted unverified, from the newest 1,000 ranges. `docs/nodes.md` lists the codes.',
  z.strictObject({
    blocks: count.describe('The number of blocks.'),
    latest: count.describe('The newest of them.'),
    byCode: z
      .record(text, count)
      .describe('Number of blocks with each code. A block may have several codes.'),
  }),
);

const chainAgreement = shape(
  'ChainAgreement',
  "Whether other nodes agree on a chain's newest block. `agreed`: a second node has the same block · `alone`: no other node is available with a vote · `outvoted`: the majority has this block, a minority a different one · `disagreed`: there is no majority, and no block is accepted",
  z.strictObject({
    blockNumber: count,
    state: z.enum(['agreed', 'alone', 'outvoted', 'disagreed']),
  }),
);

const chainProof = shape(
  'ChainProof',
  "Whether a chain's blocks are proven: their transactions and receipts must match the roots in a header that matches the block hash. Otherwise they are checked, not proven.",
  z.strictObject({
    isProven: flag,
    reason: text.describe(
      'Human-readable reason why blocks are checked, not proven; empty if proven.',
    ),
  }),
);

const chainBlock = shape(
  'ChainBlock',
  'One block of the timeline.',
  z.strictObject({
    number: count,
    hash: text,
    timestamp: count,
    matches: count.describe('Streams that matched the block.'),
  }),
);

const chainHealth = shape(
  'ChainHealth',
  'The state of a chain: what is read and committed, and any problems.',
  z.strictObject({
    id: text,
    name: text,
    code: text,
    state: shape(
      'ChainState',
      'The current state of a chain. `settling`: the next block failed a check, only one witness returned it, and it is accepted if its content stays the same.',
      z.enum(['starting', 'live', 'catching-up', 'settling', 'down']),
    ),
    message: text.describe(
      'Human-readable reason why the chain is down or settling, and until when; otherwise a note on a live chain, or empty.',
    ),
    trust: shape(
      'ChainTrust',
      'How blocks are accepted. `evidence`: on the best evidence of the nodes; what it does not cover is marked · `strict`: only completely verified blocks · `node`: only the links between blocks are checked.',
      z.enum(['evidence', 'strict', 'node']),
    )
      .nullable()
      .describe('The setting `trust` of the chain; null on Aptos.'),
    head: count
      .nullable()
      .describe('Newest block the source knows; null before the first response.'),
    headAgeMs: count
      .nullable()
      .describe('Milliseconds since `head` was first observed; null before the first response.'),
    checkpoint: count
      .nullable()
      .describe('Last block whose deliveries are committed, null before the first.'),
    confirmations: z
      .union([count, z.literal('finalized')])
      .describe(
        'Blocks that must follow before a match is confirmed; `finalized`: as the chain itself reports.',
      ),
    confirmedUpTo: count
      .nullable()
      .describe('Last block whose matches are confirmed, null before the first.'),
    safe: count
      .nullable()
      .describe(
        'Newest block that a node reports as safe, for display; null if none does; on Aptos, the head.',
      ),
    finalized: count
      .nullable()
      .describe('Newest block that a node reports as finalized; otherwise like `safe`.'),
    agreement: chainAgreement
      .nullable()
      .describe('Whether other nodes agree on the newest block; null before the first.'),
    proof: chainProof
      .nullable()
      .describe('Whether blocks are proven from their headers; null on Aptos.'),
    providers: z.array(providerHealth).describe('The nodes of the chain, in configured order.'),
    progress: chainProgress.nullable().describe('Null unless catching up.'),
    unverified: unverifiedBlocks
      .nullable()
      .describe('Blocks that were accepted without complete verification; null if there are none.'),
    blocks: z.array(chainBlock).describe('Newest blocks first, at most 60.'),
  }),
);

const resumedChain = named(
  'ResumedChain',
  'The response to resuming a halted chain.',
  z.strictObject({ chainId, from: count.describe('The first block that is read.') }),
);

const chainHealthList = component(
  'ChainHealthList',
  z.strictObject({ result: z.array(chainHealth) }),
);

const reorgList = component('ReorgList', z.strictObject({ result: z.array(reorg) }));

const gapList = component('GapList', z.strictObject({ result: z.array(chainGap) }));

const chainNode = named(
  'ChainNode',
  'A node that a chain is read from.',
  z.strictObject({
    id: text.describe('A UUID; `<chain id>:<n>` for a configured node.'),
    chainId,
    host: text.describe('Host of its URL, whose path and query may contain keys.'),
    ...urlOrigin,
  }),
);

const chainNodeList = component('ChainNodeList', z.strictObject({ result: z.array(chainNode) }));

export const chainsCalls = tagged('Sluice', {
  listChains: {
    method: 'GET',
    path: '/sluice/chains',
    scope: 'streams:read',
    summary: 'List the state of each chain',
    response: chainHealthList,
    errors: [],
  },
  resumeChain: {
    method: 'POST',
    path: '/sluice/chains/{id}/resume',
    scope: 'settings:admin',
    params: { id: anyChainParam },
    summary: 'Resume a halted chain; skipped blocks are recorded as a hole',
    body: component(
      'ResumeChain',
      z.strictObject({
        from: z
          .int({ error: 'should be a block number' })
          .min(1, { error: 'should be a block number, 1 or more' })
          .optional(),
      }),
    ),
    response: resumedChain,
    errors: [400, 404, 409, 422, 503],
  },
  listNodes: {
    method: 'GET',
    path: '/sluice/nodes',
    scope: 'settings:admin',
    summary: 'List the nodes of all chains and where each one is configured',
    response: chainNodeList,
    errors: [],
  },
  addNode: {
    method: 'POST',
    path: '/sluice/nodes',
    scope: 'settings:admin',
    hidesBody: true,
    summary: 'Test a node, and read its chain from it if it passes',
    description:
      'All processes follow within 5 seconds. Requires --allow-node-changes. A chain can have at most 10 added nodes.',
    body: nodeUrlSchema,
    response: chainNode,
    errors: [400, 409, 422, 503],
  },
  testNode: {
    method: 'POST',
    path: '/sluice/nodes/test',
    scope: 'settings:admin',
    hidesBody: true,
    summary: 'Test whether a node responds and serves a chain',
    description: 'Requires --allow-node-changes.',
    body: nodeUrlSchema,
    response: nodeTestResult,
    errors: [400, 422, 503],
  },
  removeNode: {
    method: 'DELETE',
    path: '/sluice/nodes/{nodeId}',
    scope: 'settings:admin',
    params: { nodeId: z.string().describe('Node ID') },
    summary: 'Stop using a node that was added',
    description: 'All processes follow within 5 seconds. Requires --allow-node-changes.',
    errors: [404, 409],
  },
  listReorgs: {
    method: 'GET',
    path: '/sluice/reorgs',
    scope: 'history:read',
    summary: 'List reorgs, newest first; 100 are kept for each chain',
    query: chainLogQuerySchema,
    response: reorgList,
    errors: [422],
  },
  listGaps: {
    method: 'GET',
    path: '/sluice/gaps',
    scope: 'history:read',
    summary: 'List gaps of chains with their reasons, newest first',
    description:
      'Blocks that were skipped when a chain was resumed, passed over while no stream watched it, or at which it halted; 100 gaps are kept for each chain.',
    query: chainLogQuerySchema,
    response: gapList,
    errors: [422],
  },
});
