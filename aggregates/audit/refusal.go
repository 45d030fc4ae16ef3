// Package audit has the rules of records that only the audit log uses.
package audit

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Refusals defines the records of refused writes. The audit log shows them; no rule depends on them.
func Refusals() aggregates.Definition[Refusal, commands.RefusalCommand, events.RefusalEvent] {
	return aggregates.Definition[Refusal, commands.RefusalCommand, events.RefusalEvent]{
		Category: commands.RefusalCategory, Missing: commands.ErrNotFound, Evolve: evolveRefusal, Decide: decideRefusal,
		Owner:    ownerRefusal,
		Commands: []commands.RefusalCommand{commands.NoteRefusal{}},
	}
}

// Refusal is one request to write that was refused. The zero value is "does not exist".
type Refusal struct {
	ID    id.Request
	OrgID id.Organization
}

// evolveRefusal copies only what a decision needs; route, status and code stay in the event.
func evolveRefusal(s Refusal, e events.RefusalEvent) Refusal {
	switch e := e.(type) {
	case events.RequestRefused:
		return Refusal{ID: e.RefusalID, OrgID: e.OrgID}
	}
	return s
}

// ownerRefusal is the organization of the host that the request was sent to; zero on the root host.
func ownerRefusal(s Refusal) id.Organization { return s.OrgID }

// decideRefusal records a refusal once; a repeated command gives no event.
func decideRefusal(s Refusal, c commands.RefusalCommand, now time.Time) ([]events.RefusalEvent, error) {
	switch c := c.(type) {
	case commands.NoteRefusal:
		if !s.ID.IsZero() {
			return nil, nil
		}
		return []events.RefusalEvent{
			events.RequestRefused{RefusalID: c.RefusalID, OrgID: c.OrgID, Method: c.Method, Route: c.Route,
				TargetID: c.TargetID, Status: c.Status, Code: c.Code, Count: c.Count, At: now},
		}, nil
	}
	return nil, nil
}
