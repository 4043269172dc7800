// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// A dollar token with 6 decimals, like USDC, so that code that ignores `decimals` is noticed.
contract SluiceToken is ERC20, Ownable {
    /// The owner starts with one billion tokens.
    constructor(address owner) ERC20("Sluice Dollar", "SLD") Ownable(owner) {
        _mint(owner, 1_000_000_000 * 10 ** 6);
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 amount) external onlyOwner {
        _mint(to, amount);
    }
}
