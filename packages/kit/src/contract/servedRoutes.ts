/** The routes our service answers so far. A name moves in here together with its handler. */
import { ROUTES } from './routes.ts';

export const SERVED_ROUTES = {
  listEvmStreams: ROUTES.listEvmStreams,
  createEvmStream: ROUTES.createEvmStream,
  getEvmStream: ROUTES.getEvmStream,
  updateEvmStream: ROUTES.updateEvmStream,
  deleteEvmStream: ROUTES.deleteEvmStream,
  setEvmStreamStatus: ROUTES.setEvmStreamStatus,
  listEvmAddresses: ROUTES.listEvmAddresses,
  addEvmAddresses: ROUTES.addEvmAddresses,
  removeEvmAddresses: ROUTES.removeEvmAddresses,
} as const satisfies Partial<typeof ROUTES>;

export type ServedRouteName = keyof typeof SERVED_ROUTES;
