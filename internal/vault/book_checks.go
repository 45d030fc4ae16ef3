package vault

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// BookChecks keeps when the books of each organization were checked last, and with what result, so that a restart
// neither forgets faults nor begins from the first organization again.
type BookChecks struct {
	core *core
}

// BookCheck is the latest check of one organization. The zero value is one that was never tried.
type BookCheck struct {
	TriedAt   time.Time      // when the latest try began, also one that failed
	CheckedAt time.Time      // when the latest check that came to its end began; zero = never
	Faults    map[string]int // what that check has found, by code
}

// SQL of the checks.
const (
	selectBookChecksSQL = `
select org_id, tried_at, coalesce(checked_at, '0001-01-01 00:00:00Z') as checked_at, faults from {schema}.book_checks`
	tryBookCheckSQL = `
insert into {schema}.book_checks (org_id, tried_at) values ($1, $2)
on conflict (org_id) do update set tried_at = excluded.tried_at`
	keepBookCheckSQL = `
update {schema}.book_checks set checked_at = $2, faults = $3 where org_id = $1`
)

// Load gives the checks of all organizations that were tried. The zero id is the platform.
func (b *BookChecks) Load(ctx context.Context) (map[id.Organization]BookCheck, error) {
	rows, _ := b.core.db.Owner.Query(ctx, b.core.sql(selectBookChecksSQL))
	checks := map[id.Organization]BookCheck{}
	var org uuid.UUID
	var c BookCheck
	_, err := pgx.ForEachRow(rows, []any{&org, &c.TriedAt, &c.CheckedAt, &c.Faults}, func() error {
		checks[id.Organization(org)] = BookCheck{c.TriedAt.UTC(), c.CheckedAt.UTC(), c.Faults}
		c.Faults = nil
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load checks of books: %w", err)
	}
	return checks, nil
}

// Try notes that a check begins.
func (b *BookChecks) Try(ctx context.Context, org id.Organization, at time.Time) error {
	if _, err := b.core.db.Owner.Exec(ctx, b.core.sql(tryBookCheckSQL), org.UUID(), at); err != nil {
		return fmt.Errorf("note the check of books: %w", err)
	}
	return nil
}

// Keep stores the result of a check that began at an instant, after Try.
func (b *BookChecks) Keep(ctx context.Context, org id.Organization, at time.Time, faults map[string]int) error {
	if _, err := b.core.db.Owner.Exec(ctx, b.core.sql(keepBookCheckSQL), org.UUID(), at, faults); err != nil {
		return fmt.Errorf("keep the check of books: %w", err)
	}
	return nil
}
