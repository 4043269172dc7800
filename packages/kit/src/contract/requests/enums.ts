/** Fields that have one of a few values, each with a type of its own. */
import * as z from 'zod';
import { shape } from '../named.ts';
import { APTOS_NETWORKS } from '../rules/chains/aptos.ts';
import { DELIVERY_STATES, REGIONS, SCOPES } from '../values.ts';

export const chainFamily = shape(
  'ChainFamily',
  'Which chains a stream is about.',
  z.enum(['evm', 'aptos']),
);

export const aptosNetwork = shape(
  'AptosNetwork',
  "A network of Aptos; `local` is ours, for a chain of one's own.",
  z.enum(APTOS_NETWORKS),
);

export const streamStatus = shape(
  'StreamStatus',
  '`error` and `terminated` are set by a service, never asked for.',
  z.enum(['active', 'paused', 'error', 'terminated']),
);

export const deliverMode = shape(
  'DeliverMode',
  '`confirmed` leaves out the delivery that is sent as soon as a block appears.',
  z.enum(['both', 'confirmed']),
);

/** The kinds of records that a trigger can be attached to. */
export const triggerKinds = ['tx', 'log', 'erc20transfer', 'erc20approval', 'nfttransfer'] as const;

export const recordKind = shape(
  'RecordKind',
  'The kinds of records that triggers and native balances are attached to.',
  z.enum([...triggerKinds, 'internalTx']),
);

export const deliveryState = shape(
  'DeliveryState',
  'Where a delivery stands.',
  z.enum(DELIVERY_STATES),
);

export const deliveryPhase = shape(
  'DeliveryPhase',
  '`removed`: the notice that the block left the chain.',
  z.enum(['unconfirmed', 'confirmed', 'removed']),
);

export const deliveryStatus = shape(
  'DeliveryStatus',
  'How an attempt to deliver ended.',
  z.enum(['failed', 'success'], { error: 'should be one of failed, success' }),
);

const quotedRegions = REGIONS.map((name) => `'${name}'`).join(',');

export const region = shape(
  'Region',
  'Where the hosted service sends webhooks from.',
  z.enum(REGIONS, { error: `should be one of the following; [${quotedRegions}]` }),
);

export const scope = shape(
  'Scope',
  'One thing a key may do.',
  z.enum(SCOPES, { error: `should be one of ${SCOPES.join(', ')}` }),
);
