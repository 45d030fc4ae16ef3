// Package onurelease takes the ONUs from a CPE that its organization gives up, and from one that has got another ONU.
//
//	asked ──► remembered
//	registered ──► those that were asked for before it ──► RemoveCpeOnu
//	released ──► all ──► RemoveCpeOnu
//
// An ONU that was asked for with a claim takes no other one away: the claim may be refused, and the CPE have the ONU of
// the claim that was faster.
//
// Source: docs/rules/cpe.md#optical-ends.
package onurelease

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State is a CPE of an organization with its ONUs. The zero value has none.
type State struct {
	// OnuID is the only one that an earlier program remembered.
	OnuID id.CPEOnu `json:"onuId,omitzero"`
	Onus  []Onu     `json:"onus,omitempty"` // as they were asked for last
}

// Onu is one that the terminal has, or may get.
type Onu struct {
	ID    id.CPEOnu `json:"id"`
	First bool      `json:"first,omitempty"` // it was asked for with a claim
}

// all lists the ONUs, the one of an earlier program first.
func (s State) all() []Onu {
	if s.OnuID.IsZero() {
		return s.Onus
	}
	return append([]Onu{{ID: s.OnuID}}, s.Onus...)
}

// place finds an ONU in a list; -1 = it is not there.
func place(list []Onu, onu id.CPEOnu) int {
	return slices.IndexFunc(list, func(o Onu) bool { return o.ID == onu })
}

// key names an instance: one organization cannot make another one's ONU be forgotten.
func key(cpe id.CPE, org id.Organization) string { return cpe.String() + " " + org.String() }

// Process has an instance for each CPE of an organization with an ONU.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "cpe_onu_release",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.CpeOnuAsked) string { return key(e.CpeID, e.OrgID) }),
			processmanagers.Follow(func(e events.CpeOnuStepDone) string { return key(e.CpeID, e.OrgID) }),
			processmanagers.Follow(func(e events.CpeReleased) string { return key(e.CpeID, e.OrgID) }),
		},
		Decide: decide, Evolve: evolve, Ended: func(s State) bool { return len(s.all()) == 0 },
	}
}

// evolve remembers the ONUs that stay.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.CpeOnuAsked:
		list := slices.DeleteFunc(slices.Clone(s.all()), func(o Onu) bool { return o.ID == e.OnuID })
		return State{Onus: append(list, Onu{ID: e.OnuID, First: e.First})}
	case events.CpeOnuStepDone:
		return State{Onus: s.all()[len(s.replaced(e)):]}
	}
	return State{} // it was released
}

// replaced lists the ONUs in whose place another one is registered.
func (s State) replaced(e events.CpeOnuStepDone) []Onu {
	list := s.all()
	at := place(list, e.OnuID)
	if e.Step != events.CpeOnuRegister || at < 0 || list[at].First {
		return nil
	}
	return list[:at]
}

// decide takes away the ONUs that the CPE has no longer.
func decide(s State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	var of id.CPE
	var gone []Onu
	switch e := in.Event.Event.(type) {
	case events.CpeOnuStepDone:
		of, gone = e.CpeID, s.replaced(e)
	case events.CpeReleased:
		of, gone = e.CpeID, s.all()
	}
	var out processmanagers.Output
	for _, onu := range gone {
		out.Commands = append(out.Commands, commands.RemoveCpeOnu{OnuID: onu.ID, CpeID: of})
	}
	return out, nil
}
