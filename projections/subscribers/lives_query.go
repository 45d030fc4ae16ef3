package subscribersviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// LifeRow is the time from the first service of a subscription to its end.
type LifeRow struct {
	SubscriberID id.Subscriber `db:"subscriber_id"`
	Began        time.Time     `db:"began"`
	Ended        *time.Time    `db:"ended"`   // nil = it goes on
	Reason       string        `db:"reason"`  // why it ended; "" = not told, or forgotten
	Carried      bool          `db:"carried"` // it was active in another system before
}

// livesSQL reads each subscription once. One that ended before its service began never lived, nor one whose import was
// undone.
const livesSQL = `
select subscriber_id, activated_at as began, case when state = 'ended' then state_since end as ended,
	case when state = 'ended' then reason else '' end as reason, carried
from {schema}.subscriptions
where org_id = $1 and activated_at < $2 and not undone and (state <> 'ended' or state_since > activated_at)
order by subscriber_id, activated_at, subscription_id`

// Lives lists the subscriptions of an organization whose service began before an instant, by subscriber and beginning.
func (q SubscriptionsQuery) Lives(ctx context.Context, org id.Organization, until time.Time) ([]LifeRow, error) {
	var rows []LifeRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByPos[LifeRow], q.Views.SQL(SubscriptionsName, livesSQL), org, until)
	})
	return rows, err
}
