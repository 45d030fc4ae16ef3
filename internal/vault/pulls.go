package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Pulls keeps how far the provider was asked for the payments of each shortcode. Safe for concurrent use.
type Pulls struct{ core *core }

// Pull says how far the payments of a shortcode were asked for. The zero value is never.
type Pull struct {
	Registered bool      `db:"registered"`  // the provider has taken the shortcode's registration
	Nominated  id.Secret `db:"nominated"`   // with this phone; zero = with the platform's
	AskedUntil time.Time `db:"asked_until"` // all payments up to here have been listed
}

// SQL of pulls. What was asked for never goes back.
const (
	getPullSQL  = `select registered, nominated, asked_until from {schema}.pulls where ref = $1`
	notePullSQL = `
insert into {schema}.pulls (ref, registered, nominated, asked_until) values ($1, $2, $3, $4)
on conflict (ref) do update set registered = excluded.registered, nominated = excluded.nominated,
	asked_until = greatest(pulls.asked_until, excluded.asked_until)`
)

// Get gives how far the payments of a shortcode were asked for.
func (p *Pulls) Get(ctx context.Context, ref uuid.UUID) (Pull, error) {
	rows, err := p.core.db.Owner.Query(ctx, p.core.sql(getPullSQL), ref)
	if err != nil {
		return Pull{}, fmt.Errorf("load pull: %w", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Pull])
	if errors.Is(err, pgx.ErrNoRows) {
		return Pull{}, nil
	}
	if err != nil {
		return Pull{}, fmt.Errorf("load pull: %w", err)
	}
	return found, nil
}

// Note keeps how far the payments of a shortcode were asked for.
func (p *Pulls) Note(ctx context.Context, ref uuid.UUID, now Pull) error {
	_, err := p.core.db.Owner.Exec(ctx, p.core.sql(notePullSQL), ref, now.Registered, now.Nominated,
		now.AskedUntil)
	if err != nil {
		return fmt.Errorf("store pull: %w", err)
	}
	return nil
}
