import { parseAddressList } from '@sluice/kit/operator';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { formatHash } from '../../../ui/text/format.ts';
import { ObservedList, ObservedRow } from '../../../routes/streamForm/dryRun/observedList.tsx';
import type { PartProps } from '../../../routes/streamForm/partProps.ts';
import {
  type CalledFunction,
  listCalled,
  offerFunctions,
  withFunction,
  withoutFunction,
} from './calledFunctions.ts';
import { useAbiChain, useContractAbi } from './contractAbi.ts';
import { RuleName } from './ruleName.tsx';

/**
 * Lists the functions of the field with their selectors, then those in the ABI of the first watched
 * contract.
 */
export function FunctionList({ draft, onChange }: Pick<PartProps, 'draft' | 'onChange'>) {
  const { calledFunctions: text } = draft;
  const [watched] = parseAddressList(draft.addresses, draft.family).rows;
  const abiChain = useAbiChain(draft);
  const [isOpen, setOpen] = useState(false);
  // Many addresses have no ABI, so it is requested only for functions.
  const isAsked = isOpen || listCalled(text, []).length > 0;
  const abi = useContractAbi(draft, isAsked ? (watched?.address ?? '') : '');
  const change = (calledFunctions: string): void => onChange({ ...draft, calledFunctions });
  const renderRow = (each: CalledFunction, isChosen: boolean) => (
    <ObservedRow
      key={each.selector}
      name={
        <span className="inline-flex max-w-full flex-wrap gap-x-2">
          <RuleName signature={each.signature} unknown="unknown function" />
          {each.signature !== each.selector && (
            <span className="data text-faint">{each.selector}</span>
          )}
        </span>
      }
      count={null}
      asked={0}
      checked={isChosen}
      onChange={() => change(isChosen ? withoutFunction(text, each) : withFunction(text, each))}
    />
  );
  return (
    <div>
      {isAsked ? (
        <ObservedList
          chosen={listCalled(text, abi).map((each) => renderRow(each, true))}
          offered={offerFunctions(text, abi).map((each) => renderRow(each, false))}
        />
      ) : (
        abiChain !== undefined &&
        watched !== undefined && (
          <Button variant="quiet" onClick={() => setOpen(true)}>
            <Plus size={12} strokeWidth={1.5} aria-hidden="true" />
            Choose from the functions of {watched.label || formatHash(watched.address)}
          </Button>
        )
      )}
    </div>
  );
}
