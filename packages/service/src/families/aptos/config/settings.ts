/** The settings of Aptos networks. */
import { APTOS_NETWORKS } from '@sluice/kit/contract';
import * as z from 'zod';
import { nodesSchema } from '../../../config/nodes.ts';
import type { SettingTable } from '../../../config/setting.ts';
import { APTOS_OPTIONS, readNetworks } from './networks.ts';

export const APTOS_SETTINGS = {
  aptos: {
    flags: '--aptos <network=url>',
    description:
      'Aptos fullnode as <network>=<url>[,poll=MS]; repeatable; repeat a network to add a fullnode, or a transaction stream as grpcs://:KEY@host:port',
    type: z.partialRecord(z.enum(APTOS_NETWORKS), nodesSchema(APTOS_OPTIONS)).default({}),
    read: readNetworks,
  },
} as const satisfies SettingTable;
