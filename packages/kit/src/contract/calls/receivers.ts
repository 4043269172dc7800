import * as z from 'zod';
import { tagged, unixMs } from './basics.ts';
import { receiverCertificate } from './deliveries.ts';
import { named } from '../named.ts';
import { receiver } from '../requests/fields.ts';

const seenCertificate = named(
  'SeenCertificate',
  'The certificate that a receiver presented last.',
  z.strictObject({
    certificate: receiverCertificate
      .nullable()
      .describe('Null if none of the checked attempts opened a TLS connection.'),
    seenAt: unixMs.nullable().describe('When that attempt started, in Unix milliseconds.'),
  }),
);

export const receiversCalls = tagged('Sluice', {
  getReceiverCertificate: {
    method: 'GET',
    path: '/sluice/receivers/{receiver}/certificate',
    scope: 'history:read',
    params: {
      receiver: receiver.meta({
        type: 'string',
        description: 'Host of webhook URLs, e.g. api.example:8443',
      }),
    },
    summary: 'Read the certificate that a receiver presented last',
    description:
      'Checks the attempts of the newest 500 deliveries of each of the first 10 destinations with this host. Most attempts reuse a connection, so the certificate of a busy receiver may be unknown.',
    response: seenCertificate,
    errors: [404, 422],
  },
});
