/** Rows of tokens. */

export interface EnrichmentTables {
  token: TokenTable;
}

/** Metadata of a token contract, stored so that it is read only once. */
interface TokenTable {
  chain: string;
  address: string;
  /** Empty if the contract does not provide it. */
  name: string;
  symbol: string;
  decimals: number | null;
  /** `ERC721`, `ERC1155` or empty. */
  standard: string;
  /** The block at which it was read. */
  block_number: number;
  updated_at: number;
}
