package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Times of idempotency marks (docs/rules/http.md#idempotency).
const (
	IdempotencyLease = 60 * time.Second
	IdempotencyTTL   = 24 * time.Hour
)

// IdempotencyOutcome says what to do with a request that carries an Idempotency-Key.
type IdempotencyOutcome uint8

// The outcomes of Begin, with the answer that each leads to.
const (
	Fresh    IdempotencyOutcome = iota // do it, then Complete, Keep or Free
	Running                            // another request does it now: 409
	Replay                             // the first request's answer is sent again
	Mismatch                           // the key was used with another body: 422
)

// Answer is a stored response. Header holds only the headers that a replay sends again. Own has whose things the caller
// saw who got it; nil = all.
type Answer struct {
	Status int                 `json:"status"`
	Header map[string][]string `json:"header,omitempty"`
	Body   []byte              `json:"body"`
	Own    []id.Subscriber     `json:"own,omitempty"`
}

// Mark is the result of Begin; Complete, Keep and Free need it to show that the key is still theirs.
type Mark struct {
	Outcome IdempotencyOutcome
	Answer  Answer // of a Replay
	// Command is the id of the request's main command when the outcome is Fresh: an HMAC over the key's scope, the body
	// and the instant when the key was first used. It is the same for every repeat while the key is kept, another one
	// for every other use, and nobody outside can compute it.
	Command id.Command

	key   uuid.UUID
	lease uuid.UUID
	again bool // an earlier request under the key has an unknown outcome
}

// Idempotency holds the marks of running requests and the answers of finished ones. Answers are sealed, since they may
// hold personal data.
type Idempotency struct {
	core *core
	key  []byte
}

// The mark is taken when there is none, when it has expired, or when its lease ended without an answer and the body is
// the same: the request that held it failed or died, and acts under the same command id when repeated.
const (
	takeMarkSQL = `
insert into {schema}.idempotency as i (key, org_id, body_hash, lease, leased_until, sealed, expires_at, first_used_at)
values (@key, @org, @hash, @lease, @leased_until, null, @expires_at, @now)
on conflict (key) do update set org_id = excluded.org_id, body_hash = excluded.body_hash, lease = excluded.lease,
	leased_until = excluded.leased_until, sealed = null, expires_at = excluded.expires_at,
	first_used_at = case when i.expires_at <= @now then excluded.first_used_at else i.first_used_at end
where i.expires_at <= @now or (i.sealed is null and i.leased_until <= @now and i.body_hash = excluded.body_hash)
returning first_used_at`
	readMarkSQL     = `select body_hash = $2, sealed from {schema}.idempotency where key = $1`
	completeMarkSQL = `
update {schema}.idempotency set sealed = $3, expires_at = $4 where key = $1 and lease = $2 and sealed is null`
	keepMarkSQL = `
update {schema}.idempotency set leased_until = $3, expires_at = $4 where key = $1 and lease = $2 and sealed is null`
	freeMarkSQL   = `delete from {schema}.idempotency where key = $1 and lease = $2 and sealed is null`
	purgeMarksSQL = `delete from {schema}.idempotency where expires_at <= $1`
)

// Scope says what an Idempotency-Key is good for.
type Scope struct {
	OrgID id.Organization // whose host it was used at; zero = the root host
	// Parts identify caller, method, host, path and Idempotency-Key, in this order.
	Parts []string
}

// Begin takes a key for the request that is about to run. The pieces together are the body.
func (i *Idempotency) Begin(ctx context.Context, scope Scope, body ...[]byte) (Mark, error) {
	key := formedUUID(mac(i.key, append([]string{"key"}, scope.Parts...)...))
	hash := macOf(i.key, key.String(), body...)
	for range 3 { // a mark may vanish between the two statements
		now := i.core.now()
		mark := Mark{key: key, lease: uuid.New()}
		var first time.Time
		err := i.core.db.Owner.QueryRow(ctx, i.core.sql(takeMarkSQL), pgx.NamedArgs{
			"key": key, "org": scope.OrgID, "hash": hash, "lease": mark.lease,
			"leased_until": now.Add(IdempotencyLease), "expires_at": now.Add(IdempotencyTTL), "now": now,
		}).Scan(&first)
		if err == nil {
			mark.again = !first.Equal(now)
			mark.Command = id.Command(formedUUID(mac(i.key, "command", key.String(), string(hash),
				strconv.FormatInt(first.UnixMicro(), 10))))
			return mark, nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return Mark{}, fmt.Errorf("begin idempotent request: %w", err)
		}
		found, err := i.read(ctx, key, hash)
		if !errors.Is(err, pgx.ErrNoRows) {
			return found, err
		}
	}
	return Mark{Outcome: Running}, nil
}

// read finds out why a mark could not be taken: Running, Replay or Mismatch. Fails with pgx.ErrNoRows when the mark
// vanished meanwhile; Begin then tries again.
func (i *Idempotency) read(ctx context.Context, key uuid.UUID, hash []byte) (Mark, error) {
	var same bool
	var sealed []byte
	if err := i.core.db.Owner.QueryRow(ctx, i.core.sql(readMarkSQL), key, hash).Scan(&same, &sealed); err != nil {
		return Mark{}, fmt.Errorf("read idempotent answer: %w", err)
	}
	switch {
	case !same:
		return Mark{Outcome: Mismatch}, nil
	case sealed == nil:
		return Mark{Outcome: Running}, nil
	}
	mark := Mark{Outcome: Replay}
	plain, err := i.core.ring.Open(secrets.Sealing, sealed, idempotencyPlace(key))
	if err == nil {
		err = json.Unmarshal(plain, &mark.Answer)
	}
	if err != nil {
		return Mark{}, fmt.Errorf("read idempotent answer: %w", err)
	}
	return mark, nil
}

// Complete stores the answer of a Fresh request that succeeded. A request that lost its lease meanwhile stores nothing.
func (i *Idempotency) Complete(ctx context.Context, m Mark, a Answer) error {
	plain, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("store idempotent answer: %w", err)
	}
	sealed := i.core.ring.Seal(secrets.Sealing, plain, idempotencyPlace(m.key))
	_, err = i.core.db.Owner.Exec(ctx, i.core.sql(completeMarkSQL), m.key, m.lease, sealed,
		i.core.now().Add(IdempotencyTTL))
	if err != nil {
		return fmt.Errorf("store idempotent answer: %w", err)
	}
	return nil
}

// Keep ends the lease of a Fresh request whose outcome is unknown: it failed inside, or its caller went away. The next
// one with the same body runs at once under the same command id, and so finds what this one did.
func (i *Idempotency) Keep(ctx context.Context, m Mark) error {
	now := i.core.now()
	_, err := i.core.db.Owner.Exec(ctx, i.core.sql(keepMarkSQL), m.key, m.lease, now, now.Add(IdempotencyTTL))
	if err != nil {
		return fmt.Errorf("keep idempotency mark: %w", err)
	}
	return nil
}

// Free forgets the key of a Fresh request that was refused, and so acted on nothing. When an earlier request under the
// key has an unknown outcome, the key is kept: that one may have acted.
func (i *Idempotency) Free(ctx context.Context, m Mark) error {
	if m.again {
		return i.Keep(ctx, m)
	}
	if _, err := i.core.db.Owner.Exec(ctx, i.core.sql(freeMarkSQL), m.key, m.lease); err != nil {
		return fmt.Errorf("free idempotency key: %w", err)
	}
	return nil
}

// Purge removes marks and answers that have expired.
func (i *Idempotency) Purge(ctx context.Context) error {
	if _, err := i.core.db.Owner.Exec(ctx, i.core.sql(purgeMarksSQL), i.core.now()); err != nil {
		return fmt.Errorf("purge idempotency marks: %w", err)
	}
	return nil
}

// idempotencyPlace is the associated data of a sealed answer: its key.
func idempotencyPlace(key uuid.UUID) []byte { return []byte("idempotency " + key.String()) }
