/** Builds the flight of a block without a delivery of a stream: how far it came. */
import type { Explanation, ExplainReason, StreamVerdict } from '@sluice/kit/sluice';
import { OUTCOME_CONDITIONS } from './verdictConditions.ts';
import { formatMessage } from '../../words/messages.ts';
import {
  gapPart,
  type Flight,
  type FlightLeg,
  type FlightPart,
} from '../delivery/flight/flight.ts';

/** Chains whose names replace their ids in messages. */
type Chains = Parameters<typeof formatMessage>[1];

/**
 * Returns the flight from the block's own time over the commit to the check that decided. Checks
 * have no stored time, because a block is matched while it is committed.
 */
export function explainedFlight(
  { timestamp, committedAt }: Pick<NonNullable<Explanation['block']>, 'timestamp' | 'committedAt'>,
  blockStages: readonly ExplainReason[],
  { stages, reason }: Pick<StreamVerdict, 'stages' | 'reason'>,
  chains: Chains,
): Flight {
  const startedAt = timestamp === null ? null : timestamp * 1_000;
  const legs: FlightLeg[] = [];
  if (startedAt !== null && committedAt !== null && committedAt > startedAt) {
    const part = gapPart('Block to commit', startedAt, committedAt);
    legs.push({ label: 'commit', parts: [part], isPicked: false });
  }
  const all = committedAt === null ? [...blockStages, ...stages] : stages;
  const decided = all.findIndex(({ message }) => message === reason.message);
  const reached = decided === -1 ? all : all.slice(0, decided + 1);
  for (const [index, check] of reached.entries()) {
    const part = toPart(check, index === reached.length - 1, chains);
    legs.push({ label: check.stage, parts: [part], isPicked: false });
  }
  const end = OUTCOME_CONDITIONS[reason.outcome];
  return {
    startedAt,
    legs,
    marks: [],
    now: null,
    end,
    summary: `${reason.stage}: ${formatMessage(reason.message, chains)}`,
  };
}

const toPart = (
  { stage, outcome, message }: ExplainReason,
  isLast: boolean,
  chains: Chains,
): FlightPart => {
  const condition = OUTCOME_CONDITIONS[outcome];
  const note = `${condition.word}: ${formatMessage(message, chains)}`;
  return { look: 'check', name: `Check: ${stage}`, from: null, to: null, note, condition, isLast };
};
