// Package outagetelling has the customers of an outage told:
//
//	OutageBegan with an instant ──► timer "tell" ──► still there: TellOutage
//	OutageAnnounced ──► TellOutage
//	OutageExtended after that ──► TellOutage for the routers that came to it, or went away again in it
//	OutageEnded after that, or of one with which a told one has become one ──► TellOutage that it is over
//	OutageEnded before ──► nothing is told
//
// An outage that goes on as a part of another one is not over: its customers hear of the end of that one. Whoever was
// told of the beginning is not told again, which follows from the ids of the messages and from what they ask before
// they go.
package outagetelling

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// tell is the name of the timer.
const tell = "tell"

// State is an outage that lasts. The zero value is none.
type State struct {
	OrgID    id.Organization `json:"orgId"`
	OutageID id.Outage       `json:"outageId"`
	Position uint64          `json:"position"`
	Devices  []id.Device     `json:"devices,omitempty"` // that were down in it so far
	// Downs are their times. One of an older program has none, so it tells of each router once more, which nobody hears
	// twice.
	Downs events.RouterDowns `json:"downs,omitempty"`
	Told  bool               `json:"told,omitempty"`
	// Absorbed is true when another outage goes on as a part of this one, of which customers may have been told.
	Absorbed bool `json:"absorbed,omitempty"`
}

// Process has an instance for each outage that lasts.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "outage_messages",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.OutageBegan) string { return e.OutageID.String() }),
			processmanagers.On(func(e events.OutageAnnounced) string { return e.OutageID.String() }),
			processmanagers.On(func(e events.OutageExtended) string { return e.OutageID.String() }),
			processmanagers.Follow(func(e events.OutageNarrowed) string { return e.OutageID.String() }),
			processmanagers.Follow(func(e events.OutageEnded) string { return e.OutageID.String() }),
		},
		Decide: decide, Evolve: evolve, Ended: func(s State) bool { return s.OutageID.IsZero() },
	}
}

// evolve follows an outage from its beginning to its end. One that an older program did not follow, because it was not
// to be told, begins with what happens next.
func evolve(s State, in processmanagers.Input) State {
	if in.Timeout != nil {
		s.Told = !s.OutageID.IsZero()
		return s
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.OutageBegan:
		return State{
			OrgID: e.OrgID, OutageID: e.OutageID, Position: in.Event.Position, Devices: e.Devices,
			Downs: e.Downs, Absorbed: len(e.Absorbed) > 0,
		}
	case events.OutageAnnounced:
		s.OrgID, s.OutageID, s.Position, s.Told = e.OrgID, e.OutageID, in.Event.Position, true
	case events.OutageExtended:
		s.OrgID, s.OutageID, s.Position = e.OrgID, e.OutageID, in.Event.Position
		s.Devices, s.Downs = e.Devices, e.Downs
		s.Absorbed = s.Absorbed || len(e.Absorbed) > 0
	case events.OutageNarrowed:
		s.Downs = e.Downs
	case events.OutageEnded:
		return State{}
	}
	return s
}

// decide arms the timer, and asks for the jobs.
func decide(s State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	job := commands.TellOutage{OrgID: s.OrgID, OutageID: s.OutageID, Position: s.Position}
	switch {
	case in.Timeout != nil && !s.OutageID.IsZero() && !s.Told:
		return processmanagers.Output{Jobs: []commands.Job{job}}, nil
	case in.Event == nil:
		return processmanagers.Output{}, nil
	}
	job.Position = in.Event.Position
	switch e := in.Event.Event.(type) {
	case events.OutageBegan:
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: tell, At: e.TellAfter}}}, nil
	case events.OutageAnnounced:
		if !s.Told {
			job.OrgID, job.OutageID = e.OrgID, e.OutageID
			return processmanagers.Output{Jobs: []commands.Job{job}}, nil
		}
	case events.OutageExtended:
		job.Devices = slices.DeleteFunc(slices.Clone(e.Devices), func(d id.Device) bool { return s.has(d, e.Downs) })
		if s.Told && len(job.Devices) > 0 {
			return processmanagers.Output{Jobs: []commands.Job{job}}, nil
		}
	case events.OutageEnded:
		nobody := e.Parted && len(e.Back) == 0
		if (s.Told || s.Absorbed) && e.MergedInto.IsZero() && !nobody {
			job.Over, job.Devices = true, e.Back
			return processmanagers.Output{Jobs: []commands.Job{job}}, nil
		}
	}
	return processmanagers.Output{}, nil
}

// has reports whether an outage has had a router all the time, as the times tell that it has from now on: it is none
// that comes to it, and none that was back and goes away again, whose customers may not have been told before that.
func (s State) has(d id.Device, downs events.RouterDowns) bool {
	again := func(t events.RouterDown) bool {
		known := func(k events.RouterDown) bool { return k.To.IsZero() && k.From.Equal(t.From) }
		return t.To.IsZero() && !slices.ContainsFunc(s.Downs.Of(d), known)
	}
	return slices.Contains(s.Devices, d) && !slices.ContainsFunc(downs.Of(d), again)
}
