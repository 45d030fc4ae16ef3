// Package jobs is the vocabulary of outside calls: what a worker is told besides its arguments.
package jobs

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Cause is why a job exists: what its outcome command and every outside write carry on. It is stored with the job, so
// it holds ids only; the caller's address, which is personal, is found in the event that CausationID names.
type Cause struct {
	OrgID         id.Organization `json:"orgId"`
	Actor         events.Actor    `json:"actor"` // who acted first, not the process in between
	CorrelationID string          `json:"correlationId,omitempty"`
	CausationID   string          `json:"causationId,omitempty"` // event id, "" for periodic work
	// JobID is the same in every attempt: ids of outcome commands are derived from it.
	JobID id.Any `json:"-"`
	// Attempt counts from 1.
	Attempt int `json:"-"`
	// Last tells that no attempt follows this one.
	Last bool `json:"-"`
}

// CommandID is the id of an outcome command of the job, named by its use: the same in every attempt, so that it acts
// once.
func (c Cause) CommandID(name string) id.Command {
	return id.Derive[id.Command]("job-outcome", c.JobID.String(), name)
}
