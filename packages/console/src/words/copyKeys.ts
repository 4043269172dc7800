import { useShortcuts } from '../ui/keys/keyboard.ts';
import type { Action } from '../ui/keys/actionList.tsx';
import { copyText } from '../ui/text/copyText.ts';

/** What can be copied of a stream, a delivery or a webhook. */
export interface Copies {
  id: string;
  /** Leads to it from anywhere. */
  link: string;
  /** Copies it as a curl that sends it once more. */
  copyCurl?: (() => void) | undefined;
}

/** For the list of `.`. */
export const copyActions = ({ id, link, copyCurl }: Copies): Action[] => [
  { label: 'Copy id', keycap: 'c', run: () => void copyText(id, 'Id') },
  { label: 'Copy link', keycap: 'y', run: () => void copyText(link, 'Link') },
  ...(copyCurl === undefined ? [] : [{ label: 'Copy as curl', keycap: 'x', run: copyCurl }]),
];

/**
 * `c` copies the id, `y` a link, `x` a curl.
 * @param find null where there is nothing to copy.
 */
export function useCopyKeys(find: () => Copies | null): void {
  const press = (key: string): boolean => {
    const found = find();
    const action = found && copyActions(found).find(({ keycap }) => keycap === key);
    action?.run();
    return action != null;
  };
  useShortcuts({ c: () => press('c'), y: () => press('y'), x: () => press('x') });
}
