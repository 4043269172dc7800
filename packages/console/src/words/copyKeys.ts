import { useShortcuts } from '../ui/keys/keyboard.ts';
import type { Action } from '../ui/keys/actionList.tsx';
import { copyText } from '../ui/text/copyText.ts';

/** The copyable parts of a stream, a delivery or a webhook. */
export interface CopyableParts {
  id: string;
  /** Absolute URL of the page in the console. */
  link: string;
  /** Copies a curl command that sends the webhook again. */
  copyCurl?: (() => void) | undefined;
}

/** Returns the actions for the menu that `.` opens. */
export const copyActions = ({ id, link, copyCurl }: CopyableParts): Action[] => [
  { label: 'Copy ID', keycap: 'c', run: () => void copyText(id, 'ID') },
  { label: 'Copy link', keycap: 'y', run: () => void copyText(link, 'Link') },
  ...(copyCurl === undefined ? [] : [{ label: 'Copy as curl', keycap: 'x', run: copyCurl }]),
];

/**
 * Binds `c` to copy the id, `y` to copy a link, and `x` to copy a curl command.
 * @param find returns null if there is nothing to copy.
 */
export function useCopyKeys(find: () => CopyableParts | null): void {
  const press = (key: string): boolean => {
    const found = find();
    const action = found && copyActions(found).find(({ keycap }) => keycap === key);
    action?.run();
    return action != null;
  };
  useShortcuts({ c: () => press('c'), y: () => press('y'), x: () => press('x') });
}
