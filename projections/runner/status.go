package runner

import (
	"context"
)

// State says how a projection is doing; shown on /readyz and by the command line.
type State string

// The states; only live and following projections show what was just written.
const (
	StateBehind    State = "behind"    // catching up with the log
	StateLive      State = "live"      // has reached the end of the log
	StateStopped   State = "stopped"   // has met an event that it cannot apply; see Error
	StateFollowing State = "following" // another program fills it
)

// Status is one projection's state at an instant.
type Status struct {
	Name       string
	Version    int // of the tables that are read
	Generation int // number of the set of tables; each rebuild raises it
	State      State
	Position   uint64 // every event up to here is shown
	Head       uint64 // newest position of the log known here
	Error      string // why it stopped; empty unless State is stopped
	// Rebuild is the progress of new tables beside the present ones; nil when none are being built.
	Rebuild *Progress
}

// Lag is the distance from Position to Head in positions, which is not a number of events.
func (s Status) Lag() uint64 { return s.Head - min(s.Head, s.Position) }

// Progress describes new tables that are being filled. Error is empty unless an event stopped the build.
type Progress struct {
	Generation int
	Version    int
	Position   uint64
	Head       uint64
	Error      string
}

// Status returns the state of every registered projection, in the order of registration. It asks no database.
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

// List reads the states from the database, for a program that does not run the projections. A projection is live when
// no event that it handles follows its position. Call Prepare before it.
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
			// The stored position may be old: when no event that the projection handles follows it, all is shown.
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
