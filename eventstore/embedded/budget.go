package embedded

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// budgetPatience is how long a client may leave memory unused that another connection waits for.
const budgetPatience = 3 * time.Second

// movedBytes are so many that those who wait for more are seen to be served.
const movedBytes = streamWindow

// account is the owner of memory: a connection, or the node itself. Safe for concurrent use.
type account struct {
	disconnect func(reason string) // nil for the node itself
	heldBack   atomic.Int64        // permissions to send that the node holds back, and messages that it does not take
	allowedAt  atomic.Value        // a time.Time: when it last did not any more
	running    atomic.Int64        // calls that run
	restedAt   atomic.Value        // a time.Time: when the last call ended
	known      atomic.Bool         // a call has shown the credentials that it needs
}

// hold notes that the node keeps the client from going on, until over is called. now is the clock of the budgets.
func (a *account) hold(now func() time.Time) (over func()) {
	a.heldBack.Add(1)
	return func() {
		a.allowedAt.Store(now())
		a.heldBack.Add(-1)
	}
}

// budget is memory that connections share. When it is short, the connection that holds least gets the next part, so
// that one which wants much does not keep others waiting. A connection whose client does not go on is closed while
// another one waits. When all that hold some wait for more, the youngest of those that may be refused is. Safe for
// concurrent use.
type budget struct {
	name     string // for the reason that a client is told
	total    int64
	patience time.Duration
	now      func() time.Time
	outside  func() int64 // bytes in use that no holding counts; nil = none
	relieve  func()       // when these leave no room for long; nil without outside
	sent     bool         // clients go on with its memory by sending

	mu     sync.Mutex
	held   int64
	owners map[*account]*owner
	stalls map[*holding]time.Time // of those that wait for their clients: since when
	timer  *time.Timer            // runs while a claim waits; nil before the first
	claims int                    // that wait
	begun  int64                  // holdings there have been
	tied   bool                   // some have waited for each other, and others wait still

	moved     time.Time // when a claim was last fulfilled, or enough was given back
	returned  int64     // bytes since then
	collected time.Time // when garbage was last collected for the bytes outside
}

// owner is the part of one account in a budget.
type owner struct {
	held     int64
	holdings int
	claims   []*wish // in the order in which they came
}

// holding is memory that one call has. Its fields belong to the budget.
type holding struct {
	budget *budget
	owner  *account
	bytes  int64
	begun  int64 // its number among all holdings, since it has bytes
}

// newBudget makes a budget of so many bytes.
func newBudget(name string, total int64) *budget {
	return &budget{
		name: name, total: total, patience: budgetPatience, now: patienceClock.Now,
		owners: map[*account]*owner{}, stalls: map[*holding]time.Time{},
	}
}

// open begins a holding without bytes. A nil budget gives one that counts nothing.
func (b *budget) open(of *account) *holding { return &holding{budget: b, owner: of} }

// ownerOf finds or makes the part of an account. Call with mu held.
func (b *budget) ownerOf(a *account) *owner {
	o := b.owners[a]
	if o == nil {
		o = &owner{}
		b.owners[a] = o
	}
	return o
}

// fits reports whether so many bytes are free. What is larger than the whole budget is let through when nothing else is
// in use. Call with mu held.
func (b *budget) fits(bytes int64) bool {
	used := b.held
	if b.outside != nil {
		used += b.outside()
	}
	return used+bytes <= b.total || used == 0
}

// give adds bytes to a holding. Call with mu held.
func (b *budget) give(h *holding, bytes int64) {
	b.held += bytes
	o := b.ownerOf(h.owner)
	if h.bytes == 0 {
		o.holdings++
		b.begun++
		h.begun = b.begun
	}
	h.bytes += bytes
	o.held += bytes
}

// forget removes an account that has and wants nothing. Call with mu held.
func (b *budget) forget(a *account, o *owner) {
	if o.holdings == 0 && len(o.claims) == 0 {
		delete(b.owners, a)
	}
}

// try takes bytes if they are free and nobody waits.
func (h *holding) try(bytes int64) bool {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.claims > 0 || !b.fits(bytes) {
		return false
	}
	b.give(h, bytes)
	return true
}

// claim takes bytes and calls ready, at once or when they are free. The function that it returns withdraws the claim.
func (h *holding) claim(bytes int64, ready func()) (withdraw func()) {
	return h.wish(&wish{of: h, bytes: bytes, ready: ready})
}

// wish is claim.
func (h *holding) wish(c *wish) (withdraw func()) {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.claims == 0 && b.fits(c.bytes) {
		b.give(h, c.bytes)
		c.ready()
		return func() {}
	}
	if c.look(); c.refused != nil && c.stands > 0 && c.stands+c.bytes > b.total {
		c.refused() // it would wait for itself
		return func() {}
	}
	c.since = b.now()
	o := b.ownerOf(h.owner)
	o.claims = append(o.claims, c)
	if b.claims++; b.claims == 1 {
		b.returned = 0
		b.watch()
	}
	b.serve()
	return func() { b.withdraw(c) }
}

// withdraw removes a claim that still waits.
func (b *budget) withdraw(c *wish) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.remove(c) {
		b.serve()
	}
}

// remove forgets a claim that still waits; false = it does not. Call with mu held.
func (b *budget) remove(c *wish) bool {
	o := b.owners[c.of.owner]
	if o == nil {
		return false
	}
	i := slices.Index(o.claims, c)
	if i < 0 {
		return false
	}
	o.claims = slices.Concat(o.claims[:i], o.claims[i+1:])
	b.claims--
	b.forget(c.of.owner, o)
	return true
}

// take takes bytes and waits for them if necessary. It fails when ctx ends first.
func (h *holding) take(ctx context.Context, bytes int64) error {
	return h.await(ctx, &wish{of: h, bytes: bytes}, nil)
}

// takeOrYield is take that fails with errYield when all would wait for each other otherwise. behind are other holdings
// of the call, which waits as well.
func (h *holding) takeOrYield(ctx context.Context, bytes int64, behind []*holding) error {
	refused := make(chan struct{})
	return h.await(ctx, &wish{of: h, bytes: bytes, behind: behind, refused: func() { close(refused) }}, refused)
}

// await is take. refused is closed when the claim is; nil = it cannot be.
func (h *holding) await(ctx context.Context, c *wish, refused <-chan struct{}) error {
	if h.try(c.bytes) {
		return nil
	}
	ready := make(chan struct{})
	c.ready = func() { close(ready) }
	withdraw := h.wish(c)
	select {
	case <-ready:
		return nil
	case <-refused:
		return errYield
	case <-ctx.Done():
		withdraw()
		select {
		case <-ready: // it came meanwhile
			h.release(c.bytes)
		default:
		}
		return ctx.Err()
	}
}

// poke looks again for claims that fit, after bytes outside became free.
func (b *budget) poke() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serve()
}

// release gives bytes back.
func (h *holding) release(bytes int64) {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	h.drop(min(bytes, h.bytes))
}

// join adds the bytes of another holding of the same owner in the budget, which has none then.
func (h *holding) join(other *holding) {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if other.bytes == 0 {
		return
	}
	o := b.owners[h.owner]
	if h.bytes > 0 {
		o.holdings--
	}
	h.bytes += other.bytes
	other.bytes = 0
	delete(b.stalls, other)
}

// free gives everything back; it may be called again.
func (h *holding) free() {
	if h == nil || h.budget == nil {
		return
	}
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	h.drop(h.bytes)
}

// drop is release with mu held.
func (h *holding) drop(bytes int64) {
	if bytes == 0 {
		return
	}
	b := h.budget
	o := b.owners[h.owner]
	b.held -= bytes
	if b.returned += bytes; b.returned >= movedBytes && b.claims > 0 {
		b.moved, b.returned = b.now(), 0
	}
	o.held -= bytes
	if h.bytes -= bytes; h.bytes == 0 {
		o.holdings--
		delete(b.stalls, h)
	}
	b.forget(h.owner, o)
	b.serve()
}

// waits notes that the memory now waits for its client to go on, or, with false, that it does not. Each call counts as
// going on.
func (h *holding) waits(client bool) {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if !client || h.bytes == 0 {
		delete(b.stalls, h)
		return
	}
	b.stalls[h] = b.now()
}

// excuse notes that the memory waits for the node and not for its client, as waits with false does, but not for ever:
// what the node waits for may come to depend on this client.
func (h *holding) excuse() {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.bytes > 0 {
		b.stalls[h] = b.now().Add((excused - 1) * b.patience)
	}
}

// unused reports whether the client of an account has left some of the memory unused for too long. What is under way to
// a client that goes on is not unused.
func (b *budget) unused(a *account) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for h, since := range b.stalls {
		if h.owner == a && b.now().Sub(since) >= b.patience {
			return true
		}
	}
	return false
}

// watch looks for clients that do not go on, as long as a claim waits. Call with mu held.
func (b *budget) watch() {
	if b.timer == nil {
		b.timer = time.AfterFunc(max(b.patience/8, time.Millisecond), b.look)
		return
	}
	b.timer.Reset(max(b.patience/8, time.Millisecond))
}

// look closes the connection that has left most memory unused for too long, if another one waits. Where nobody has gone
// on for as long, the youngest yields.
func (b *budget) look() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.claims == 0 {
		return
	}
	b.watch()
	b.serve()
	now, idle := b.now(), map[*account]int64{}
	for h, since := range b.stalls {
		if h.owner.disconnect != nil && b.idle(h.owner, now, since) && b.othersWait(h.owner) {
			idle[h.owner] += h.bytes
		}
	}
	var worst *account
	for a := range idle {
		if worst == nil || idle[a] > idle[worst] {
			worst = a
		}
	}
	stuck := b.stuck(now)
	switch {
	case worst != nil:
		go worst.disconnect("other clients wait for the memory of " + b.name + " that this one does not go on with")
	case b.sent && stuck >= b.patience && b.waitsElsewhere(now):
		b.tied = true
		waited := b.claims
		if b.serve(); b.claims == waited && !b.serveFitting() {
			b.yield(b.next())
		}
	case b.outside == nil:
	case stuck >= excused*b.patience:
		go b.relieve()
	case stuck >= b.patience/4 && now.Sub(b.collected) >= b.patience:
		b.collected = now
		go runtime.GC() // some of the bytes may be garbage
	}
}

// excused is how many times longer than others a client may leave memory unused that waits for a permission of the
// node, and how much longer bytes outside may leave no room.
const excused = 4

// idle reports whether the client of an account has left memory unused for too long that has waited for it since then.
// A client that may not send because the node holds that back cannot go on. It has some time from then on, but not for
// ever, since it may itself use what the node waits for.
func (b *budget) idle(a *account, now, since time.Time) bool {
	switch unused := now.Sub(since); {
	case unused < b.patience:
		return false
	case !b.sent || unused >= excused*b.patience:
		return true
	}
	allowed, _ := a.allowedAt.Load().(time.Time)
	return a.heldBack.Load() == 0 && now.Sub(allowed) >= b.patience
}

// waitsElsewhere reports whether a client that has memory has not gone on for long: it may wait for those that wait for
// its memory. What is being written does not, nor what lies behind a claim. Call with mu held.
func (b *budget) waitsElsewhere(now time.Time) bool {
	behind := map[*holding]bool{}
	for _, o := range b.owners {
		for _, c := range o.claims {
			behind[c.of] = true
			for _, h := range c.behind {
				behind[h] = true
			}
		}
	}
	for h, since := range b.stalls {
		if !behind[h] && now.Sub(since) >= b.patience {
			return true
		}
	}
	return false
}

// stuck is for how long claims have waited without any progress. Call with mu held.
func (b *budget) stuck(now time.Time) time.Duration {
	since := b.oldest()
	if b.moved.After(since) {
		since = b.moved
	}
	return now.Sub(since)
}

// progress is when a claim was last fulfilled, or enough given back, while others waited.
func (b *budget) progress() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.moved
}

// oldest is when the wish came that has waited longest. Call with mu held.
func (b *budget) oldest() (at time.Time) {
	for _, o := range b.owners {
		if len(o.claims) > 0 && (at.IsZero() || o.claims[0].since.Before(at)) {
			at = o.claims[0].since
		}
	}
	return at
}

// empty reports whether nobody has or wants any of it.
func (b *budget) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held == 0 && len(b.owners) == 0 && len(b.stalls) == 0
}

// wanted is the number of holdings that wait.
func (b *budget) wanted() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.claims
}

// othersWait reports whether an account other than this one waits. Call with mu held.
func (b *budget) othersWait(than *account) bool {
	own := 0
	if o := b.owners[than]; o != nil {
		own = len(o.claims)
	}
	return b.claims > own
}
