package usecases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// BatchItem is one thing that a batch has made: an invoice, a customer, or what a subscription was given.
type BatchItem struct {
	ID             id.Any // unique in the batch; items come in its order
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription // zero for a customer
}

// BatchUndoOf says which batch is taken back, and why.
type BatchUndoOf struct {
	BatchID id.Batch
	OrgID   id.Organization
	Reason  string
	// Text is for documents and statements: it names the batch.
	Text string
	// At is when it was asked for; the clock of a preview.
	At time.Time
}

// BatchKind takes batches of one kind back. A further kind is one more implementation, and its items in the read model
// of batches. Implementations are safe for concurrent use.
type BatchKind interface {
	// Name is one of the kinds of package events.
	Name() string
	// Check refuses a batch that is not finished. Fails: batch_not_found, batch_not_finished.
	Check(ctx context.Context, org id.Organization, batch id.Batch) error
	// Text names a batch in one line, such as "billing run of 2026-03-01".
	Text(ctx context.Context, org id.Organization, batch id.Batch) (string, error)
	// Look tells what Undo would do with an item, events.ItemUndone or events.ItemCredited, and changes nothing. An
	// item that was taken back by the same batch before has its outcome again. It fails with a refusal for an item that
	// stays as it is.
	Look(ctx context.Context, of BatchUndoOf, item BatchItem) (string, error)
	// Undo takes an item back, and does the rest of one that was begun before. It fails as Look does.
	Undo(ctx context.Context, of BatchUndoOf, item BatchItem, meta commands.Meta) (string, error)
}

// BillingUndo is a kind whose undo makes a new invoice of some items, over what was used before the end of a service.
type BillingUndo interface {
	BatchKind
	// Bills reports whether the undo of an item makes one, provided that nothing refuses it.
	Bills(ctx context.Context, of BatchUndoOf, item BatchItem) (bool, error)
}

// UndoStep is the metadata of a command by which an item is taken back. Its id is new: the states decide what is to be
// done again. The batch is the correlation, so that all that an undo causes can be found.
func UndoStep(meta commands.Meta, of BatchUndoOf) commands.Meta {
	meta.CommandID, meta.CorrelationID, meta.Reason = id.New[id.Command](), of.BatchID.String(), of.Reason
	meta.ExpectedRevision = nil
	return meta
}
