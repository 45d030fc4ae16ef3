package audit

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Refusal is one request to write that was refused.
type Refusal = Record[id.Request]

// Refusals defines the records of refused writes.
func Refusals() aggregates.Definition[Refusal, commands.RefusalCommand, events.RefusalEvent] {
	return records[id.Request, commands.RefusalCommand](commands.RefusalCategory, evolveRefusal, writeRefusal,
		commands.NoteRefusal{})
}

// evolveRefusal takes a refusal that was recorded.
func evolveRefusal(s Refusal, e events.RefusalEvent) Refusal {
	switch e := e.(type) {
	case events.RequestRefused:
		return Refusal{ID: e.RefusalID, OrgID: e.OrgID}
	}
	return s
}

// writeRefusal records a refusal.
func writeRefusal(c commands.RefusalCommand, now time.Time) []events.RefusalEvent {
	switch c := c.(type) {
	case commands.NoteRefusal:
		return []events.RefusalEvent{
			events.RequestRefused{RefusalID: c.RefusalID, OrgID: c.OrgID, Method: c.Method, Route: c.Route,
				TargetID: c.TargetID, Status: c.Status, Code: c.Code, Count: c.Count, At: now},
		}
	}
	return nil
}
