// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// Moves ether inside one transaction in every way there is, and undoes some of it: what readers of
/// traces must take, and what they must leave out. It needs 100 wei, which it holds or is sent.
contract ValueMover {
    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() payable {}

    receive() external payable {}

    /// `to` ends with 1 + 4 + 6 + 11 wei more; this contract keeps what is left. Says so in one log.
    function move(address payable to) external payable {
        emit Transfer(msg.sender, to, 22);
        (bool moved, ) = to.call{value: 1}("");
        // A call that carries nothing.
        (bool called, ) = to.call("");
        // From here to itself, and from there on.
        this.pass{value: 10}(to, 4);
        // Undone, with what was moved below it.
        try this.passAndFail{value: 20}(to, 5) {} catch {}
        // The delegate's own call carries nothing, the one it makes does.
        (bool delegated, ) = address(this).delegatecall(abi.encodeCall(this.pass, (to, 6)));
        require(moved && called && delegated, "refused");
        new Vessel{value: 7}();
        new Vessel{value: 8, salt: bytes32(gasleft())}();
        // Undone in its constructor.
        try new BrokenVessel{value: 9}() {} catch {}
        // A contract that is gone as soon as it is made, and leaves what it was given: PUSH20 `to`,
        // SELFDESTRUCT. As bytes, since the compiler warns of the word.
        bytes memory code = abi.encodePacked(hex"73", to, hex"ff");
        assembly {
            pop(create(11, add(code, 32), mload(code)))
        }
    }

    /// The same, undone as a whole where the caller does not: nothing has moved.
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
