package router

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Faults sets how a router misbehaves. Counts are numbers of writes applied over a protocol since the
// faults were set; nil means never.
type Faults struct {
	// LatencyMs delays every answer.
	LatencyMs int `json:"latencyMs"`
	// Refuse resets every connection, as a machine does on which nothing listens.
	Refuse bool `json:"refuse"`
	// Hang accepts requests and never answers; nothing is applied.
	Hang bool `json:"hang"`
	// Unauthorized refuses every login.
	Unauthorized bool `json:"unauthorized"`
	// RefuseIDs makes PATCH and DELETE by id fail with "missing or invalid resource identifier".
	RefuseIDs bool `json:"refuseIds"`
	// DenyWrites answers every write with "not enough permissions (9)".
	DenyWrites bool `json:"denyWrites"`
	// ControlBytes adds raw control bytes, and bytes that are not UTF-8, to comments that are not the platform's.
	ControlBytes bool `json:"controlBytes"`
	// DropAfterWrites breaks every connection at its next request after this many writes; no further request is
	// applied.
	DropAfterWrites *int `json:"dropAfterWrites,omitempty"`
	// LoseReplyAfterWrites applies the next write after this many, but breaks the connection instead of answering.
	LoseReplyAfterWrites *int `json:"loseReplyAfterWrites,omitempty"`
	// RebootAfterWrites applies the next write after this many, but restarts the router instead of answering.
	RebootAfterWrites *int `json:"rebootAfterWrites,omitempty"`
	// SlowBoot keeps a router that was told to reboot from coming up again: it becomes Refuse.
	SlowBoot bool `json:"slowBoot,omitempty"`
	// EditAfterWrites applies Edits once after this many writes, as another editor would.
	EditAfterWrites *int   `json:"editAfterWrites,omitempty"`
	Edits           []Edit `json:"edits,omitempty"`

	from uint64 // writes when the faults were set
}

// Edit is one console command of another editor of the router.
type Edit struct {
	Menu    string `json:"menu"`
	Command string `json:"command"`
	Args    Item   `json:"args"`
}

// After gives a count for a field of Faults, where nil means never.
func After(n int) *int { return &n }

// SetFaults replaces the faults; the zero value ends them all.
func (r *Router) SetFaults(f Faults) {
	r.lock()
	defer r.unlock()
	f.from = r.writes
	r.faults = f
	if f.Refuse {
		r.door.breakAll()
	}
}

// Faults gives the present faults.
func (r *Router) Faults() Faults {
	r.lock()
	defer r.unlock()
	return r.faults
}

// reached reports whether at least this many writes were applied since the faults were set; nil never is.
func (r *Router) reached(count *int) bool {
	return count != nil && *count >= 0 && r.writes-r.faults.from >= uint64(*count)
}

// handle passes a request of a protocol through the faults. The caller breaks the connection when answered is false.
func (r *Router) handle(ctx context.Context, c call) (out reply, trap *Trap, answered bool) {
	if !r.delay(ctx) {
		return reply{}, nil, false
	}
	r.lock()
	if r.off || r.reached(r.faults.DropAfterWrites) {
		r.unlock()
		return reply{}, nil, false
	}
	if service := r.byName("ip/service", c.service); service != nil &&
		r.filter("tcp", service.props["port"], "established") == unheard {
		r.unlock()
		<-ctx.Done()
		return reply{}, nil, false
	}
	if c.command == "reboot" {
		m := r.menus["system"]
		if trap := r.permit(m, c); trap != nil {
			r.unlock()
			return reply{}, trap, true
		}
		// Every other reboot loses its answer.
		lost := (r.seed+r.boots)%2 == 1
		r.faults.Refuse = r.faults.Refuse || r.faults.SlowBoot
		r.unlock()
		r.Reboot()
		return reply{}, nil, !lost
	}
	out, trap = r.run(c)
	if trap != nil || reads(c.command) {
		r.unlock()
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
	r.unlock()
	if reboots {
		r.Reboot()
	}
	return out, nil, !lost && !reboots
}

// delay waits as LatencyMs and Hang say; false when the connection ended first.
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

// actor gives the user's name for the log of writes; "console" for Do.
func (c *caller) actor() string {
	if c == nil {
		return "console"
	}
	return c.name
}
