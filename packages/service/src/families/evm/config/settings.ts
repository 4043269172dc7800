/** The settings of EVM chains. */
import { toChainId } from '@sluice/kit/contract';
import * as z from 'zod';
import { NODE_OPTIONS, nodesSchema } from '../../../config/nodes.ts';
import { type SettingTable, offByDefault, textByChain } from '../../../config/setting.ts';
import { readUrlsByChain } from '../../../config/urlsByChain.ts';
import { readChains } from './chains.ts';
import { readSpamLists } from './spamLists.ts';

export const EVM_SETTINGS = {
  chains: {
    flags: '--chain <id=url>',
    description:
      'EVM chain as <hexId>=<rpcUrl>[,confirmations=N|finalized][,poll=MS][,trust=evidence|strict|node][,operator=NAME][,ranges=verified]; repeatable; repeat an ID to add a node',
    type: z.record(z.string(), nodesSchema(NODE_OPTIONS)).default({}),
    read: readChains,
  },
  settle: {
    flags: '--settle <s>',
    description:
      'Seconds for which a single node must return the same content of a block that is not proven, before it is accepted',
    type: z.number().min(0).default(120),
  },
  spamLists: {
    flags: '--spam-list <id=file>',
    description: 'File with the spam contracts of a chain, one address per line; repeatable',
    type: textByChain,
    isPath: true,
    read: readSpamLists,
  },
  abiUrls: {
    flags: '--abi-url <id=url>',
    description: "URL of a chain's ABI source, with {address} in place of the contract; repeatable",
    type: textByChain,
    read: (texts: readonly string[]) =>
      readUrlsByChain(texts, {
        toId: toChainId,
        isRight: (url) => url.includes('{address}'),
        form: '<hexId>=<http or https URL with {address}>, e.g. 0x1=https://sourcify.dev/server/v2/contract/1/{address}?fields=abi',
      }),
  },
  maxChildren: {
    flags: '--max-children <n>',
    description:
      'Maximum number of children of factories per stream; each takes about 36 bytes of memory and a row',
    type: z.int().min(1).default(10_000_000),
  },
  omitRecentFields: {
    flags: '--omit-recent-fields',
    description:
      'Send EVM webhooks without triggered_by and transactionFee, as the hosted service did before 2025',
    type: offByDefault,
  },
} as const satisfies SettingTable;
