package cpejobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Statements about refusals.
const (
	refusedSQL = `
insert into {schema}.refusals as r (cpe_id, at) values ($1, $2) on conflict (cpe_id) do update set at = excluded.at`
	refusalsSQL = `select cpe_id, at from {schema}.refusals where cpe_id = any($1)`
)

// Refused notes that a CPE was not let in for want of its password. The caller sees to it that this is rare.
func (i *Informs) Refused(ctx context.Context, cpe id.CPE, at time.Time) error {
	if _, err := i.db.Owner.Exec(ctx, i.sql(refusedSQL), cpe, at); err != nil {
		return fmt.Errorf("note the refusal of cpe %s: %w", cpe, err)
	}
	return nil
}

// Refusals tells when some CPEs were refused last; one that never was is left out.
func (i *Informs) Refusals(ctx context.Context, cpes []id.CPE) (map[id.CPE]time.Time, error) {
	rows, err := i.db.Owner.Query(ctx, i.sql(refusalsSQL), cpes)
	if err != nil {
		return nil, fmt.Errorf("read the refusals of cpes: %w", err)
	}
	found := map[id.CPE]time.Time{}
	var cpe id.CPE
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&cpe, &at}, func() error { found[cpe] = at; return nil }); err != nil {
		return nil, fmt.Errorf("read the refusals of cpes: %w", err)
	}
	return found, nil
}
