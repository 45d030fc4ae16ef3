package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// ImportEvent is an event of "import-<id>": a file of customers from another system.
//
//sumtype:decl
type ImportEvent interface {
	Event
	importEvent()
}

// ImportFault says what is wrong with a row. It has no value of the row: these are personal, or secret.
type ImportFault struct {
	Row     int    `json:"row"`             // the header is row 1
	Field   string `json:"field,omitempty"` // name of the column; "" = the whole row
	Message string `json:"message"`
}

// ImportAsked records that somebody had a file of customers taken in. Its rows are sealed in the vault until the import
// is finished. Rows with a fault that was found at once count as failed here, and are in no part.
type ImportAsked struct {
	ImportID id.Import       `json:"importId"`
	OrgID    id.Organization `json:"orgId"`
	Source   string          `json:"source,omitempty"` // which system wrote it, or "router"; "" = our own columns
	Rows     int             `json:"rows"`             // without the header and empty ones
	Parts    int             `json:"parts"`
	Failed   int             `json:"failed"`
	Faults   []ImportFault   `json:"faults,omitempty"` // of them, as many as are kept
	At       time.Time       `json:"at"`
}

// ImportPartDone records that the rows of a part are taken in.
type ImportPartDone struct {
	ImportID id.Import       `json:"importId"`
	OrgID    id.Organization `json:"orgId"`
	Part     int             `json:"part"` // from 0
	Created  int             `json:"created"`
	Skipped  int             `json:"skipped"` // the customer was here already
	Failed   int             `json:"failed"`
	Faults   []ImportFault   `json:"faults,omitempty"`
	At       time.Time       `json:"at"`
}

// ImportFinished records that all rows of an import are taken in.
type ImportFinished struct {
	ImportID id.Import       `json:"importId"`
	OrgID    id.Organization `json:"orgId"`
	At       time.Time       `json:"at"`
}

func (ImportAsked) EventType() string    { return "subscribers.ImportAsked.v1" }
func (ImportPartDone) EventType() string { return "subscribers.ImportPartDone.v1" }
func (ImportFinished) EventType() string { return "subscribers.ImportFinished.v1" }
func (ImportAsked) importEvent()         {}
func (ImportPartDone) importEvent()      {}
func (ImportFinished) importEvent()      {}
