package embedded

// LockKey lets tests take the lock of a running node.
var LockKey = lockKey

// MigrationName is how the session of a migration is called in pg_stat_activity.
const MigrationName = migrationName

// Queued is the number of writes that wait for the sequencer of a node.
func Queued(n *Node) int { return len(n.sequencer.queue) }

// NoWriteMemory reports whether no append holds memory any more.
func NoWriteMemory(n *Node) bool {
	if !n.writes.TryAcquire(writeBytes) {
		return false
	}
	n.writes.Release(writeBytes)
	return true
}

// Stopping is closed when the node begins to stop.
func Stopping(n *Node) <-chan struct{} { return n.stopping }
