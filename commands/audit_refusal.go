package commands

import (
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// RefusalCategory begins the names of the streams of refused writes.
const RefusalCategory = "refusal"

// RefusalCommand is a command to "refusal-<request id>".
//
//sumtype:decl
type RefusalCommand interface {
	Command
	refusalCommand()
}

// NoteRefusal records a write that was denied, refused or failed, so that the audit log shows it.
type NoteRefusal struct {
	RefusalID id.Request
	OrgID     id.Organization // zero on the root host
	Method    string
	Route     string // pattern, such as "/plans/:id"
	TargetID  id.Any // id in the path, zero without one
	Status    int
	Code      string
	Count     int // number of refusals that it stands for
}

func (NoteRefusal) CommandName() string { return "audit.NoteRefusal" }
func (NoteRefusal) refusalCommand()     {}

// Target is a stream with this one refusal, under the id of the request.
func (c NoteRefusal) Target() Target { return At(RefusalCategory, c.RefusalID) }

// Validate requires method and route, a status of 400 to 599, and a count.
func (c NoteRefusal) Validate() error {
	var f failure.Faults
	f.Check(c.Method != "", "method", "is required")
	f.Check(c.Route != "", "route", "is required")
	f.Check(c.Status >= 400 && c.Status <= 599, "status", "must be of a failure")
	f.Check(c.Count >= 1, "count", "must be at least 1")
	return f.Err()
}
