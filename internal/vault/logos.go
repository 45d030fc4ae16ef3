package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Logos keeps the pictures of organizations, each under the hash by which an event names it. A picture is stored before
// the event that chooses it.
type Logos struct {
	core *core
}

// How long a picture stays that nobody has chosen, so that one that is about to be chosen is not removed, and how many
// of an organization stay at most.
const (
	logosWait = time.Hour
	logosMost = 20
)

// SQL of the pictures.
const (
	putLogoSQL = `
insert into {schema}.logos (org_id, digest, png, stored_at) values ($1, $2, $3, $4)
on conflict (org_id, digest) do update set stored_at = excluded.stored_at`
	selectLogoSQL = `select png from {schema}.logos where org_id = $1 and digest = $2`
	tidyLogosSQL  = `
delete from {schema}.logos where org_id = $1 and digest <> $2 and (stored_at < $3 or digest not in (
	select digest from {schema}.logos where org_id = $1 order by stored_at desc limit $4))`
)

// Put stores a picture of an organization.
func (l *Logos) Put(ctx context.Context, org id.Organization, digest string, png []byte) error {
	_, err := l.core.db.Owner.Exec(ctx, l.core.sql(putLogoSQL), org.UUID(), digest, png, l.core.clock.Now())
	if err != nil {
		return fmt.Errorf("store logo: %w", err)
	}
	return nil
}

// Get gives a picture of an organization; nil when there is none under this hash.
func (l *Logos) Get(ctx context.Context, org id.Organization, digest string) (png []byte, err error) {
	err = l.core.db.Owner.QueryRow(ctx, l.core.sql(selectLogoSQL), org.UUID(), digest).Scan(&png)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("load logo: %w", err)
	}
	return png, nil
}

// Tidy removes the pictures of an organization except the present one; "" = it has none. Those that may be about to be
// chosen stay for a while.
func (l *Logos) Tidy(ctx context.Context, org id.Organization, present string) error {
	before := l.core.clock.Now().Add(-logosWait)
	_, err := l.core.db.Owner.Exec(ctx, l.core.sql(tidyLogosSQL), org.UUID(), present, before, logosMost)
	if err != nil {
		return fmt.Errorf("remove logos of before: %w", err)
	}
	return nil
}
