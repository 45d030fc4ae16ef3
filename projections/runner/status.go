package runner

import (
	"context"

	"github.com/lastmile-isp/lastmile/eventstore/feed"
)

// State says how a projection is doing; shown on /readyz and by the command line.
type State string

// The states; only live and following projections show what was just written.
const (
	StateBehind    State = "behind"    // catching up with the log
	StateLive      State = "live"      // has reached the end of the log
	StateStopped   State = "stopped"   // has met an event that it cannot apply; see Error
	StateFollowing State = "following" // another program fills it
	StateBuilding  State = "building"  // there are no tables of this version yet; see Rebuild
	StateOutdated  State = "outdated"  // a newer version has replaced the tables
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
	CaughtUp   bool   // has shown the whole log once since this program began
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
			CaughtUp: s.caughtUp,
		}
		if s.rebuild != nil {
			b := *s.rebuild
			st.Rebuild = &b
		}
		if st.State == StateBuilding && st.Rebuild != nil {
			st.Error = st.Rebuild.Error
		}
		if (st.State == StateFollowing || st.State == StateBuilding) && st.Error != "" {
			st.State = StateStopped
		}
		all = append(all, st)
	}
	return all
}

// List reads the states from the database, for a program that does not run the projections. A projection is live when
// no event that it handles follows its position. Call Prepare before it.
func (r *Runner) List(ctx context.Context) ([]Status, error) {
	all, err := r.generations(ctx, r.cfg.DB.Owner, "")
	if err != nil {
		return nil, err
	}
	head := r.cfg.Feed.Head()
	list := make([]Status, len(r.entries))
	for i, e := range r.entries {
		if list[i], err = r.listOne(ctx, e, setsOf(e, all), head); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// listOne gives the state of a projection from its tables.
func (r *Runner) listOne(ctx context.Context, e *entry, of sets, head uint64) (Status, error) {
	s := Status{Name: e.name, State: StateBuilding, Head: head}
	if b := of.building; b != nil {
		s.Rebuild = &Progress{
			Generation: b.Generation, Version: b.Version, Position: b.Position, Head: head, Error: b.Error,
		}
		s.Error = b.Error
	}
	if of.outdated {
		s.State, s.Version, s.Generation = StateOutdated, of.active.Version, of.active.Generation
	}
	if g := of.own; g != nil {
		s.Version, s.Generation, s.Position, s.Error = g.Version, g.Generation, g.Position, g.Error
		// The stored position may be old: when no event that the projection handles follows it, all is shown.
		var page feed.Page
		err := r.cfg.Feed.Covers(ctx, g.Position, g.Mark)
		if err == nil {
			page, err = r.cfg.Feed.Read(ctx, g.Position, e.want, 1)
		}
		switch {
		case IsOtherLog(err):
			s.Error = g.advise(err).Error()
		case err != nil:
			return Status{}, err
		}
		s.State = StateBehind
		if s.Error == "" && len(page.Events) == 0 {
			s.State, s.Position, s.CaughtUp = StateLive, max(page.UpTo, head), true
		}
	}
	if s.Error != "" {
		s.State = StateStopped
	}
	return s, nil
}
