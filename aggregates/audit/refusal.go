// Package audit decides about records that serve the audit log alone.
package audit

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Refusals is the definition of remembered refusals.
func Refusals() aggregates.Definition[Refusal, commands.RefusalCommand, events.RefusalEvent] {
	return aggregates.Definition[Refusal, commands.RefusalCommand, events.RefusalEvent]{
		Category: commands.RefusalCategory, Missing: commands.ErrNotFound, Evolve: evolveRefusal, Decide: decideRefusal,
		Owner:    ownerRefusal,
		Commands: []commands.RefusalCommand{commands.NoteRefusal{}},
	}
}

// Refusal is one write that did not happen. The zero value is "does not exist".
type Refusal struct {
	ID    id.Request
	OrgID id.Organization
}

// evolveRefusal applies one recorded fact.
func evolveRefusal(s Refusal, e events.RefusalEvent) Refusal {
	switch e := e.(type) {
	case events.RequestRefused:
		return Refusal{ID: e.RefusalID, OrgID: e.OrgID}
	}
	return s
}

// ownerRefusal is the organization in which it was asked for.
func ownerRefusal(s Refusal) id.Organization { return s.OrgID }

// decideRefusal notes a refusal once.
func decideRefusal(s Refusal, c commands.RefusalCommand, now time.Time) ([]events.RefusalEvent, error) {
	switch c := c.(type) {
	case commands.NoteRefusal:
		if !s.ID.IsZero() {
			return nil, nil
		}
		return []events.RefusalEvent{
			events.RequestRefused{RefusalID: c.RefusalID, OrgID: c.OrgID, Method: c.Method, Route: c.Route,
				TargetID: c.TargetID, Status: c.Status, Code: c.Code, At: now},
		}, nil
	}
	return nil, nil
}
