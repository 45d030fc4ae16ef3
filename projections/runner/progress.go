package runner

import (
	"context"
	"sync"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// progress is the state of a projection that readers see: the schema to read and the position it shows. Safe for
// concurrent use.
type progress struct {
	mu      sync.Mutex
	shown   shown
	changed chan struct{} // closed at the next change; nil when no reader waits
}

// shown is one consistent copy of a projection's state.
type shown struct {
	schema     string
	version    int
	generation int
	position   uint64
	mark       eventstore.Mark // the newest event up to position that is known, or up to rows
	rows       uint64          // position of the last written rows that this program has seen
	state      State
	fault      string
	caughtUp   bool // has once shown the whole log
	astray     bool // the tables show events that the log has lost, so the position says nothing
	rebuild    *Progress
}

// shows reports whether everything up to a position is shown.
func (s shown) shows(position uint64) bool { return s.position >= position && !s.astray }

// look returns the present state.
func (p *progress) look() shown {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown
}

// watch returns the present state and a channel that is closed when the state changes.
func (p *progress) watch() (shown, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.shown, p.changed
}

// update changes the state and wakes all readers that wait.
func (p *progress) update(change func(*shown)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.shown)
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// advance publishes a set of tables that this program fills, and clears an earlier fault.
func (p *progress) advance(g *generation, state State) {
	p.update(func(s *shown) {
		s.schema, s.version, s.generation, s.position, s.rows = g.Schema, g.Version, g.Generation, g.Position, g.saved
		s.state, s.fault, s.caughtUp, s.astray = state, "", s.caughtUp || state == StateLive, g.LogEnd != nil
		s.mark = g.Mark
	})
}

// leave publishes that this program fills the tables no more, so that it does not know of each write any more.
func (p *progress) leave() {
	p.update(func(s *shown) {
		if s.state == StateLive {
			s.state = StateBehind
		}
	})
}

// none publishes that there are no tables of this program's version: they are being built, or a newer version has
// replaced them.
func (p *progress) none(of sets) {
	state, fault := StateBuilding, ""
	if of.outdated {
		state = StateOutdated
	}
	if of.building != nil {
		fault = of.building.Error
	}
	now := p.look()
	if now.schema == "" && now.state == state && now.fault == fault {
		return
	}
	p.update(func(s *shown) {
		s.schema, s.version, s.generation, s.position, s.rows = "", 0, 0, 0, 0
		s.state, s.fault, s.caughtUp, s.astray = state, fault, false, false
	})
}

// follow publishes a set of tables that another program fills. While the set is the same, the position never decreases.
func (p *progress) follow(g *generation, position, head uint64) {
	now := p.look()
	if now.generation == g.Generation && now.position >= position && now.state == StateFollowing &&
		now.fault == g.Error && (now.caughtUp || now.astray) {
		return
	}
	p.update(func(s *shown) {
		if s.generation == g.Generation {
			position = max(position, s.position)
		}
		s.schema, s.version, s.generation, s.position, s.rows = g.Schema, g.Version, g.Generation, position, g.Position
		s.astray, s.mark = g.LogEnd != nil, g.Mark
		s.state, s.fault, s.caughtUp = StateFollowing, g.Error, s.caughtUp || position >= head && !s.astray
	})
}

// stop publishes the error that has stopped the projection; position and schema stay. astray is set when the log has
// lost events that the tables show.
func (p *progress) stop(err error, astray bool) {
	p.update(func(s *shown) { s.state, s.fault, s.astray = StateStopped, err.Error(), astray })
}

// building publishes the progress of new tables; nil when none are being built any more.
func (p *progress) building(b *Progress) { p.update(func(s *shown) { s.rebuild = b }) }

// written waits until rows were written or tables replaced after a look. It returns false when ctx ended before.
func (p *progress) written(ctx context.Context, since shown) bool {
	for {
		s, changed := p.watch()
		if s.rows != since.rows || s.generation != since.generation {
			return true
		}
		if !loop.Wait(ctx, changed) {
			return false
		}
	}
}

// wait returns nil when the position is reached, and ErrBehind at once when the projection has stopped before it or has
// no tables.
func (p *progress) wait(ctx context.Context, position uint64) error {
	for {
		s, changed := p.watch()
		if s.shows(position) {
			return nil
		}
		if s.fault != "" || s.astray || s.state == StateBuilding || s.state == StateOutdated {
			return ErrBehind
		}
		if !loop.Wait(ctx, changed) {
			return ctx.Err()
		}
	}
}
