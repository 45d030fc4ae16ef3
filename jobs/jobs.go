package jobs

import (
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Cause is why a job exists: what its outcome command and every outside write carry on. It is stored with the job, so
// it holds ids only. The caller's address, which is personal, is found in the event that CausationID names.
type Cause struct {
	OrgID         id.Organization `json:"orgId"`
	Actor         events.Actor    `json:"actor"` // who acted first, not the process in between
	CorrelationID string          `json:"correlationId,omitempty"`
	CausationID   string          `json:"causationId,omitempty"` // event id, "" for periodic work
	// JobID is the same in every attempt.
	JobID id.Any `json:"-"`
	// Attempt counts from 1.
	Attempt int `json:"-"`
	// Last is set when no attempt follows this one: then an error must become an outcome, or it stays unknown.
	Last bool `json:"-"`
}

// Meta is what an outcome command of the job carries. name tells the outcomes of one job apart; it is usually the name
// of the command. The command id follows from it and from JobID: it is the same in every attempt, so the outcome acts
// once.
func (c Cause) Meta(name string) commands.Meta {
	return commands.Meta{
		CommandID: id.Derive[id.Command]("job-outcome", c.JobID.String(), name), OrgID: c.OrgID, Actor: c.Actor,
		CorrelationID: c.CorrelationID, CausationID: c.CausationID,
	}
}
