import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { ParsedEvents } from '../../abiText.ts';
import { parseAddressList } from '../../addressList.ts';
import { aboutQuery, sluice } from '../../api.ts';
import { TEMPLATES, withEvents, withRule } from '../../draft.ts';
import { formatHash } from '../../format.ts';
import { toAbiFlag } from '../../nodeFlag.ts';
import { recognise, toAddress } from '../../paste.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import { EventList } from './eventList.tsx';
import type { PartProps } from './watchPart.tsx';

/** Which events, with what values; added by signature, by ABI, or from those that many watch. */
export function EventRules({ draft, problems, onChange }: PartProps) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const { data: about } = useQuery(aboutQuery);
  // Who can be asked for ABIs, and about which contract at once.
  const abiChain = draft.chains.find((id) => about?.abiChains.includes(id));
  const [watched] = parseAddressList(draft.addresses, draft.family).rows;

  const read = async (given: string): Promise<ParsedEvents> => {
    const { parseEvents } = await import('../../abiText.ts');
    const one = toAddress(recognise(given.trim()));
    if (one?.family !== 'evm') return parseEvents(given);
    if (abiChain === undefined) {
      throw new Error(
        `Nobody is named who tells ABIs of ${draft.chains[0] ?? 'this chain'}: start the service with ${toAbiFlag(draft.chains[0] ?? '0x1')}, or paste the ABI`,
      );
    }
    const { abi } = await sluice.getContractAbi(abiChain, one.address);
    return parseEvents(JSON.stringify(abi));
  };
  const add = async (given: string): Promise<void> => {
    try {
      const { items, signatures } = await read(given);
      onChange(signatures.reduce(withRule, withEvents(draft, items)));
      setText('');
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };

  return (
    <fieldset>
      <legend className="mb-1 text-12 text-muted">Events</legend>
      <EventList draft={draft} onChange={onChange} />
      {problems.rules !== undefined && <p className="text-12 text-bad">{problems.rules}</p>}
      <div className="mt-2">
        <TextArea
          label="Add by signature, ABI or address"
          rows={2}
          placeholder="event Transfer(address indexed from, address indexed to, uint256 value)"
          error={problem}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <div className="mt-2 flex flex-wrap items-center gap-2">
          <Button disabled={text.trim() === ''} onClick={() => void add(text)}>
            Add events
          </Button>
          {abiChain !== undefined && watched !== undefined && (
            <Button look="quiet" onClick={() => void add(watched.address)}>
              <Plus size={12} strokeWidth={1.5} aria-hidden="true" />
              All events of {watched.label || formatHash(watched.address)}
            </Button>
          )}
          {TEMPLATES.map(({ name, abi }) => (
            <Button key={name} look="quiet" onClick={() => void add(abi)}>
              <Plus size={12} strokeWidth={1.5} aria-hidden="true" />
              {name}
            </Button>
          ))}
        </div>
      </div>
    </fieldset>
  );
}
