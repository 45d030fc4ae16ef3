package subscribersapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Names lets the answers of all areas name subscribers.
func Names(q subscribersviews.SubscribersQuery) httpapi.SubscriberNames {
	return func(
		ctx context.Context, org id.Organization, asked []id.Subscriber,
	) (map[id.Subscriber]httpapi.SubscriberRef, error) {
		rows, err := q.Names(ctx, org, asked)
		refs := make(map[id.Subscriber]httpapi.SubscriberRef, len(rows))
		for _, r := range rows {
			refs[r.ID] = httpapi.SubscriberRef{ID: r.ID, Name: r.Name(), AccountNumber: r.AccountNumber}
		}
		return refs, err
	}
}
