import { useMutation, useQueryClient } from '@tanstack/react-query';
import { queryKeys, sluice } from '../../data/queries/service.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { CallForm } from '../../words/callForm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { showToast } from '../../ui/toasts.ts';

/** A node that was added while the service ran. */
export interface AddedNode {
  id: string;
  /** Host of the node's URL. */
  name: string;
}

/** Removes a node after a confirmation. */
export function RemoveNode({
  chain: { name: chainName, providers },
  node,
  onClose,
}: {
  chain: WatchedChain;
  node: AddedNode;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: () => sluice.removeNode(node.id),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.chains });
      onClose();
      showToast({ text: 'Node removed' });
    },
  });
  return (
    <Dialog title={`Remove ${node.name}`} onClose={onClose}>
      <CallForm
        call={remove}
        ready
        destructive
        action="Remove node"
        failed="Couldn't remove the node"
      >
        <p>
          {providers.length === 1
            ? `This is the only node of ${chainName}, so the chain will no longer be read.`
            : `${chainName} will no longer be read from this node.`}{' '}
          To undo this, add the URL of the node again.
        </p>
      </CallForm>
    </Dialog>
  );
}
