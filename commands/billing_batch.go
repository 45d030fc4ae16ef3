package commands

import (
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// BatchUndoCategory begins the names of the streams of batches that are taken back.
const BatchUndoCategory = "batch_undo"

// UndoPartItems is how many items of a batch one job takes back, so that a part that is begun again is soon over.
const UndoPartItems = 100

// BatchUndoCommand is a command to "batch_undo-<batch id>".
//
//sumtype:decl
type BatchUndoCommand interface {
	Command
	batchUndoCommand()
}

// AskBatchUndo has a batch taken back. It changes nothing while that is on its way. The caller has looked whether the
// batch is the organization's and finished. Fails: batch_not_found for one that another organization has.
type AskBatchUndo struct {
	BatchID id.Batch
	OrgID   id.Organization
	Kind    string
	Reason  string
}

// RecordBatchUndoPart records what became of a part, once; one without items is the end. Parts come in their order.
// Fails: batch_not_found.
type RecordBatchUndoPart struct {
	BatchID id.Batch
	Round   int
	Part    int
	Items   []events.BatchUndoItem
}

// UndoBatchPart is the job that takes the next items of a batch back.
type UndoBatchPart struct {
	OrgID   id.Organization `json:"orgId"`
	BatchID id.Batch        `json:"batchId"`
	Round   int             `json:"round"`
	Part    int             `json:"part"`
}

// Kind is the durable name of the job.
func (UndoBatchPart) Kind() string { return "billing_undo_batch_part" }

func (AskBatchUndo) CommandName() string        { return "billing.AskBatchUndo" }
func (RecordBatchUndoPart) CommandName() string { return "billing.RecordBatchUndoPart" }
func (AskBatchUndo) batchUndoCommand()          {}
func (RecordBatchUndoPart) batchUndoCommand()   {}
func (c AskBatchUndo) Target() Target           { return At(BatchUndoCategory, c.BatchID) }
func (c RecordBatchUndoPart) Target() Target    { return At(BatchUndoCategory, c.BatchID) }

// Validate checks form only.
func (c AskBatchUndo) Validate() error {
	var f failure.Faults
	f.Check(!c.BatchID.IsZero(), "batchId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Kind != "", "kind", "is required")
	f.Check(strings.TrimSpace(c.Reason) != "", "reason", "is required")
	checkLines(&f, "reason", c.Reason)
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate checks form only.
func (c RecordBatchUndoPart) Validate() error {
	var f failure.Faults
	f.Check(c.Round > 0 && c.Part >= 0, "part", "must be one that was asked for")
	f.Check(len(c.Items) <= UndoPartItems, "items", "must be at most %d", UndoPartItems)
	f.Check(!slices.ContainsFunc(c.Items, func(i events.BatchUndoItem) bool { return i.Outcome == "" }), "items",
		"must have outcomes")
	return f.Err()
}

// ErrNoBatch is the failure for a batch that does not exist or belongs to another organization.
func ErrNoBatch() error {
	return failure.NewNotFound("batch_not_found", "There is no such batch.")
}

// ErrBatchNotFinished is the failure for a batch that still makes something.
func ErrBatchNotFinished() error {
	return failure.NewConflict("batch_not_finished", "It is not finished yet. Take it back when it is.")
}

// ErrBatchUndoRuns is the failure for what has to wait until a batch is taken back.
func ErrBatchUndoRuns() error {
	return failure.NewConflict("batch_undo_runs", "It is being taken back. Try again when that is over.")
}

// ErrCorrectedSince is the failure for an item that a person has corrected since the batch made it.
func ErrCorrectedSince() error {
	return failure.NewConflict("corrected_since",
		"It was corrected since: a credit note, a write-off or a change was made by hand.")
}

// ErrTakenBackAlready is the failure for an item of which nothing is left.
func ErrTakenBackAlready() error {
	return failure.NewConflict("taken_back_already", "It was taken back by hand already.")
}
