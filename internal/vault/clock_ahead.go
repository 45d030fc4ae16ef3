package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ClockAhead keeps how far a moved clock is ahead of the machine's, so that time never goes back over a restart.
type ClockAhead struct {
	core *core
}

// SQL of the row. A lower value never replaces a higher one.
const (
	selectClockAheadSQL = `select ahead from {schema}.clock_ahead`
	upsertClockAheadSQL = `
insert into {schema}.clock_ahead (ahead) values ($1)
on conflict (single) do update set ahead = greatest(clock_ahead.ahead, excluded.ahead)`
)

// Load gives the time by which the clock is ahead; zero when it was never moved.
func (c *ClockAhead) Load(ctx context.Context) (time.Duration, error) {
	var ahead int64
	err := c.core.db.Owner.QueryRow(ctx, c.core.sql(selectClockAheadSQL)).Scan(&ahead)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("load the moved clock: %w", err)
	}
	return time.Duration(ahead), nil
}

// Keep stores the time by which the clock is ahead, which must be above zero.
func (c *ClockAhead) Keep(ctx context.Context, ahead time.Duration) error {
	if _, err := c.core.db.Owner.Exec(ctx, c.core.sql(upsertClockAheadSQL), int64(ahead)); err != nil {
		return fmt.Errorf("keep the moved clock: %w", err)
	}
	return nil
}
