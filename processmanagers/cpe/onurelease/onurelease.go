// Package onurelease takes the ONU from a CPE that its organization gives up, or that gets another ONU.
//
//	asked ──► remembered; the ONU before it ──► RemoveCpeOnu
//	released ──► RemoveCpeOnu
//
// Source: docs/rules/cpe.md#optical-ends.
package onurelease

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State is a CPE of an organization with an ONU. The zero value has none.
type State struct {
	OnuID id.CPEOnu `json:"onuId,omitzero"`
}

// key names an instance: one organization cannot make another one's ONU be forgotten.
func key(cpe id.CPE, org id.Organization) string { return cpe.String() + " " + org.String() }

// Process has an instance for each CPE of an organization with an ONU.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "cpe_onu_release",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.CpeOnuAsked) string { return key(e.CpeID, e.OrgID) }),
			processmanagers.Follow(func(e events.CpeReleased) string { return key(e.CpeID, e.OrgID) }),
		},
		Decide: decide, Evolve: evolve, Ended: func(s State) bool { return s.OnuID.IsZero() },
	}
}

// evolve remembers the latest ONU.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	if asked, is := in.Event.Event.(events.CpeOnuAsked); is {
		return State{OnuID: asked.OnuID}
	}
	return State{} // it was released
}

// decide takes away the ONU that the CPE has no longer.
func decide(s State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Event == nil || s.OnuID.IsZero() {
		return processmanagers.Output{}, nil
	}
	var of id.CPE
	switch e := in.Event.Event.(type) {
	case events.CpeOnuAsked:
		if e.OnuID == s.OnuID {
			return processmanagers.Output{}, nil
		}
		of = e.CpeID
	case events.CpeReleased:
		of = e.CpeID
	}
	return processmanagers.Output{
		Commands: []commands.Command{commands.RemoveCpeOnu{OnuID: s.OnuID, CpeID: of}},
	}, nil
}
