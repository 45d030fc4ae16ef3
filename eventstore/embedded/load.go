package embedded

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
)

// Memory of writes, from the first message of an append until its answer.
const (
	writeBytes    = 28 << 20        // of all large appends together
	smallBytesAll = 8 << 20         // of all small ones, so that they do not wait for large ones
	openBytesAll  = 16 << 20        // kept of batched ones until they are answered, beyond what each call may
	smallAppend   = 64 << 10        // bytes of a small append
	eventOverhead = 64              // bytes that are counted for an event beside its body
	loadPatience  = 8 * time.Second // how long an append waits for memory; it may itself hold what others wait for
)

// writeMemory is the memory of all writes.
type writeMemory struct{ small, large, open *budget }

// newWriteMemory is all free.
func newWriteMemory() *writeMemory {
	m := &writeMemory{
		small: newBudget("small appends", smallBytesAll), large: newBudget("appends", writeBytes),
		open: newBudget("open appends", openBytesAll),
	}
	m.small.sent, m.large.sent = true, true
	return m
}

// load counts the memory that one append holds. Not safe for concurrent use, but for giveBack. A nil load counts
// nothing.
type load struct {
	memory *writeMemory
	owner  *account
	room   *holding
	large  bool
	held   int64
	behind func() []*holding // of other appends of the call, which wait with this one; nil = there are none
}

// errBusy answers an append for which there is no memory. It has not been written.
var errBusy = &refusal{code: codes.Aborted, message: "too many bytes are being written at once; try again"}

// newLoad begins to count an append.
func (n *Node) newLoad(owner *account) *load {
	return &load{memory: n.writes, owner: owner, room: n.writes.small.open(owner)}
}

// grow takes memory for more bytes and waits for it if necessary. When it fails, the load is free.
func (l *load) grow(ctx context.Context, bytes int) error {
	more := int64(bytes)
	if l.held+more > writeBytes {
		l.free()
		return errTooLarge
	}
	small := l.room
	if !l.large && l.held+more > smallAppend {
		l.room, l.large = l.memory.large.open(l.owner), true
		more += l.held
	}
	if !l.room.try(more) {
		if err := l.wait(ctx, small, more); err != nil {
			small.free()
			l.free()
			return err
		}
	}
	if small != l.room {
		small.free()
	}
	l.held += int64(bytes)
	return nil
}

// join adds what another load of the same client holds, which is free then. It takes nothing for bytes that are in the
// right part of the memory already. When it fails, both are free.
func (l *load) join(ctx context.Context, other *load) error {
	if other.large && !l.large {
		*l, *other = *other, *l
	}
	defer other.free()
	all := l.held + other.held
	if l.large != other.large || all > writeBytes || !l.large && all > smallAppend {
		return l.grow(ctx, int(other.held))
	}
	l.room.join(other.room)
	l.held, other.held = all, 0
	return nil
}

// wait waits for memory. Meanwhile what the append holds, in had, does not wait for its client, and the client of
// another append on the connection may have sent what the node has not taken.
func (l *load) wait(ctx context.Context, had *holding, bytes int64) error {
	had.waits(false)
	defer l.owner.hold(l.room.budget.now)()
	limited, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	var behind []*holding
	if l.behind != nil {
		behind = l.behind()
	}
	switch {
	case l.room.takeOrYield(limited, bytes, behind) == nil:
		return nil
	case ctx.Err() != nil:
		return fromContext(ctx.Err())
	}
	return errBusy
}

// waits notes that the append waits for its client to send more, or, with false, that it does not.
func (l *load) waits(client bool) {
	if l != nil && l.held > 0 {
		l.room.waits(client)
	}
}

// giveBack gives all memory back of an append that nobody uses any more. Safe for concurrent use with free.
func (l *load) giveBack() {
	if l != nil {
		l.room.free()
	}
}

// free gives all memory back.
func (l *load) free() {
	if l != nil {
		l.room.free()
		l.held = 0
	}
}
