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
	Row     int    `json:"row"`              // the header is row 1
	Field   string `json:"field,omitempty"`  // our name of the column; "" = the whole row
	Column  string `json:"column,omitempty"` // what the file calls it; "" = not known
	Message string `json:"message"`
}

// ImportAsked records that somebody had a file of customers taken in. Its rows are sealed in the vault until the import
// is finished. Rows whose customer was here at that moment, and those with a fault that was found at once, count as
// skipped and failed here, and are in no part.
type ImportAsked struct {
	ImportID id.Import       `json:"importId"`
	OrgID    id.Organization `json:"orgId"`
	Source   string          `json:"source,omitempty"` // which system wrote it, or "router"; "" = our own columns
	Rows     int             `json:"rows"`             // without the header and empty ones
	Parts    int             `json:"parts"`
	Skipped  int             `json:"skipped,omitempty"`
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

// ImportRowsLost records that an import ends before its last row, since its rows are no longer kept. What was taken in
// stays, and can be taken back.
type ImportRowsLost struct {
	ImportID id.Import       `json:"importId"`
	OrgID    id.Organization `json:"orgId"`
	Failed   int             `json:"failed"` // rows that were not taken in
	Fault    ImportFault     `json:"fault"`
	At       time.Time       `json:"at"`
}

// ImportBegunAgain records that somebody sent the file of an import again whose rows were lost. It goes through all
// rows anew: what stands here replaces what was recorded of the rows before, and customers who are there are not made
// twice.
type ImportBegunAgain struct {
	ImportID id.Import       `json:"importId"`
	OrgID    id.Organization `json:"orgId"`
	Round    int             `json:"round"` // from 1; the first one, which was asked for, is 0
	Rows     int             `json:"rows"`
	Parts    int             `json:"parts"`
	Skipped  int             `json:"skipped,omitempty"`
	Failed   int             `json:"failed"`
	Faults   []ImportFault   `json:"faults,omitempty"`
	At       time.Time       `json:"at"`
}

// ImportFinished records that an import has come to its end: no row of it waits.
type ImportFinished struct {
	ImportID id.Import       `json:"importId"`
	OrgID    id.Organization `json:"orgId"`
	At       time.Time       `json:"at"`
}

func (ImportAsked) EventType() string      { return "subscribers.ImportAsked.v1" }
func (ImportPartDone) EventType() string   { return "subscribers.ImportPartDone.v1" }
func (ImportFinished) EventType() string   { return "subscribers.ImportFinished.v1" }
func (ImportRowsLost) EventType() string   { return "subscribers.ImportRowsLost.v1" }
func (ImportBegunAgain) EventType() string { return "subscribers.ImportBegunAgain.v1" }
func (ImportRowsLost) importEvent()        {}
func (ImportBegunAgain) importEvent()      {}
func (ImportAsked) importEvent()           {}
func (ImportPartDone) importEvent()        {}
func (ImportFinished) importEvent()        {}
