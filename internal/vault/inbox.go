package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// How long callbacks are held and kept.
const (
	InboxLease = 60 * time.Second    // after Take, until another worker may take the callback
	InboxKept  = 30 * 24 * time.Hour // after it was processed or given up
	// InboxWaits is how long a callback that cannot be processed is kept after it was received. It rings all that time.
	InboxWaits = 90 * 24 * time.Hour
)

// causeUnreadable is that of a callback whose content cannot be opened. It is tried every hour.
const causeUnreadable = "cannot be read"

// Callback is one request of a provider, stored as it was received.
type Callback struct {
	Kind string    // e.g. "stk", "c2b_confirmation"
	Ref  uuid.UUID // owner of the token in the address; zero without a token
	// OrgID is the organization of the token; zero for the platform's, and without a token. It is stored and not read.
	OrgID     id.Organization
	Shortcode string // of the token, "" when unknown
	// Verified says that token, sender or a query of ours proved the callback. Any other may only cause a query
	// (docs/rules/money.md#verified-sightings).
	Verified   bool
	SourceIP   netip.Addr
	Body       []byte
	ReceivedAt time.Time
}

// TakenCallback is a callback that this program holds for InboxLease.
type TakenCallback struct {
	ID       uuid.UUID
	Attempts int // how often it was taken, the present time included
	Callback

	lease uuid.UUID
}

// PendingCallback describes an unprocessed callback to operators, without its content, which is personal.
type PendingCallback struct {
	ID          uuid.UUID
	Kind        string
	Shortcode   string
	Verified    bool
	ReceivedAt  time.Time
	Attempts    int
	LastFailure string
}

// Inbox keeps every callback until it has been processed, so that a crash loses none. Bodies are sealed, since they
// hold phone numbers. Safe for concurrent use by several programs.
type Inbox struct{ core *core }

// sealedCallback has the fields that may name a person; they are stored as one sealed value.
type sealedCallback struct {
	SourceIP netip.Addr `json:"sourceIp"`
	Body     []byte     `json:"body"`
}

// SQL of the inbox. A callback may be taken from due_at on, so a lease is a due_at in the future. What is due, and
// which lease is over, is told by the database's clock, which is one for all programs, whatever the clocks of their
// machines say; @ahead is how far the clock was moved by hand.
const (
	storeCallbackSQL = `
insert into {schema}.callbacks (id, kind, ref, org_id, shortcode, verified, sealed, received_at, due_at)
values (@id, @kind, @ref, @org, @shortcode, @verified, @sealed, @received_at, now() + @ahead::interval)
on conflict (id) do nothing`
	takeCallbacksSQL = `
update {schema}.callbacks c set lease = @lease, due_at = now() + @ahead::interval + @held::interval,
	attempts = attempts + 1
from (select id from {schema}.callbacks where done_at is null and due_at <= now() + @ahead::interval
	order by due_at, id limit @limit for update skip locked) as due
where c.id = due.id
returning c.id, c.kind, c.ref, c.shortcode, c.verified, c.sealed, c.received_at, c.attempts`
	hastenCallbacksSQL = `
update {schema}.callbacks set due_at = now() + @ahead::interval
where done_at is null and due_at > now() + @ahead::interval + @longest::interval and last_failure <> all (@patient)`
	doneCallbackSQL = `
update {schema}.callbacks set done_at = now() + @ahead::interval, lease = null, last_failure = ''
where id = @id and lease = @lease and done_at is null`
	failCallbackSQL = `
update {schema}.callbacks set due_at = now() + @ahead::interval + @wait::interval, lease = null,
	last_failure = @cause
where id = @id and lease = @lease and done_at is null`
	giveUpCallbackSQL = `
update {schema}.callbacks set done_at = now() + @ahead::interval, lease = null, last_failure = @cause
where id = @id and lease = @lease and done_at is null`
	countCallbacksSQL = `
select count(*) filter (where done_at is null and last_failure <> $1),
	count(*) filter (where done_at is not null and last_failure <> '' and verified)
from {schema}.callbacks where done_at is null or last_failure <> ''`
	owedCallbacksSQL = `
select exists (select from {schema}.callbacks where done_at is null and verified and last_failure <> all ($1) and
	stored_at > $2)`
	untakenCallbacksSQL = `
select exists (select from {schema}.callbacks where done_at is null and verified and
	stored_at > now() - @within::interval and (last_failure = any (@causes) or
	last_failure = '' and stored_at <= now() - @untried::interval))`
	releaseLeasesSQL = `
update {schema}.callbacks set lease = null, due_at = now() + @ahead::interval
where lease is not null and done_at is null`
	pendingSQL = `
select id, kind, shortcode, verified, received_at, attempts, last_failure
from {schema}.callbacks where done_at is null order by received_at, id limit $1`
	failedCallbacksSQL = `
select id, kind, ref, shortcode, verified, sealed, received_at, attempts, last_failure from {schema}.callbacks
where last_failure <> '' and (done_at is not null or last_failure = @unreadable)
	and (@verified::boolean is null or verified = @verified) and (@id::uuid is null or id = @id)
	and (@after::uuid is null or id < @after) order by id desc limit @limit`
	retryCallbackSQL = `
update {schema}.callbacks set done_at = null, due_at = now() + @ahead::interval, lease = null, attempts = 0,
	last_failure = ''
where id = @id and last_failure <> '' and (done_at is not null or last_failure = @unreadable)`
	readCallbacksSQL = `
select id, kind, ref, shortcode, verified, sealed, received_at, attempts from {schema}.callbacks where id = any($1)`
	purgeCallbacksSQL = `
delete from {schema}.callbacks where done_at <= now() + @ahead::interval - @kept::interval
	or done_at is null and received_at <= @received and stored_at <= now() + @ahead::interval - @waits::interval`
)

// Store commits a callback and gives its id. It may be taken at once. A zero ReceivedAt means now.
func (i *Inbox) Store(ctx context.Context, c Callback) (uuid.UUID, error) {
	callback, err := uuid.NewV7()
	if err != nil {
		return uuid.Nil, fmt.Errorf("store callback: %w", err)
	}
	return callback, i.StoreAs(ctx, callback, c)
}

// StoreAs is Store under an id that the caller has made. One that is stored already stays as it is, so that a caller
// who does not know what became of his call can repeat it.
func (i *Inbox) StoreAs(ctx context.Context, callback uuid.UUID, c Callback) error {
	if err := i.storeIn(ctx, i.core.db.Owner.Exec, callback, c); err != nil {
		return fmt.Errorf("store callback: %w", err)
	}
	return nil
}

// Takes fails when the inbox would not take a callback now. It stores none.
func (i *Inbox) Takes(ctx context.Context) error {
	tx, err := i.core.db.Owner.Begin(ctx)
	if err == nil {
		err = errors.Join(i.storeIn(ctx, tx.Exec, uuid.New(), Callback{}), tx.Rollback(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return fmt.Errorf("try to store a callback: %w", err)
	}
	return nil
}

// storeIn stores a callback by a way to execute statements.
func (i *Inbox) storeIn(
	ctx context.Context, exec func(context.Context, string, ...any) (pgconn.CommandTag, error), callback uuid.UUID,
	c Callback,
) error {
	if c.ReceivedAt.IsZero() {
		c.ReceivedAt = i.core.now()
	}
	plain, err := json.Marshal(sealedCallback{c.SourceIP, c.Body})
	if err != nil {
		return err
	}
	_, err = exec(ctx, i.core.sql(storeCallbackSQL), pgx.NamedArgs{
		"id": callback, "kind": c.Kind, "ref": optional(c.Ref), "org": c.OrgID, "shortcode": c.Shortcode,
		"verified":    c.Verified,
		"sealed":      i.core.ring.Seal(secrets.Sealing, plain, callbackPlace(callback)),
		"received_at": c.ReceivedAt, "ahead": i.ahead(),
	})
	return err
}

// keptPlace is the associated data of callbacks that wait outside of the database.
const keptPlace = "callbacks on the disk"

// SealKept seals what a callback brought, for the time in which the inbox cannot be written.
func SealKept(ring *secrets.Keyring, plain []byte) []byte {
	return ring.Seal(secrets.Sealing, plain, []byte(keptPlace))
}

// OpenKept opens what SealKept made. Fails: secrets.ErrUnknownKey, secrets.ErrTampered.
func OpenKept(ring *secrets.Keyring, sealed []byte) ([]byte, error) {
	return ring.Open(secrets.Sealing, sealed, []byte(keptPlace))
}

// Take holds up to limit due callbacks for InboxLease, the longest due first. Call Done or Fail for each before the
// lease ends; otherwise another worker takes the callback too.
func (i *Inbox) Take(ctx context.Context, limit int) ([]TakenCallback, error) {
	lease := uuid.New()
	rows, _ := i.core.db.Owner.Query(ctx, i.core.sql(takeCallbacksSQL), pgx.NamedArgs{
		"lease": lease, "held": InboxLease, "limit": limit, "ahead": i.ahead(),
	})
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[callbackRow])
	if err != nil {
		return nil, fmt.Errorf("take callbacks: %w", err)
	}
	taken := make([]TakenCallback, 0, len(found))
	for _, row := range found {
		t, err := i.open(row, lease)
		if err != nil { // one that cannot be read must not block the others
			i.core.logger.ErrorContext(ctx, "stored callback cannot be read", "callback_id", row.ID, "error", err)
			if err := i.Fail(ctx, TakenCallback{ID: row.ID, lease: lease}, causeUnreadable, time.Hour); err != nil {
				return nil, err
			}
			continue
		}
		taken = append(taken, t)
	}
	slices.SortFunc(taken, func(a, b TakenCallback) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return taken, nil
}

// callbackRow is a row as the statements return it, still sealed.
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

// open decrypts a row. It fails when the platform key that sealed the row is missing.
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

// TakeOver frees the callbacks that a dead program had taken, without waiting for InboxLease. Only a program that
// certainly runs alone may call it, and only before its first Take.
func (i *Inbox) TakeOver(ctx context.Context) error {
	args := pgx.NamedArgs{"ahead": i.ahead()}
	if _, err := i.core.db.Owner.Exec(ctx, i.core.sql(releaseLeasesSQL), args); err != nil {
		return fmt.Errorf("take callbacks over: %w", err)
	}
	return nil
}

// Hasten makes callbacks due that are to wait for longer than the longest wait that there is: the database's clock was
// put back since they were tried, or the hand-moved clock is not used any more. Those whose last try failed for one of
// the patient causes may wait longer, and are left.
func (i *Inbox) Hasten(ctx context.Context, longest time.Duration, patient ...string) error {
	_, err := i.core.db.Owner.Exec(ctx, i.core.sql(hastenCallbacksSQL), pgx.NamedArgs{
		"longest": longest, "patient": append([]string{causeUnreadable}, patient...), "ahead": i.ahead(),
	})
	if err != nil {
		return fmt.Errorf("hasten callbacks: %w", err)
	}
	return nil
}

// Done marks a callback as processed. Fails: callback_lease_lost, when another worker has taken it meanwhile.
func (i *Inbox) Done(ctx context.Context, t TakenCallback) error {
	return i.finish(ctx, t, doneCallbackSQL, pgx.NamedArgs{})
}

// Fail gives a callback back, to be taken again after retryIn. Operators read cause, which must hold nothing personal.
// Fails: callback_lease_lost.
func (i *Inbox) Fail(ctx context.Context, t TakenCallback, cause string, retryIn time.Duration) error {
	return i.finish(ctx, t, failCallbackSQL, pgx.NamedArgs{"wait": retryIn, "cause": cause})
}

// GiveUp ends a callback that led to nothing; operators read cause, which must hold nothing personal. The row is kept
// like a processed one, and counts as an alarm until it is purged. Fails: callback_lease_lost.
func (i *Inbox) GiveUp(ctx context.Context, t TakenCallback, cause string) error {
	return i.finish(ctx, t, giveUpCallbackSQL, pgx.NamedArgs{"cause": cause})
}

// Count gives the number of callbacks that wait to be processed, without those that wait for the given cause, and the
// number of verified ones that were given up.
func (i *Inbox) Count(ctx context.Context, without string) (waiting, givenUp int64, err error) {
	err = i.core.db.Owner.QueryRow(ctx, i.core.sql(countCallbacksSQL), without).Scan(&waiting, &givenUp)
	if err != nil {
		return 0, 0, fmt.Errorf("count callbacks: %w", err)
	}
	return waiting, givenUp, nil
}

// Owed reports whether a verified callback that was stored after an instant of the database's clock waits to be
// processed, for another cause than the given ones.
func (i *Inbox) Owed(ctx context.Context, after time.Time, without ...string) (owed bool, err error) {
	row := i.core.db.Owner.QueryRow(ctx, i.core.sql(owedCallbacksSQL), without, after)
	if err := row.Scan(&owed); err != nil {
		return false, fmt.Errorf("look for callbacks: %w", err)
	}
	return owed, nil
}

// Untaken reports whether a verified callback waits that was stored within a time, and whose last try failed for one of
// the causes, or that nobody has tried for as long as untried. Only the database's clock counts.
func (i *Inbox) Untaken(
	ctx context.Context, within, untried time.Duration, causes ...string,
) (untaken bool, err error) {
	err = i.core.db.Owner.QueryRow(ctx, i.core.sql(untakenCallbacksSQL), pgx.NamedArgs{
		"causes": causes, "within": within, "untried": untried,
	}).Scan(&untaken)
	if err != nil {
		return false, fmt.Errorf("look for callbacks: %w", err)
	}
	return untaken, nil
}

// finish runs a statement that changes a row only while its lease is held. Fails: callback_lease_lost.
func (i *Inbox) finish(ctx context.Context, t TakenCallback, sql string, args pgx.NamedArgs) error {
	args["id"], args["lease"], args["ahead"] = t.ID, t.lease, i.ahead()
	tag, err := i.core.db.Owner.Exec(ctx, i.core.sql(sql), args)
	if err != nil {
		return fmt.Errorf("finish callback %s: %w", t.ID, err)
	}
	if tag.RowsAffected() == 0 {
		return failure.NewConflict("callback_lease_lost", "Another process is working on this callback.")
	}
	return nil
}

// Pending lists up to limit callbacks that are not processed yet, the oldest first.
func (i *Inbox) Pending(ctx context.Context, limit int) ([]PendingCallback, error) {
	rows, _ := i.core.db.Owner.Query(ctx, i.core.sql(pendingSQL), limit)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[PendingCallback])
	if err != nil {
		return nil, fmt.Errorf("list pending callbacks: %w", err)
	}
	return list, nil
}

// Read gives those of some callbacks that are still kept, by id. One that cannot be opened is left out, as if it were
// removed.
func (i *Inbox) Read(ctx context.Context, callbacks []uuid.UUID) (map[uuid.UUID]Callback, error) {
	out := make(map[uuid.UUID]Callback, len(callbacks))
	if len(callbacks) == 0 {
		return out, nil
	}
	rows, _ := i.core.db.Owner.Query(ctx, i.core.sql(readCallbacksSQL), callbacks)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[callbackRow])
	if err != nil {
		return nil, fmt.Errorf("read callbacks: %w", err)
	}
	for _, row := range found {
		c, err := i.open(row, uuid.Nil)
		if err != nil {
			i.core.logger.ErrorContext(ctx, "stored callback cannot be read", "callback_id", row.ID, "error", err)
			continue
		}
		out[row.ID] = c.Callback
	}
	return out, nil
}

// Purge removes callbacks that were processed or given up longer ago than kept, and those that were received longer ago
// than waits and could never be processed. The latter must be as old by the database's clock, too: a machine whose
// clock is wrong removes no money.
func (i *Inbox) Purge(ctx context.Context, kept, waits time.Duration) error {
	_, err := i.core.db.Owner.Exec(ctx, i.core.sql(purgeCallbacksSQL), pgx.NamedArgs{
		"kept": kept, "waits": waits, "received": i.core.now().Add(-waits), "ahead": i.ahead(),
	})
	if err != nil {
		return fmt.Errorf("purge callbacks: %w", err)
	}
	return nil
}

// ahead is how far the clock was moved by hand.
func (i *Inbox) ahead() time.Duration { return clock.Ahead(i.core.clock) }

// callbackPlace is the associated data of a sealed callback: the id of its row.
func callbackPlace(callback uuid.UUID) []byte { return []byte("callbacks " + callback.String()) }

// optional turns the zero id into SQL null.
func optional(u uuid.UUID) uuid.NullUUID { return uuid.NullUUID{UUID: u, Valid: u != uuid.Nil} }
