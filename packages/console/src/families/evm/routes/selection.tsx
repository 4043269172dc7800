import type { PartProps } from '../../../routes/streamForm/partProps.ts';
import { CallRules } from './callRules.tsx';
import { EventRules } from './eventRules.tsx';
import { FactoryList } from './factoryList.tsx';
import { ReadList } from './readList.tsx';

/** Edits the factories, and which events, calls and values on chain are sent. */
export const EvmSelection = (props: PartProps) => (
  <>
    <FactoryList {...props} />
    <EventRules {...props} />
    <CallRules {...props} />
    <ReadList {...props} />
  </>
);
