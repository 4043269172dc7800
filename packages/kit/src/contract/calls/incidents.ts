import * as z from 'zod';
import { chainId, count, tagged, text, textOrNull, unixMs, uuid } from './basics.ts';
import { named, shape } from '../named.ts';
import { listIncidentsQuerySchema } from '../requests/incidents.ts';

const incidentKind = shape(
  'IncidentKind',
  '`receiver`: attempts to deliver to it fail · `chain`: no node of it can be read · `quarantine`: deliveries of a stream are set aside, because sending them fails in the service itself · `feed`: deliveries expire unread · `disk`: it is almost full · `certificate`: the client certificate expires soon',
  z.enum(['receiver', 'chain', 'quarantine', 'feed', 'disk', 'certificate']),
);

const incident = shape(
  'Incident',
  'A problem that stopped or delayed webhooks, from its start to its end.',
  z.strictObject({
    id: uuid,
    kind: incidentKind,
    cause: text.describe('Human-readable, such as `503 from api.example`.'),
    reason: text.describe('The last error, human-readable; empty if there is none.'),
    receiver: textOrNull.describe(
      'The host or inbox, of an incident of the kind `receiver`, as in the filter of deliveries.',
    ),
    chainId: chainId.nullable().describe('The chain, of an incident of the kind `chain`.'),
    affected: z
      .array(z.strictObject({ streamId: uuid, destination: count.exactOptional() }))
      .describe(
        'The first 100 affected streams or additional destinations. Empty if none are, or all.',
      ),
    affectedCount: count,
    deliveryId: textOrNull.describe('The newest delivery that failed; null if there is none.'),
    startedAt: unixMs.describe(
      'Unix milliseconds; for a receiver, the first minute of failed attempts.',
    ),
    endedAt: unixMs.nullable().describe('Unix milliseconds; null while it lasts.'),
  }),
);

const incidentPage = named(
  'IncidentPage',
  'A page of incidents.',
  z.strictObject({
    result: z.array(incident).describe('Newest first.'),
    cursor: text.exactOptional().describe('Absent on the last page.'),
  }),
);

export const incidentsCalls = tagged('Sluice', {
  listIncidents: {
    method: 'GET',
    path: '/sluice/incidents',
    scope: 'history:read',
    summary: 'List incidents, grouped by cause, newest first',
    description:
      'An incident is recorded once it has lasted 15 seconds, and kept for 30 days after its end.',
    query: listIncidentsQuerySchema,
    response: incidentPage,
    errors: [422],
  },
});
