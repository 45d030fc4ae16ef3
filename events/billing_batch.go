package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// BatchUndoEvent is an event of "batch_undo-<batch id>": how something that changed many customers at once is taken
// back. What became of each of them is an event of its subscription, account or subscriber, with the batch as
// correlation. Source: docs/rules/billing.md#undo.
//
//sumtype:decl
type BatchUndoEvent interface {
	Event
	batchUndoEvent()
}

// The kinds of batches.
const (
	BatchRun          = "billing_run"
	BatchImport       = "import"
	BatchCompensation = "compensation"
)

// The outcomes of an item of a batch that is taken back.
const (
	ItemUndone   = "undone"
	ItemCredited = "credited" // money was on it: a credit note, or for a compensation an invoice, takes its place
	ItemBlocked  = "blocked"  // it stays as it is
)

// BatchUndoAsked records that a person wants a batch to be taken back. A batch can be taken back again, for what was
// blocked before and for what it has made since.
type BatchUndoAsked struct {
	BatchID id.Batch        `json:"batchId"`
	OrgID   id.Organization `json:"orgId"`
	Kind    string          `json:"kind"`
	Round   int             `json:"round"` // from 1
	Reason  string          `json:"reason"`
	At      time.Time       `json:"at"`
}

// BatchUndoPartDone records what became of a part of the items. The next part begins after the last of them.
type BatchUndoPartDone struct {
	BatchID id.Batch        `json:"batchId"`
	OrgID   id.Organization `json:"orgId"`
	Kind    string          `json:"kind"`
	Round   int             `json:"round"`
	Part    int             `json:"part"` // from 0
	Items   []BatchUndoItem `json:"items"`
	At      time.Time       `json:"at"`
}

// BatchUndoItem tells the outcome of one item: an invoice of a run, a customer of an import, a subscription of a
// compensation.
type BatchUndoItem struct {
	ItemID  id.Any `json:"itemId"`
	Outcome string `json:"outcome"`
	Code    string `json:"code,omitempty"` // of a blocked one: the failure code that says why
}

// BatchUndoFinished records that no item is left.
type BatchUndoFinished struct {
	BatchID  id.Batch        `json:"batchId"`
	OrgID    id.Organization `json:"orgId"`
	Kind     string          `json:"kind"`
	Round    int             `json:"round"`
	Undone   int             `json:"undone"` // of this round, as are the others
	Credited int             `json:"credited"`
	Blocked  int             `json:"blocked"`
	At       time.Time       `json:"at"`
}

func (BatchUndoAsked) EventType() string    { return "billing.BatchUndoAsked.v1" }
func (BatchUndoPartDone) EventType() string { return "billing.BatchUndoPartDone.v1" }
func (BatchUndoFinished) EventType() string { return "billing.BatchUndoFinished.v1" }
func (BatchUndoAsked) batchUndoEvent()      {}
func (BatchUndoPartDone) batchUndoEvent()   {}
func (BatchUndoFinished) batchUndoEvent()   {}
