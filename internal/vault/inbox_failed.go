package vault

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// causeKeyMissing is the cause of a callback that the present platform keys do not open.
const causeKeyMissing = "key_missing"

// FailedCallback is a callback that led to nothing, with the cause. Body and SourceIP are empty when the platform key
// that sealed it is missing.
type FailedCallback struct {
	ID       uuid.UUID
	Attempts int
	Cause    string
	Callback
}

// Failed lists up to limit callbacks that were given up, or that cannot be opened, behind one of them. The newest comes
// first.
func (i *Inbox) Failed(ctx context.Context, verified bool, after uuid.UUID, limit int) ([]FailedCallback, error) {
	return i.failed(ctx, pgx.NamedArgs{"verified": verified, "after": optional(after), "id": nil, "limit": limit})
}

// FindFailed gives one of the callbacks that Failed lists; nil = it is none of them.
func (i *Inbox) FindFailed(ctx context.Context, callback uuid.UUID) (*FailedCallback, error) {
	list, err := i.failed(ctx, pgx.NamedArgs{"verified": nil, "after": nil, "id": callback, "limit": 1})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// failedRow is a row of failedCallbacksSQL.
type failedRow struct {
	callbackRow

	LastFailure string
}

// failed runs failedCallbacksSQL and opens what the platform keys open.
func (i *Inbox) failed(ctx context.Context, args pgx.NamedArgs) ([]FailedCallback, error) {
	args["unreadable"] = causeUnreadable
	rows, _ := i.core.db.Owner.Query(ctx, i.core.sql(failedCallbacksSQL), args)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[failedRow])
	if err != nil {
		return nil, fmt.Errorf("list failed callbacks: %w", err)
	}
	list := make([]FailedCallback, 0, len(found))
	for _, row := range found {
		one := FailedCallback{ID: row.ID, Attempts: row.Attempts, Cause: row.LastFailure, Callback: Callback{
			Kind: row.Kind, Ref: row.Ref.UUID, Shortcode: row.Shortcode, Verified: row.Verified,
			ReceivedAt: row.ReceivedAt,
		}}
		if opened, err := i.open(row.callbackRow, uuid.Nil); err == nil {
			one.Callback = opened.Callback
		} else {
			one.Cause = causeKeyMissing
		}
		list = append(list, one)
	}
	return list, nil
}

// Retry lets a callback be taken at once that Failed lists. Fails: callback_not_found, also for one that waits or was
// processed.
func (i *Inbox) Retry(ctx context.Context, callback uuid.UUID) error {
	tag, err := i.core.db.Owner.Exec(ctx, i.core.sql(retryCallbackSQL), pgx.NamedArgs{
		"id": callback, "ahead": i.ahead(), "unreadable": causeUnreadable,
	})
	if err != nil {
		return fmt.Errorf("retry callback %s: %w", callback, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoCallback()
	}
	return nil
}

// ErrNoCallback is the failure for a callback that is not kept, or did not fail.
func ErrNoCallback() error {
	return failure.NewNotFound("callback_not_found", "This message of the provider is not among those that failed.")
}
