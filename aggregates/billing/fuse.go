package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Fuses defines the fuses: one stream for each organization and kind.
func Fuses() aggregates.Definition[Fuse, commands.FuseCommand, events.FuseEvent] {
	return aggregates.Definition[Fuse, commands.FuseCommand, events.FuseEvent]{
		Category: commands.FuseCategory, Missing: commands.ErrNoFuse, Evolve: evolveFuse, Decide: decideFuse,
		Owner:    func(s Fuse) id.Organization { return s.Org },
		Commands: []commands.FuseCommand{commands.HoldFuse{}, commands.ReleaseFuse{}},
	}
}

// Fuse is the state of one fuse. The zero value was never blown.
type Fuse struct {
	ID       id.Fuse
	Org      id.Organization
	Kind     string
	Held     bool
	Released calendar.Date // on which everything goes on; zero = never
}

// evolveFuse applies one recorded event.
func evolveFuse(s Fuse, e events.FuseEvent) Fuse {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.FuseHeld:
		return Fuse{ID: e.FuseID, Org: e.OrgID, Kind: e.Kind, Held: true, Released: s.Released}
	case events.FuseReleased:
		s.Held, s.Released = false, e.Date
	}
	return s
}

// decideFuse holds once, and releases what is held. A day that was released is not held again.
func decideFuse(s Fuse, c commands.FuseCommand, now time.Time) ([]events.FuseEvent, error) {
	switch c := c.(type) {
	case commands.HoldFuse:
		if s.Held || s.Released == c.Date {
			return nil, nil
		}
		return []events.FuseEvent{events.FuseHeld{
			FuseID: c.FuseID, OrgID: c.OrgID, Kind: c.Kind, Date: c.Date, Count: c.Count, Usual: c.Usual, At: now,
		}}, nil
	case commands.ReleaseFuse:
		switch {
		case s.ID.IsZero():
			return nil, commands.ErrNoFuse()
		case !s.Held && s.Released == c.Date:
			return nil, nil
		case !s.Held:
			return nil, failure.NewConflict("fuse_not_held", "Nothing is held. Nothing has to be released.")
		}
		return []events.FuseEvent{events.FuseReleased{
			FuseID: s.ID, OrgID: s.Org, Kind: s.Kind, Date: c.Date, Reason: c.Reason, At: now,
		}}, nil
	}
	return nil, nil
}

// FuseLimit is how many of a kind may happen on a day when a number is usual, as with billing runs.
func FuseLimit(usual int) int { return max(fuseTimes*usual, fuseLeast) }
