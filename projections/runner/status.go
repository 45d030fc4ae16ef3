package runner

import (
	"context"
)

// State is how a projection is doing.
type State string

// The states.
const (
	StateBehind    State = "behind"    // catching up with the log
	StateLive      State = "live"      // shows what was just written
	StateStopped   State = "stopped"   // met an event that it cannot apply; see Error
	StateFollowing State = "following" // another program fills it
)

// Status is one projection's progress.
type Status struct {
	Name       string
	Version    int // of the tables being read
	Generation int // counts rebuilds
	State      State
	Position   uint64 // everything up to here is shown
	Head       uint64 // newest position known
	Error      string // of the event that stopped it
	// Rebuild is the progress of new tables beside the present ones, nil when there are none.
	Rebuild *Progress
}

// Lag is how far behind the newest event the projection is, in positions.
func (s Status) Lag() uint64 { return s.Head - min(s.Head, s.Position) }

// Progress is how far new tables have got.
type Progress struct {
	Generation int
	Version    int
	Position   uint64
	Head       uint64
	Error      string
}

// Status tells about every registered projection, in the order of registration.
func (r *Runner) Status() []Status {
	head := r.cfg.Feed.Head()
	all := make([]Status, 0, len(r.entries))
	for _, e := range r.entries {
		s := e.progress.look()
		st := Status{
			Name: e.name, Version: s.version, Generation: s.generation, State: s.state,
			Position: s.position, Head: max(head, s.position), Error: s.fault,
		}
		if s.rebuild != nil {
			b := *s.rebuild
			st.Rebuild = &b
		}
		if st.State == StateFollowing && st.Error != "" {
			st.State = StateStopped
		}
		all = append(all, st)
	}
	return all
}

// List is Status as stored, for a program that does not run the projections: live when nothing is left to show. Prepare
// comes before it.
func (r *Runner) List(ctx context.Context) ([]Status, error) {
	all, err := r.generations(ctx, r.cfg.DB.Owner)
	if err != nil {
		return nil, err
	}
	head := r.cfg.Feed.Head()
	byName := map[string]*Status{}
	list := make([]Status, len(r.entries))
	for i, e := range r.entries {
		list[i] = Status{Name: e.name, State: StateFollowing, Head: head}
		byName[e.name] = &list[i]
	}
	for _, g := range all {
		s := byName[g.Name]
		switch {
		case s == nil: // of a projection that no longer exists
		case g.State == genBuilding:
			s.Rebuild = &Progress{
				Generation: g.Generation, Version: g.Version, Position: g.Position, Head: head, Error: g.Error,
			}
		default:
			s.Version, s.Generation, s.Position, s.Error = g.Version, g.Generation, g.Position, g.Error
			// The stored position is saved lazily: if nothing that the projection wants follows it, all is shown.
			page, err := r.cfg.Feed.Read(ctx, g.Position, r.byName[g.Name].want, 1)
			if err != nil {
				return nil, err
			}
			s.State = StateBehind
			if len(page.Events) == 0 {
				s.State, s.Position = StateLive, max(page.UpTo, head)
			}
			if g.Error != "" {
				s.State = StateStopped
			}
		}
	}
	return list, nil
}
