package embedded

import (
	"context"
	"runtime"
)

// MostConnections is how many connections a node has at the same time.
const MostConnections = connections

// HolderSilence is the silence of a node that has no other one.
const HolderSilence = holderSilence

// LockKey lets tests take the lock of a running node.
var LockKey = lockKey

// ScavengeBegin is how many events the first transaction of a pass removes at most.
const ScavengeBegin = scavengeBegin

// MigrationName is how the session of a migration is called in pg_stat_activity.
const MigrationName = migrationName

// The bytes of a small page, and those that a row of it takes beside the record of its event.
const (
	SmallBytes  = smallBytes
	RowOverhead = rowOverhead
)

// StoredType is how many bytes of a record lie before the type of its event.
const StoredType = storedType

// Encoded is the memory, in bytes, that a node keeps for the records of the next group.
func Encoded(n *Node) int { return cap(n.sequencer.columns.stored) }

// StoredKept bounds that memory.
const StoredKept = storedKept

// OnlySmallPages leaves no room for large pages on a node.
func OnlySmallPages(n *Node) { n.log.memory.pages.open(nodeAccount).try(pagesBytes) }

// Connections is the number of open connections of a node.
func Connections(n *Node) int {
	n.intake.mu.Lock()
	defer n.intake.mu.Unlock()
	return len(n.intake.connections)
}

// Arrived is the number of bytes that have arrived at a node and are not given back.
func Arrived(n *Node) int64 { return n.intake.arrived.Load() }

// Refuses reports whether a node refuses all writes, since its database does not answer.
func Refuses(n *Node) bool { return n.sequencer.down.Load() }

// Queued is the number of writes that wait for the sequencer of a node.
func Queued(n *Node) int { return len(n.sequencer.queue) }

// KnowHeads bounds the number of heads that a node keeps in memory. Nothing may be written meanwhile.
func KnowHeads(n *Node, most int) { n.sequencer.heads.Resize(most) }

// Heads is the number of heads that a node keeps in memory. Nothing may be written meanwhile.
func Heads(n *Node) int { return n.sequencer.heads.Len() }

// WriteMemory is the number of bytes that appends hold.
func WriteMemory(n *Node) int64 {
	b := n.writes.small
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// NoMemory reports whether no call holds memory any more.
func NoMemory(n *Node) bool {
	all := []*budget{n.intake.messages}
	if m := n.log.memory; m != nil {
		all = append(all, m.pages, m.rows, m.targets, m.frames)
	}
	for _, b := range all {
		if !b.empty() {
			return false
		}
	}
	return n.intake.arrived.Load() == 0 && NoWriteMemory(n)
}

// NoWriteMemory reports whether no append holds memory any more.
func NoWriteMemory(n *Node) bool {
	return n.writes.small.empty() && n.writes.large.empty() && n.writes.open.empty()
}

// AwaitTypes waits until the types of all full blocks of a node's log are known, and gives the number of blocks.
func AwaitTypes(n *Node) int64 {
	for n.log.types.known() < n.tail.last.Load()>>blockBits {
		runtime.Gosched()
	}
	return n.log.types.known()
}

// Stopping is closed when the node begins to stop.
func Stopping(n *Node) <-chan struct{} { return n.stopping }

// Scavenge makes one pass of a node over its log. between, if not nil, is called after each transaction that removed
// events.
func Scavenge(ctx context.Context, n *Node, between func()) error {
	return n.scavenger.pass(ctx, between)
}

// NoteTypes notes the types of the first blocks of a log, as if they were full, and returns how many it has noted.
func NoteTypes(ctx context.Context, n *Node, blocks int64) int64 {
	tag, err := n.config.Pool.Exec(ctx, n.log.queries.addTypeBlocks, blockBits, 0, blocks)
	if err != nil {
		return -1
	}
	return tag.RowsAffected()
}
