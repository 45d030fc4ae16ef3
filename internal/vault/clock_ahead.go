package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ClockAhead keeps how far a moved clock is ahead of the machine's, or behind it, so that time never goes back over a
// restart.
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

// Load gives the time by which the clock is ahead, negative when it is behind. known is false when nothing was kept:
// the clock was never moved.
func (c *ClockAhead) Load(ctx context.Context) (ahead time.Duration, known bool, err error) {
	var kept int64
	err = c.core.db.Owner.QueryRow(ctx, c.core.sql(selectClockAheadSQL)).Scan(&kept)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("load the moved clock: %w", err)
	}
	return time.Duration(kept), true, nil
}

// Keep stores the time by which the clock is ahead, negative when it is behind.
func (c *ClockAhead) Keep(ctx context.Context, ahead time.Duration) error {
	if _, err := c.core.db.Owner.Exec(ctx, c.core.sql(upsertClockAheadSQL), int64(ahead)); err != nil {
		return fmt.Errorf("keep the moved clock: %w", err)
	}
	return nil
}
