import { useBlocker } from '@tanstack/react-router';
import { useRef } from 'react';
import { Button } from '../button.tsx';
import { Dialog, DialogFooter } from '../dialog.tsx';

/**
 * Requests confirmation before a navigation or a reload leaves a form with unsaved changes.
 *
 * @param onDiscard called when the user discards the changes.
 * @returns the dialog, and a function that disables the confirmation, for example after a save.
 */
export function useKeepDraft(
  isChanged: boolean,
  onDiscard: () => void,
): { dialog: React.ReactNode; letGo: () => void } {
  const isFree = useRef(false);
  const blocker = useBlocker({
    // Never blocks the redirect to sign-in after the session has ended.
    shouldBlockFn: ({ next }) => isChanged && !isFree.current && next.pathname !== '/sign-in',
    enableBeforeUnload: () => isChanged && !isFree.current,
    withResolver: true,
  });
  const dialog = blocker.status === 'blocked' && (
    <Dialog title="Discard changes?" onClose={blocker.reset}>
      <p className="mb-3 text-muted">This form has unsaved changes.</p>
      <DialogFooter cancel="Keep editing">
        <Button
          variant="danger"
          onClick={() => {
            onDiscard();
            blocker.proceed();
          }}
        >
          Discard
        </Button>
      </DialogFooter>
    </Dialog>
  );
  return { dialog, letGo: () => void (isFree.current = true) };
}
