package embedded

// LockKey lets tests take a node's lock away.
var LockKey = lockKey
