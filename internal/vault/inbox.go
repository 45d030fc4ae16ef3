package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Times of the inbox.
const (
	InboxLease = 60 * time.Second    // for processing one callback
	InboxKept  = 30 * 24 * time.Hour // after it was processed
)

// Callback is what a provider sent us, as it came.
type Callback struct {
	Kind      string    // e.g. "stk", "c2b_confirmation"
	Ref       uuid.UUID // what the address's token belongs to, zero without one
	Shortcode string    // of the token, "" when unknown
	// Verified is by token, address or a confirming query; others may only trigger a query
	// (docs/rules/money.md#verified-sightings).
	Verified   bool
	SourceIP   netip.Addr
	Body       []byte
	ReceivedAt time.Time
}

// TakenCallback is a callback that this process has claimed for InboxLease.
type TakenCallback struct {
	ID       uuid.UUID
	Attempts int // this one included
	Callback

	lease uuid.UUID
}

// PendingCallback describes a callback that is not processed yet, without its content.
type PendingCallback struct {
	ID          uuid.UUID
	Kind        string
	Shortcode   string
	Verified    bool
	ReceivedAt  time.Time
	Attempts    int
	LastFailure string
}

// Inbox keeps every callback until it has been processed, so that none is lost to a crash. Bodies are sealed: they hold
// phone numbers.
type Inbox struct{ core *core }

// sealedCallback is the sealed part.
type sealedCallback struct {
	SourceIP netip.Addr `json:"sourceIp"`
	Body     []byte     `json:"body"`
}

// SQL of the inbox. due_at is when a callback may be taken: a lease is a due time in the future.
const (
	storeCallbackSQL = `
insert into {schema}.callbacks (id, kind, ref, shortcode, verified, sealed, received_at, due_at)
values (@id, @kind, @ref, @shortcode, @verified, @sealed, @received_at, @due_at)`
	takeCallbacksSQL = `
update {schema}.callbacks c set lease = $1, due_at = $2, attempts = attempts + 1
from (select id from {schema}.callbacks where done_at is null and due_at <= $3
	order by due_at, id limit $4 for update skip locked) as due
where c.id = due.id
returning c.id, c.kind, c.ref, c.shortcode, c.verified, c.sealed, c.received_at, c.attempts`
	doneCallbackSQL = `
update {schema}.callbacks set done_at = $3, lease = null, last_failure = ''
where id = $1 and lease = $2 and done_at is null`
	failCallbackSQL = `
update {schema}.callbacks set due_at = $3, lease = null, last_failure = $4
where id = $1 and lease = $2 and done_at is null`
	releaseLeasesSQL = `
update {schema}.callbacks set lease = null, due_at = $1 where lease is not null and done_at is null`
	pendingSQL = `
select id, kind, shortcode, verified, received_at, attempts, last_failure
from {schema}.callbacks where done_at is null order by received_at, id limit $1`
	purgeCallbacksSQL = `delete from {schema}.callbacks where done_at <= $1`
)

// Store keeps a callback durably and returns its id; it may be taken at once. A zero ReceivedAt means now.
func (i *Inbox) Store(ctx context.Context, c Callback) (uuid.UUID, error) {
	now := i.core.now()
	if c.ReceivedAt.IsZero() {
		c.ReceivedAt = now
	}
	callback, err := uuid.NewV7()
	if err != nil {
		return uuid.Nil, fmt.Errorf("store callback: %w", err)
	}
	plain, err := json.Marshal(sealedCallback{c.SourceIP, c.Body})
	if err != nil {
		return uuid.Nil, fmt.Errorf("store callback: %w", err)
	}
	_, err = i.core.db.Owner.Exec(ctx, i.core.sql(storeCallbackSQL), pgx.NamedArgs{
		"id": callback, "kind": c.Kind, "ref": optional(c.Ref), "shortcode": c.Shortcode, "verified": c.Verified,
		"sealed":      i.core.ring.Seal(secrets.Sealing, plain, callbackPlace(callback)),
		"received_at": c.ReceivedAt, "due_at": now,
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("store callback: %w", err)
	}
	return callback, nil
}

// Take claims up to limit due callbacks, the longest due first, each for InboxLease: call Done or Fail before it ends,
// or another one will take it too.
func (i *Inbox) Take(ctx context.Context, limit int) ([]TakenCallback, error) {
	now, lease := i.core.now(), uuid.New()
	rows, _ := i.core.db.Owner.Query(ctx, i.core.sql(takeCallbacksSQL), lease, now.Add(InboxLease), now, limit)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[callbackRow])
	if err != nil {
		return nil, fmt.Errorf("take callbacks: %w", err)
	}
	taken := make([]TakenCallback, 0, len(found))
	for _, row := range found {
		t, err := i.open(row, lease)
		if err != nil { // it must not keep the others from being processed
			i.core.logger.ErrorContext(ctx, "stored callback cannot be read", "callback_id", row.ID, "error", err)
			if err := i.Fail(ctx, TakenCallback{ID: row.ID, lease: lease}, "cannot be read", time.Hour); err != nil {
				return nil, err
			}
			continue
		}
		taken = append(taken, t)
	}
	slices.SortFunc(taken, func(a, b TakenCallback) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return taken, nil
}

// callbackRow is a stored callback.
type callbackRow struct {
	ID         uuid.UUID
	Kind       string
	Ref        uuid.NullUUID
	Shortcode  string
	Verified   bool
	Sealed     []byte
	ReceivedAt time.Time
	Attempts   int
}

// open reads the sealed part of a row.
func (i *Inbox) open(row callbackRow, lease uuid.UUID) (TakenCallback, error) {
	plain, err := i.core.ring.Open(secrets.Sealing, row.Sealed, callbackPlace(row.ID))
	if err != nil {
		return TakenCallback{}, err
	}
	var c sealedCallback
	if err := json.Unmarshal(plain, &c); err != nil {
		return TakenCallback{}, fmt.Errorf("decode callback: %w", err)
	}
	return TakenCallback{ID: row.ID, Attempts: row.Attempts, lease: lease, Callback: Callback{
		Kind: row.Kind, Ref: row.Ref.UUID, Shortcode: row.Shortcode, Verified: row.Verified,
		SourceIP: c.SourceIP, Body: c.Body, ReceivedAt: row.ReceivedAt,
	}}, nil
}

// TakeOver frees the callbacks that a dead program had taken, instead of waiting for InboxLease. Only for a program
// that is sure to be the only one, before it takes any.
func (i *Inbox) TakeOver(ctx context.Context) error {
	if _, err := i.core.db.Owner.Exec(ctx, i.core.sql(releaseLeasesSQL), i.core.now()); err != nil {
		return fmt.Errorf("take callbacks over: %w", err)
	}
	return nil
}

// Done marks a callback as processed. Fails with callback_lease_lost when somebody else has taken it meanwhile.
func (i *Inbox) Done(ctx context.Context, t TakenCallback) error {
	return i.settle(ctx, t, doneCallbackSQL, t.ID, t.lease, i.core.now())
}

// Fail gives a callback back, to be taken again after a while. cause is kept for operators: it must hold nothing
// personal. A callback is never given up.
func (i *Inbox) Fail(ctx context.Context, t TakenCallback, cause string, retryIn time.Duration) error {
	return i.settle(ctx, t, failCallbackSQL, t.ID, t.lease, i.core.now().Add(retryIn), cause)
}

// settle runs a statement that needs the lease.
func (i *Inbox) settle(ctx context.Context, t TakenCallback, sql string, args ...any) error {
	tag, err := i.core.db.Owner.Exec(ctx, i.core.sql(sql), args...)
	if err != nil {
		return fmt.Errorf("settle callback %s: %w", t.ID, err)
	}
	if tag.RowsAffected() == 0 {
		return failure.NewConflict("callback_lease_lost", "somebody else is processing this callback")
	}
	return nil
}

// Pending lists what is not processed yet, the oldest first.
func (i *Inbox) Pending(ctx context.Context, limit int) ([]PendingCallback, error) {
	rows, _ := i.core.db.Owner.Query(ctx, i.core.sql(pendingSQL), limit)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[PendingCallback])
	if err != nil {
		return nil, fmt.Errorf("list pending callbacks: %w", err)
	}
	return list, nil
}

// Purge removes callbacks that were processed longer ago than kept.
func (i *Inbox) Purge(ctx context.Context, kept time.Duration) error {
	if _, err := i.core.db.Owner.Exec(ctx, i.core.sql(purgeCallbacksSQL), i.core.now().Add(-kept)); err != nil {
		return fmt.Errorf("purge callbacks: %w", err)
	}
	return nil
}

// callbackPlace binds a body to its row.
func callbackPlace(callback uuid.UUID) []byte { return []byte("callbacks " + callback.String()) }

// optional is null for the zero id.
func optional(u uuid.UUID) uuid.NullUUID { return uuid.NullUUID{UUID: u, Valid: u != uuid.Nil} }
