package identityviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// PortalRow is somebody who sees what is a subscriber's.
type PortalRow struct {
	UserID       id.User    `db:"user_id"`
	Email        string     `db:"email"`
	Phone        string     `db:"phone"`
	Status       string     `db:"status"` // as of MemberRow
	Since        time.Time  `db:"since"`
	LastSignInAt *time.Time `db:"last_sign_in_at"` // nil = never
}

// portalSQL lists the sign-ins of a subscriber, the oldest first.
const portalSQL = `
select user_id, m.email, m.phone, m.last_sign_in_at, p.since,
	case when m.disabled then 'disabled' when m.pending then 'pending' else 'active' end as status
from {schema}.portal p join {schema}.members m using (org_id, user_id)
where p.org_id = $1 and p.subscriber_id = $2 order by p.since, user_id`

// Portal lists those who see what is a subscriber's, the oldest first.
func (q UsersQuery) Portal(ctx context.Context, org id.Organization, of id.Subscriber) ([]PortalRow, error) {
	var rows []PortalRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[PortalRow], q.Views.SQL(UsersName, portalSQL), org, of)
	})
	return rows, err
}
