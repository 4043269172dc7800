// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

/// An ERC-1155 with four kinds of items, ids 1 to 4. Its owner starts with a million of each.
contract SluiceItems is ERC1155, Ownable {
    constructor(address owner) ERC1155("https://items.sluice.example/{id}.json") Ownable(owner) {
        uint256[] memory ids = new uint256[](4);
        uint256[] memory amounts = new uint256[](4);
        for (uint256 i = 0; i < 4; i++) {
            ids[i] = i + 1;
            amounts[i] = 1_000_000;
        }
        _mintBatch(owner, ids, amounts, "");
    }

    function mint(address to, uint256 id, uint256 amount) external onlyOwner {
        _mint(to, id, amount, "");
    }
}
