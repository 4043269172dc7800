// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// An ERC-721 with ids from 1. Burning limits the state of a chain that runs for days.
contract SluiceCollectible is ERC721, Ownable {
    /// The id of the newest token; 0 before the first one.
    uint256 public lastTokenId;

    constructor(address owner) ERC721("Sluice Collectible", "SLC") Ownable(owner) {}

    function mint(address to) external onlyOwner returns (uint256 tokenId) {
        tokenId = ++lastTokenId;
        _mint(to, tokenId);
    }

    /// Can be called by the holder, an approved account, or the contract's owner.
    function burn(uint256 tokenId) external {
        address auth = _msgSender() == owner() ? address(0) : _msgSender();
        _update(address(0), tokenId, auth);
    }
}
