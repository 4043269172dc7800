import { given, streamId } from './fields.ts';

export const triedStream = given(streamId).describe(
  'A stored stream to try. Fields that are left out, including `addresses`, are those of the stream.',
);
