import * as z from 'zod';
import { requestShape, typed } from '../named.ts';
import type { IncidentFilter, ListOptions } from '../shapes.generated.ts';
import { flagText, page, receiver } from './fields.ts';

const incidentFilter = requestShape(
  'IncidentFilter',
  'Matches incidents that match every given field.',
  z.object({
    open: flagText
      .optional()
      .describe('true: only incidents that last; false: only those that ended.'),
    receiver: receiver.optional().describe('Only incidents of this receiver.'),
  }),
);

export const listIncidentsQuerySchema: z.ZodType<IncidentFilter & ListOptions & { limit: number }> =
  requestShape(
    'ListIncidentsOptions',
    'Filter and page of a list of incidents. Default: all incidents.',
    typed('ListOptions & IncidentFilter', z.object({ ...page, ...incidentFilter.shape })),
  );
