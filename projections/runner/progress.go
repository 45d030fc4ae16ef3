package runner

import (
	"context"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// progress is what readers see of a projection: the tables to read and how far they are. Safe for concurrent use.
type progress struct {
	mu      sync.Mutex
	shown   shown
	changed chan struct{} // closed at the next change; nil when nobody waits
}

// shown is one consistent look at a projection.
type shown struct {
	schema     string
	version    int
	generation int
	position   uint64
	rows       uint64 // position at which rows were last written, as far as is known
	state      State
	fault      string
	rebuild    *Progress
}

// look gives the present state.
func (p *progress) look() shown {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown
}

// watch gives the present state and what is closed when it changes.
func (p *progress) watch() (shown, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.shown, p.changed
}

// update changes the state and wakes who waits.
func (p *progress) update(change func(*shown)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.shown)
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// advance shows a set of tables that this program fills.
func (p *progress) advance(g *generation, state State) {
	p.update(func(s *shown) {
		s.schema, s.version, s.generation, s.position, s.rows = g.Schema, g.Version, g.Generation, g.Position, g.saved
		s.state, s.fault = state, ""
	})
}

// follow shows a set of tables that another program fills. Within a set, the position never goes back.
func (p *progress) follow(g *generation, position uint64) {
	now := p.look()
	if now.generation == g.Generation && now.position >= position && now.state == StateFollowing &&
		now.fault == g.Error {
		return
	}
	p.update(func(s *shown) {
		if s.generation == g.Generation {
			position = max(position, s.position)
		}
		s.schema, s.version, s.generation, s.position, s.rows = g.Schema, g.Version, g.Generation, position, g.Position
		s.state, s.fault = StateFollowing, g.Error
	})
}

// stop shows that an event could not be applied.
func (p *progress) stop(err error) {
	p.update(func(s *shown) { s.state, s.fault = StateStopped, err.Error() })
}

// building shows the progress of new tables; nil when there are none any more.
func (p *progress) building(b *Progress) { p.update(func(s *shown) { s.rebuild = b }) }

// written returns when rows were written, or the tables replaced, since a look; false when ctx ended before.
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

// wait returns when the position is reached, or at once with ErrBehind when the projection has stopped before it.
func (p *progress) wait(ctx context.Context, position uint64) error {
	for {
		s, changed := p.watch()
		if s.position >= position {
			return nil
		}
		if s.fault != "" {
			return ErrBehind
		}
		if !loop.Wait(ctx, changed) {
			return ctx.Err()
		}
	}
}
