package jobs

import (
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Cause says why a job exists. The outcome command and every outside write carry it on. It is stored with the job, so
// it holds ids only; the caller's address, which is personal, is found in the event that CausationID names.
type Cause struct {
	OrgID         id.Organization `json:"orgId"`
	Actor         events.Actor    `json:"actor"` // who acted first, not the process in between; none for periodic work
	CorrelationID string          `json:"correlationId,omitempty"`
	CausationID   string          `json:"causationId,omitempty"` // event id, "" for periodic work
	// JobID is the same in every attempt.
	JobID id.Any `json:"-"`
	// Attempt counts from 1.
	Attempt int `json:"-"`
	// Last is set when no attempt follows. A worker reports an error of the last attempt as an outcome, or it is lost.
	Last bool `json:"-"`
}

// Meta makes the metadata of an outcome command. name distinguishes the outcomes of one job; it is usually the name of
// the command. The command id follows from name and JobID: it is the same in every attempt, so the outcome acts once.
// Without an actor the jobs themselves act: of periodic work, and of an event that was recorded without one.
func (c Cause) Meta(name string) commands.Meta {
	meta := commands.Meta{
		CommandID: id.Derive[id.Command]("job-outcome", c.JobID.String(), name), OrgID: c.OrgID, Actor: c.Actor,
		CorrelationID: c.CorrelationID, CausationID: c.CausationID,
	}
	if meta.Actor.Kind == "" {
		meta.Actor = events.Actor{Kind: events.ActorProcess, ID: "jobs"}
	}
	return meta
}
