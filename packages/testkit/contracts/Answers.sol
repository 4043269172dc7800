// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// Covers every kind of result that a contract call can have.
contract Answers {
    struct Point {
        uint256 x;
        int8 y;
    }

    struct Shape {
        string label;
        Point[] points;
        bool closed;
    }

    error Unwilling(uint256 code);

    event Drawn(address indexed artist, Shape shape, uint256 points);

    /// Changes with each drawing, so that a result identifies the block of the call.
    uint256 public drawings;

    function draw(Shape calldata shape) external payable {
        drawings++;
        emit Drawn(msg.sender, shape, shape.points.length);
    }

    function asker() external view returns (address) {
        return msg.sender;
    }

    function echo(Shape calldata shape, uint256[2] calldata pair)
        external
        pure
        returns (Shape memory shapeAgain, uint256[2] memory)
    {
        return (shape, pair);
    }

    function several() external pure returns (uint256 count, string memory, bool isLast) {
        return (type(uint256).max, unicode"deux é", true);
    }

    function refuse() external pure returns (uint256) {
        revert("not today");
    }

    function refuseWithError() external pure returns (uint256) {
        revert Unwilling(7);
    }

    function refuseSilently() external pure returns (uint256) {
        revert();
    }

    function divide(uint256 by) external pure returns (uint256) {
        return 1 / by;
    }

    /// Uses up all gas, including that of other calls in the same batch.
    function exhaust() external pure returns (uint256 steps) {
        while (true) steps++;
    }
}
