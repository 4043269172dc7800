/** The call that reads the certificate of a receiver. */
import type { Store } from '../../../store/store.ts';
import { notFound } from '../../httpErrors.ts';
import type { Handlers } from '../../handlers.ts';

export const createReceiverHandlers = ({
  store,
}: {
  store: Pick<Store, 'readReceiverCertificate'>;
}) =>
  ({
    async getReceiverCertificate({ params: { receiver } }) {
      const seen = await store.readReceiverCertificate(receiver);
      if (seen === undefined) throw notFound('Receiver');
      return seen;
    },
  }) satisfies Partial<Handlers>;
