package embedded

// LockKey lets tests take the lock of a running node.
var LockKey = lockKey
