// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// Moves ether within a transaction in every possible way, and reverts some of the transfers, which
/// traces must leave out. Needs 100 wei, from its balance or from the caller.
contract ValueMover {
    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() payable {}

    receive() external payable {}

    /// Sends 1 + 4 + 6 + 11 wei to `to`, keeps the rest, and emits the sum in one log.
    function move(address payable to) external payable {
        emit Transfer(msg.sender, to, 22);
        (bool moved, ) = to.call{value: 1}("");
        // A call without value.
        (bool called, ) = to.call("");
        // A transfer to this contract, and from there to `to`.
        this.pass{value: 10}(to, 4);
        // Reverted, with its nested transfers.
        try this.passAndFail{value: 20}(to, 5) {} catch {}
        // The delegate call has no value, but its nested call does.
        (bool delegated, ) = address(this).delegatecall(abi.encodeCall(this.pass, (to, 6)));
        require(moved && called && delegated, "refused");
        new Vessel{value: 7}();
        new Vessel{value: 8, salt: bytes32(gasleft())}();
        // Reverted in the constructor.
        try new BrokenVessel{value: 9}() {} catch {}
        // A contract that destroys itself at creation and sends its value to `to`: PUSH20 `to`,
        // SELFDESTRUCT. Written as bytes, because the compiler warns about the instruction.
        bytes memory code = abi.encodePacked(hex"73", to, hex"ff");
        assembly {
            pop(create(11, add(code, 32), mload(code)))
        }
    }

    /// Reverts everything, so that nothing moves.
    function moveAndFail(address payable to) external payable {
        this.move(to);
        revert("all of it");
    }

    function pass(address payable to, uint256 amount) external payable {
        (bool moved, ) = to.call{value: amount}("");
        require(moved, "refused");
    }

    function passAndFail(address payable to, uint256 amount) external payable {
        this.pass{value: 3}(to, amount);
        revert("undone");
    }
}

contract Vessel {
    constructor() payable {}
}

contract BrokenVessel {
    constructor() payable {
        revert("broken");
    }
}
