package router

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Faults are the ways in which a router misbehaves, by name. Counts are of writes applied over a protocol since the
// faults were set; nil means never.
type Faults struct {
	// LatencyMs delays every answer.
	LatencyMs int `json:"latencyMs"`
	// Hang takes requests and never answers; nothing is applied.
	Hang bool `json:"hang"`
	// Unauthorized refuses every login.
	Unauthorized bool `json:"unauthorized"`
	// RefuseIDs makes PATCH and DELETE by id fail with "missing or invalid resource identifier".
	RefuseIDs bool `json:"refuseIds"`
	// DenyWrites answers every write with "not enough permissions (9)".
	DenyWrites bool `json:"denyWrites"`
	// ControlBytes shows foreign comments with raw control bytes and bytes that are no UTF-8.
	ControlBytes bool `json:"controlBytes"`
	// DropAfterWrites breaks every connection at its next request once so many writes were applied; nothing more is.
	DropAfterWrites *int `json:"dropAfterWrites,omitempty"`
	// LoseReplyAfterWrites applies one more write after so many and breaks the connection instead of answering it.
	LoseReplyAfterWrites *int `json:"loseReplyAfterWrites,omitempty"`
	// RebootAfterWrites restarts the router instead of answering the write after so many.
	RebootAfterWrites *int `json:"rebootAfterWrites,omitempty"`
	// EditAfterWrites makes somebody else do Edits, once, after so many writes.
	EditAfterWrites *int   `json:"editAfterWrites,omitempty"`
	Edits           []Edit `json:"edits,omitempty"`

	from uint64 // writes when the faults were set
}

// Edit is one change that a colleague makes.
type Edit struct {
	Menu    string `json:"menu"`
	Command string `json:"command"`
	Args    Item   `json:"args"`
}

// After is a count for Faults.
func After(n int) *int { return &n }

// SetFaults replaces the faults; the zero value ends them all.
func (r *Router) SetFaults(f Faults) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.from = r.writes
	r.faults = f
}

// Faults are the present ones.
func (r *Router) Faults() Faults {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.faults
}

// reached tells whether so many writes were applied since the faults were set.
func (r *Router) reached(count *int) bool {
	return count != nil && *count >= 0 && r.writes-r.faults.from >= uint64(*count)
}

// handle passes a request of a protocol through the faults. Without an answer the connection breaks.
func (r *Router) handle(ctx context.Context, c call) (out reply, trap *Trap, answered bool) {
	if !r.delay(ctx) {
		return reply{}, nil, false
	}
	r.mu.Lock()
	if r.off || r.reached(r.faults.DropAfterWrites) {
		r.mu.Unlock()
		return reply{}, nil, false
	}
	if c.command == "reboot" {
		m := r.menus["system"]
		if trap := r.permit(m, c); trap != nil {
			r.mu.Unlock()
			return reply{}, trap, true
		}
		// Whether the answer still leaves the router differs from one reboot to the next.
		lost := (r.seed+r.boots)%2 == 1
		r.mu.Unlock()
		r.Reboot()
		return reply{}, nil, !lost
	}
	out, trap = r.run(c)
	if trap != nil || reads(c.command) {
		r.mu.Unlock()
		return out, trap, true
	}
	lost, reboots := r.reached(r.faults.LoseReplyAfterWrites), r.reached(r.faults.RebootAfterWrites)
	r.writes++
	r.lines = append(r.lines, c.who.actor()+" /"+c.menu+" "+c.command)
	if r.reached(r.faults.EditAfterWrites) {
		r.faults.EditAfterWrites = nil
		for _, e := range r.faults.Edits {
			_, _ = r.run(call{menu: e.Menu, command: e.Command, args: e.Args})
		}
	}
	if lost {
		r.faults.LoseReplyAfterWrites = nil
	}
	if reboots {
		r.faults.RebootAfterWrites = nil
	}
	r.mu.Unlock()
	if reboots {
		r.Reboot()
	}
	return out, nil, !lost && !reboots
}

// delay waits as the faults say; false when the connection ended before.
func (r *Router) delay(ctx context.Context) bool {
	f := r.Faults()
	if f.Hang {
		<-ctx.Done()
		return false
	}
	if f.LatencyMs <= 0 {
		return true
	}
	return loop.Sleep(ctx, time.Duration(f.LatencyMs)*time.Millisecond)
}

// actor names who wrote.
func (c *caller) actor() string {
	if c == nil {
		return "console"
	}
	return c.name
}
