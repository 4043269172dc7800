import type { PartProps } from '../../../routes/streamForm/partProps.ts';
import { CallRules } from './callRules.tsx';
import { EventRules } from './eventRules.tsx';

/** Edits which events and calls are sent. */
export const EvmSelection = (props: PartProps) => (
  <>
    <EventRules {...props} />
    <CallRules {...props} />
  </>
);
