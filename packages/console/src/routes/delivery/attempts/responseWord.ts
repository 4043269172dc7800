import type { DeliveryAttempt } from '@sluice/kit/sluice';

/** Returns the status of an attempt. Queues and feeds have none, so it is in words there. */
export const responseWord = ({ status, error }: Pick<DeliveryAttempt, 'status' | 'error'>) =>
  status ?? (error === null ? 'accepted' : 'no response');
