/** Returns the creation time of a delivery or stream in Unix milliseconds, from its id, a UUIDv7. */
export const timeOfId = (id: string): number =>
  Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
