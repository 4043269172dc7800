import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { contractQuery, nameQuery } from '../../../data/queries/chains.ts';
import { namesIn, withAddressOf } from '../../../routes/streamForm/draft/addressList.ts';
import {
  readAmount,
  type TokenUnit,
  toNumber,
  unitOf,
} from '../../../routes/streamForm/draft/tokenAmount.ts';
import { Button } from '../../../ui/button.tsx';
import { TextField } from '../../../ui/form/field.tsx';
import { useDebounced } from '../../../ui/form/debounced.ts';
import { formatHash } from '../../../ui/text/format.ts';
import { describeContract } from '../../../words/contractWords.ts';
import type { AddressHintsProps } from '../../formPart.ts';
import { leastAmountOf, withLeastAmount } from '../leastAmount.ts';

/** Maximum number of ENS names that are resolved at once. */
const MAX_NAMES = 5;

/** Resolves ENS names, and describes the contract at a single address. */
export function AddressHints({ draft, chains, list, onChange }: AddressHintsProps) {
  return (
    <>
      <Names
        names={namesIn(list.rejects)}
        onResolved={(name, address) =>
          onChange({ ...draft, addresses: withAddressOf(draft.addresses, name, address) })
        }
      />
      {list.rows.length === 1 && (
        <AtAddress
          draft={draft}
          chains={chains}
          address={list.rows[0]?.address ?? ''}
          onChange={onChange}
        />
      )}
    </>
  );
}

/**
 * Resolves ENS names, and offers to watch their addresses. The stream keeps the address, even if
 * the name changes later.
 */
function Names({
  names,
  onResolved,
}: {
  names: readonly string[];
  onResolved: (name: string, address: string) => void;
}) {
  const typed = names.slice(0, MAX_NAMES).join('\n');
  const rested = useDebounced(typed);
  if (typed === '' || rested === '') return null;
  return (
    <ul className="mt-1 grid gap-1 text-12">
      {rested.split('\n').map((name) => (
        <Name key={name} name={name} onResolved={(address) => onResolved(name, address)} />
      ))}
    </ul>
  );
}

function Name({ name, onResolved }: { name: string; onResolved: (address: string) => void }) {
  const { data, error } = useQuery(nameQuery(name));
  return (
    <li className="flex flex-wrap items-center gap-x-2 text-muted">
      {data === undefined ? (
        (error?.message ?? `Looking up ${name}`)
      ) : (
        <>
          <span className="min-w-0 wrap-anywhere">{name} →</span>
          <span className="data" data-tip={data.address}>
            {formatHash(data.address)}
          </span>
          <Button onClick={() => onResolved(data.address)}>Watch this address</Button>
        </>
      )}
    </li>
  );
}

/**
 * Describes the contract at a single EVM address, so that users can check that it is the right one.
 * For a token, offers a least amount.
 */
function AtAddress({
  draft,
  chains,
  address,
  onChange,
}: Omit<AddressHintsProps, 'list'> & { address: string }) {
  const chain = chains.find(({ id }) => draft.chains.includes(id));
  const { data } = useQuery({
    ...contractQuery(chain?.id ?? '', address),
    enabled: chain !== undefined,
  });
  if (data === undefined || chain === undefined) return null;
  const unit = unitOf(data);
  return (
    <>
      <p className="text-12 text-muted">{describeContract(data, chain.name)}</p>
      {unit !== null && leastAmountOf(draft) !== undefined && (
        <LeastAmount key={address} draft={draft} unit={unit} onChange={onChange} />
      )}
    </>
  );
}

/** Limits a token to transfers of at least an amount. */
function LeastAmount({
  draft,
  unit,
  onChange,
}: Pick<AddressHintsProps, 'draft' | 'onChange'> & { unit: TokenUnit }) {
  const [typed, setTyped] = useState<string>();
  const least = leastAmountOf(draft) ?? null;
  const isTyped = typed !== undefined && (readAmount(typed, unit) ?? null) === least;
  const problem =
    typed !== undefined && typed.trim() !== '' && readAmount(typed, unit) === null
      ? `Enter an amount such as 1,000.5, with at most ${unit.decimals} decimals.`
      : undefined;
  return (
    <div className="mt-2">
      <TextField
        label={`Least amount of a transfer, in ${unit.symbol}`}
        mono
        placeholder="all transfers"
        error={problem}
        value={
          isTyped || problem !== undefined ? (typed ?? '') : (toNumber(least ?? '', unit) ?? '')
        }
        onChange={({ target: { value } }) => {
          setTyped(value);
          const amount = readAmount(value, unit);
          if (amount !== null || value.trim() === '') onChange(withLeastAmount(draft, amount));
        }}
      />
    </div>
  );
}
