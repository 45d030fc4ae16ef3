package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// ExportEvent is an event of "export-<id>": a copy of all that an organization has.
//
//sumtype:decl
type ExportEvent interface {
	Event
	exportEvent()
}

// ExportAsked records that an admin wants a copy of all that the organization has.
type ExportAsked struct {
	ExportID id.Export       `json:"exportId"`
	OrgID    id.Organization `json:"orgId"`
	At       time.Time       `json:"at"`
}

// ExportFinished records that the copy can be fetched. It is sealed in the vault until EndsAt.
type ExportFinished struct {
	ExportID id.Export       `json:"exportId"`
	OrgID    id.Organization `json:"orgId"`
	Parts    int             `json:"parts"`
	Bytes    int64           `json:"bytes"`
	EndsAt   time.Time       `json:"endsAt"`
	At       time.Time       `json:"at"`
}

// ExportFailed records that the copy could not be made, however often it was tried.
type ExportFailed struct {
	ExportID id.Export       `json:"exportId"`
	OrgID    id.Organization `json:"orgId"`
	Code     string          `json:"code,omitempty"` // of the last failure
	At       time.Time       `json:"at"`
}

// ExportFetched records that somebody is about to be given the copy.
type ExportFetched struct {
	ExportID id.Export       `json:"exportId"`
	OrgID    id.Organization `json:"orgId"`
	At       time.Time       `json:"at"`
}

func (ExportAsked) EventType() string    { return "subscribers.ExportAsked.v1" }
func (ExportFinished) EventType() string { return "subscribers.ExportFinished.v1" }
func (ExportFetched) EventType() string  { return "subscribers.ExportFetched.v1" }
func (ExportFailed) EventType() string   { return "subscribers.ExportFailed.v1" }
func (ExportAsked) exportEvent()         {}
func (ExportFailed) exportEvent()        {}
func (ExportFinished) exportEvent()      {}
func (ExportFetched) exportEvent()       {}
