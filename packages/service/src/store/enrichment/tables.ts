/** Tables of tokens. */

export interface EnrichmentTables {
  token: TokenTable;
}

/** Metadata of a token contract, stored so that it is read only once. */
interface TokenTable {
  chain: string;
  address: string;
  /** Name; empty if the contract does not provide it. */
  name: string;
  symbol: string;
  decimals: number | null;
  /** Standard: `ERC721`, `ERC1155` or empty. */
  standard: string;
  /** The block at which it was read. */
  block_number: number;
  updated_at: number;
}
