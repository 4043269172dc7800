import { useQuery } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import type { ParsedEvents } from '../../abiText.ts';
import { parseAddressList } from '../../addressList.ts';
import { aboutQuery, sluice } from '../../api.ts';
import {
  OPERATOR_SIGNS,
  isEvent,
  itemOf,
  OPERATORS,
  TEMPLATES,
  withEvents,
  withoutRule,
  withRule,
  type Condition,
  type EventRule,
  type Operator,
  type StreamDraft,
} from '../../draft.ts';
import { formatHash } from '../../format.ts';
import { toAbiFlag } from '../../nodeFlag.ts';
import { recognise, toAddress } from '../../paste.ts';
import { Button } from '../../ui/button.tsx';
import { Check, Select, TextArea } from '../../ui/field.tsx';
import type { PartProps } from './watchPart.tsx';

/** What to call an event without hiding which it is. */
const nameOf = (signature: string): string => signature.split('(')[0] ?? signature;

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
  const change = (rule: EventRule): void =>
    onChange({
      ...draft,
      rules: draft.rules.map((each) => (each.signature === rule.signature ? rule : each)),
    });

  return (
    <fieldset>
      <legend className="mb-1 text-12 text-muted">Events</legend>
      <ul>
        {signaturesOf(draft).map((signature) => {
          const rule = draft.rules.find((each) => each.signature === signature);
          return (
            <li key={signature} className="border-t border-line py-1 first:border-t-0">
              <Check
                label={
                  <span className="inline-flex max-w-full flex-wrap gap-x-2">
                    <span>{nameOf(signature)}</span>
                    <span className="data min-w-0 break-all text-faint">
                      {signature.slice(nameOf(signature).length)}
                    </span>
                  </span>
                }
                checked={rule !== undefined}
                onChange={(event) =>
                  onChange(
                    event.target.checked
                      ? withRule(draft, signature)
                      : withoutRule(draft, signature),
                  )
                }
              />
              {rule !== undefined && (
                <Conditions
                  rule={rule}
                  names={(itemOf(draft.abi, signature)?.inputs ?? []).map(({ name }) => name)}
                  onChange={change}
                />
              )}
            </li>
          );
        })}
      </ul>
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

/** Those chosen first, in their order, then what else the ABI offers. */
const signaturesOf = (draft: StreamDraft): string[] => [
  ...new Set([
    ...draft.rules.map(({ signature }) => signature),
    ...draft.abi
      .filter(isEvent)
      .map((item) => `${item.name ?? ''}(${(item.inputs ?? []).map(typeOf).join(',')})`),
  ]),
];

function typeOf({ type, components }: { type: string; components?: unknown }): string {
  if (!type.startsWith('tuple') || !Array.isArray(components)) return type;
  const inner = (components as { type: string; components?: unknown }[]).map(typeOf).join(',');
  return `(${inner})${type.slice('tuple'.length)}`;
}

function Conditions({
  rule,
  names,
  onChange,
}: {
  rule: EventRule;
  names: string[];
  onChange: (rule: EventRule) => void;
}) {
  if (rule.filterJson !== null) {
    return (
      <div className="pl-6">
        <TextArea
          label="Filter"
          rows={4}
          help="More than conditions joined by and, so it is edited as it is."
          value={rule.filterJson}
          onChange={(event) => onChange({ ...rule, filterJson: event.target.value })}
        />
      </div>
    );
  }
  const set = (index: number, condition: Condition | undefined): void =>
    onChange({
      ...rule,
      conditions:
        condition === undefined
          ? rule.conditions.toSpliced(index, 1)
          : rule.conditions.toSpliced(index, 1, condition),
    });
  return (
    <div className="grid gap-1 pl-6">
      {rule.conditions.map((condition, index) => (
        <div key={index} className="flex flex-wrap items-center gap-2">
          <span className="w-10 text-12 text-faint">{index === 0 ? 'where' : 'and'}</span>
          <Select
            aria-label="Parameter"
            className="w-28"
            value={condition.name}
            onChange={(event) => set(index, { ...condition, name: event.target.value })}
          >
            {[...new Set([...names, condition.name])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
          <Select
            aria-label="Operator"
            className="w-14"
            value={condition.operator}
            onChange={(event) =>
              set(index, { ...condition, operator: event.target.value as Operator })
            }
          >
            {OPERATORS.map((operator) => (
              <option key={operator} value={operator}>
                {OPERATOR_SIGNS[operator]}
              </option>
            ))}
          </Select>
          <input
            aria-label="Value"
            spellCheck={false}
            autoComplete="off"
            value={condition.value}
            onChange={(event) => set(index, { ...condition, value: event.target.value })}
            className="data control min-w-24 flex-1 rounded-control border border-line-strong bg-surface px-2"
          />
          <Button
            look="quiet"
            square
            aria-label={`Remove the condition on ${condition.name}`}
            onClick={() => set(index, undefined)}
          >
            <X size={14} strokeWidth={1.5} aria-hidden="true" />
          </Button>
        </div>
      ))}
      {names.length > 0 && (
        <div>
          <Button
            look="quiet"
            onClick={() =>
              set(rule.conditions.length, {
                name: names.at(-1) ?? '',
                operator: 'gte',
                value: '',
              })
            }
          >
            <Plus size={12} strokeWidth={1.5} aria-hidden="true" />
            {rule.conditions.length === 0 ? 'Only where…' : 'And…'}
          </Button>
        </div>
      )}
    </div>
  );
}
