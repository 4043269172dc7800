import * as z from 'zod';
import { shape } from '../named.ts';
import { CHAIN_FAMILIES } from '../../families/chains.ts';
import {
  CONFIRMATIONS_FORM,
  CONFIRMATION_TAGS,
  MAX_CONFIRMATIONS,
} from '../rules/confirmations.ts';
import { MAX_RETRIES, MAX_RETRY_WAIT_SECONDS, RETRY_PRESETS } from '../rules/schedule.ts';
import { ATTEMPT_RESULTS, DELIVERY_STATES, REGIONS, SCOPES } from '../values.ts';

export const chainFamily = shape(
  'ChainFamily',
  'The chain family of a stream.',
  z.enum(CHAIN_FAMILIES),
);

export const streamStatus = shape(
  'StreamStatus',
  'The service sets `error` and `terminated`.',
  z.enum(['active', 'paused', 'error', 'terminated']),
);

export const deliverMode = shape(
  'DeliverMode',
  '`confirmed` leaves out the delivery that is sent when the block appears.',
  z.enum(['both', 'confirmed']),
);

export const unverifiedMode = shape(
  'UnverifiedMode',
  '`hold`: webhooks of unverified blocks wait until another node confirms the block, or until they are released.',
  z.enum(['send', 'hold'], { error: 'should be send or hold' }),
);

export const transactionStatus = shape(
  'TransactionStatus',
  '`failed`: calls that were undone, also inside successful transactions; `any`: all calls.',
  z.enum(['success', 'failed', 'any'], { error: 'should be one of success, failed, any' }),
);

const confirmationsError = `should be ${CONFIRMATIONS_FORM}`;

export const confirmations = shape(
  'Confirmations',
  'When matches are confirmed: at once (`latest`), with the safe or finalized block of the chain, or once this number of blocks has followed.',
  z.union(
    [
      z.enum(CONFIRMATION_TAGS),
      z
        .int({ error: confirmationsError })
        .min(0, { error: confirmationsError })
        .max(MAX_CONFIRMATIONS, { error: confirmationsError }),
    ],
    { error: confirmationsError },
  ),
);

const waitError = `should be a whole number of seconds from 1 to ${MAX_RETRY_WAIT_SECONDS}`;

export const retries = shape(
  'Retries',
  'The retries of failed webhooks: a named schedule, or the waits between attempts in seconds.',
  z.union(
    [
      z.enum(RETRY_PRESETS),
      z
        .array(
          z
            .int({ error: waitError })
            .min(1, { error: waitError })
            .max(MAX_RETRY_WAIT_SECONDS, { error: waitError }),
        )
        .max(MAX_RETRIES, { error: `should have at most ${MAX_RETRIES} waits` }),
    ],
    {
      error: `should be ${RETRY_PRESETS.join(', ')}, or up to ${MAX_RETRIES} waits in seconds, each from 1 to ${MAX_RETRY_WAIT_SECONDS}`,
    },
  ),
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
  'The state of a delivery.',
  z.enum(DELIVERY_STATES),
);

export const deliveryPhase = shape(
  'DeliveryPhase',
  '`removed`: the removal webhook, after the block left the chain.',
  z.enum(['unconfirmed', 'confirmed', 'removed']),
);

export const deliveryStatus = shape(
  'DeliveryStatus',
  'The result of a delivery attempt.',
  z.enum(['failed', 'success'], { error: 'should be one of failed, success' }),
);

export const attemptResult = shape(
  'AttemptResult',
  'The result of an attempt: a success, or a failure by the first digit of its status. `timeout`: no complete response in time; `none`: no complete response for another reason, such as a refused connection.',
  z.enum(ATTEMPT_RESULTS, { error: `should be one of ${ATTEMPT_RESULTS.join(', ')}` }),
);

const quotedRegions = REGIONS.map((name) => `'${name}'`).join(',');

export const region = shape(
  'Region',
  'Region from which the hosted service sends webhooks.',
  z.enum(REGIONS, { error: `should be one of the following; [${quotedRegions}]` }),
);

export const scope = shape(
  'Scope',
  'A permission of an API key.',
  z.enum(SCOPES, { error: `should be one of ${SCOPES.join(', ')}` }),
);
