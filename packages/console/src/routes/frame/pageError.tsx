import { useMutation } from '@tanstack/react-query';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useCallback } from 'react';
import { isOutage, useRetries } from '../../data/outages.ts';
import { sluice } from '../../data/queries/service.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';

/**
 * Reports that a page failed to load or render. If the service is reachable, a retry reloads the
 * page and with it the files that an update renamed. After an outage, the page retries by itself.
 */
export function PageError({ error }: ErrorComponentProps) {
  const again = useMutation({
    mutationFn: () => sluice.checkSession(),
    onSuccess: () => location.reload(),
  });
  const { mutate } = again;
  const retry = useCallback(() => mutate(), [mutate]);
  useRetries(isOutage(error), retry);
  return (
    <ErrorPanel
      what="Couldn't show this page"
      error={again.error ?? error}
      onRetry={() => again.mutate()}
    />
  );
}
