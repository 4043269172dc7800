// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// An early ERC-20 token: `name` and `symbol` are bytes32, as in Maker's MKR, and `transfer` returns
/// nothing, as in Tether's USDT.
contract OddToken {
    bytes32 public constant name = "Odd Token";
    bytes32 public constant symbol = "ODD";
    uint8 public constant decimals = 18;

    mapping(address => uint256) public balanceOf;
    uint256 public totalSupply;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(address owner) {
        totalSupply = 1_000_000 ether;
        balanceOf[owner] = totalSupply;
        emit Transfer(address(0), owner, totalSupply);
    }

    function transfer(address to, uint256 value) external {
        require(balanceOf[msg.sender] >= value, "balance");
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }
}
