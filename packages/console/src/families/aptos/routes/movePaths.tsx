import type { ObservedMovePath } from '@sluice/kit/sluice';
import { useMemo } from 'react';
import { movePathProblems } from '../problems.ts';
import { formatHash } from '../../../ui/text/format.ts';
import { countPaths, withoutPath, withPath, type PathCount } from './observedPaths.ts';
import { LineArea } from '../../../ui/form/lineArea.tsx';
import {
  ObservedList,
  ObservedRow,
  SHOWN_OBSERVED,
} from '../../../routes/streamForm/dryRun/observedList.tsx';
import { useSharedDryRun } from '../../../routes/streamForm/dryRun/sharedDryRun.tsx';
import type { PartProps } from '../../../routes/streamForm/partProps.ts';

/** Edits the Aptos functions and events, as text or by selecting observed paths. */
export function MovePaths({ draft, problems, onChange }: PartProps) {
  const { functions, moveEvents, allAddresses } = draft;
  const [hasFunctions, hasEvents] = [functions, moveEvents].map((text) => text.trim() !== '');
  return (
    <>
      <Paths
        kind="function"
        label="Functions"
        placeholder="0x1::aptos_account::transfer"
        help="Entry functions as Move paths, one per line."
        error={problems.functions}
        value={functions}
        onChange={(next) => onChange({ ...draft, functions: next })}
      />
      <Paths
        kind="event"
        label="Move events"
        placeholder="0x1::fungible_asset::Withdraw"
        help="Event types as Move paths, one per line. Without type arguments, a path matches any arguments."
        error={problems.moveEvents}
        value={moveEvents}
        onChange={(next) => onChange({ ...draft, moveEvents: next })}
      />
      {!allAddresses && !hasFunctions && !hasEvents && (
        <p className="text-12 text-faint">
          Without functions or events, all transactions of the addresses are sent.
        </p>
      )}
      {hasFunctions && hasEvents && (
        <p className="text-12 text-faint">
          Transactions that call one of the functions or emit one of the events are sent.
        </p>
      )}
    </>
  );
}

/**
 * Edits a list of Move paths. Shows the problems of lines next to them; if there are none, shows
 * the problem of the field below the list.
 */
function Paths({
  kind,
  error,
  value,
  onChange,
  ...props
}: { kind: ObservedMovePath['kind'] } & Omit<React.ComponentProps<typeof LineArea>, 'problems'>) {
  const { observed } = useSharedDryRun();
  const problems = movePathProblems(value);
  const { listed, offered } = useMemo(
    () => countPaths(observed, kind, value),
    [observed, kind, value],
  );
  const rows = (paths: readonly PathCount[], checked: boolean) =>
    paths.map(({ path, count }) => (
      <ObservedRow
        key={path}
        name={<PathName path={path} />}
        count={count}
        asked={observed.blocks.size}
        checked={checked}
        onChange={(isChecked) => onChange((isChecked ? withPath : withoutPath)(value, path))}
      />
    ));
  return (
    <fieldset aria-label={props.label} className="min-w-0">
      <LineArea
        error={problems.length === 0 ? error : undefined}
        problems={problems}
        value={value}
        onChange={onChange}
        {...props}
      />
      <ObservedList
        chosen={rows(listed.slice(0, SHOWN_OBSERVED), true)}
        // In a long list, paths beyond the limit follow the observed paths.
        offered={[...rows(offered, false), ...rows(listed.slice(SHOWN_OBSERVED), true)]}
      />
    </fieldset>
  );
}

/** Shows a path with shortened addresses, because paths differ mostly in their last parts. */
function PathName({ path }: { path: string }) {
  const [, address = '', name = path, generics = ''] = /^(0x\w+::)([^<]+)(<.*)?$/.exec(path) ?? [];
  return (
    <span className="data min-w-0 break-all" data-tip={path}>
      <span className="text-faint">{shorten(address)}</span>
      {name}
      {generics !== '' && <span className="text-faint">{shorten(generics)}</span>}
    </span>
  );
}

const shorten = (text: string): string =>
  text.replace(/0x[0-9a-f]+/g, (address) => formatHash(address));
