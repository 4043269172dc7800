import { Plus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { parseEvents, type ParsedEvents } from './abiText.ts';
import { parseAddressList } from '@sluice/kit/operator';
import { sluice } from '../../../data/queries/service.ts';
import { TEMPLATES, withEvents, withRule } from '../draft.ts';
import { formatHash } from '../../../ui/text/format.ts';
import { toAbiFlag } from '../abiFlag.ts';
import { recognize, toAddress } from '../../../words/paste.ts';
import { Button } from '../../../ui/button.tsx';
import { LineArea } from '../../../ui/form/lineArea.tsx';
import { useAbiChain } from './contractAbi.ts';
import { EventList } from './eventList.tsx';
import type { PartProps } from '../../../routes/streamForm/partProps.ts';

/** Returns the EVM address if the text is only an address or the URL of one in a block explorer. */
function addressIn(text: string): string | undefined {
  const one = toAddress(recognize(text));
  return one?.family === 'evm' ? one.address : undefined;
}

/**
 * Edits the events and their conditions. Events are added by signature, hash, ABI, contract address
 * or template. Invalid lines stay in the field with the reason.
 */
export function EventRules({ draft, problems, onChange }: PartProps) {
  const [text, setText] = useState('');
  const [refusal, setRefusal] = useState<string>();
  // A button adds the events of the first watched address.
  const abiChain = useAbiChain(draft);
  const [watched] = parseAddressList(draft.addresses, draft.family).rows;
  // Memoized, because ABIs are long and the form is rendered on each keystroke.
  const parsed = useMemo(() => parseEvents(addressIn(text) === undefined ? text : ''), [text]);
  const areSomeRight = parsed.items.length + parsed.signatures.length > 0;

  const read = async (given: string): Promise<ParsedEvents> => {
    const address = addressIn(given);
    if (address === undefined) return parseEvents(given);
    if (abiChain === undefined) {
      throw new Error(
        `No ABI source configured for ${draft.chains[0] ?? 'this chain'}. Start the service with ${toAbiFlag(draft.chains[0] ?? '0x1')}, or paste the ABI.`,
      );
    }
    const { abi } = await sluice.getContractAbi(abiChain, address);
    const events = parseEvents(JSON.stringify(abi));
    if (events.items.length === 0) throw new Error('The ABI of this contract has no events.');
    return events;
  };
  const add = async (given: string): Promise<void> => {
    try {
      const { items, signatures, rest } = await read(given);
      onChange(signatures.reduce(withRule, withEvents(draft, items)));
      // Keeps the text if it has changed in the meantime, or if a button added other events.
      setText((now) => (now === given ? rest : now));
      setRefusal(undefined);
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
    }
  };

  return (
    <fieldset>
      <legend className="mb-1 text-12 text-muted">Events</legend>
      <EventList draft={draft} problems={problems} onChange={onChange} />
      {problems.rules !== undefined && <p className="text-12 text-bad">{problems.rules}</p>}
      <div className="mt-2">
        <LineArea
          label="Add by signature, ABI or address"
          data-field="events"
          placeholder="Transfer(address,address,uint256)"
          help={
            parsed.problems.length > 0 && areSomeRight
              ? 'Valid lines can be added; invalid lines stay until you fix them.'
              : undefined
          }
          error={refusal}
          problems={parsed.problems}
          value={text}
          onChange={(next) => {
            setText(next);
            setRefusal(undefined);
          }}
        />
        <div className="mt-2 flex flex-wrap items-center gap-2">
          <Button disabled={text.trim() === ''} onClick={() => void add(text)}>
            Add events
          </Button>
          {abiChain !== undefined && watched !== undefined && (
            <Button variant="quiet" onClick={() => void add(watched.address)}>
              <Plus size={12} strokeWidth={1.5} aria-hidden="true" />
              Add all events of {watched.label || formatHash(watched.address)}
            </Button>
          )}
          {TEMPLATES.map(({ name, abi }) => (
            <Button key={name} variant="quiet" onClick={() => void add(abi)}>
              <Plus size={12} strokeWidth={1.5} aria-hidden="true" />
              {name}
            </Button>
          ))}
        </div>
      </div>
    </fieldset>
  );
}
