package accessjobs

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
)

// refused lists the customers whose last try was refused at a router, and whom no other router shows online.
func (a *Auditor) refused(
	ctx context.Context, org id.Organization, device id.Device, at time.Time,
) ([]telemetry.Refusal, error) {
	list, err := a.Sessions.Unserved(ctx, device, at.Add(-refusedSince), at)
	if err != nil || len(list) == 0 {
		return list, err
	}
	when := make(map[id.Subscription]time.Time, len(list))
	of := make([]id.Subscription, len(list))
	for i, r := range list {
		when[r.SubscriptionID], of[i] = r.At, r.SubscriptionID
	}
	rows, err := a.Open.Elsewhere(ctx, org, device, of)
	if err != nil || len(rows) == 0 {
		return list, err
	}
	looks, err := a.Sessions.Looks(ctx, org)
	if err != nil {
		return nil, err
	}
	online := map[id.Subscription]bool{}
	for _, row := range rows {
		of := row.SubscriptionID
		if online[of] {
			continue
		}
		if online[of], err = a.showsOnline(ctx, org, row, looks[row.DeviceID], when[of]); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(list, func(r telemetry.Refusal) bool { return online[r.SubscriptionID] }), nil
}

// showsOnline reports whether a router shows a customer who was refused elsewhere at an instant. A difference about a
// session stays for as long as its router cannot be looked at. Then nobody knows whether the customer is there; one who
// was refused since he was seen there is not.
func (a *Auditor) showsOnline(
	ctx context.Context, org id.Organization, row accessviews.DifferenceRow, look telemetry.Look, refused time.Time,
) (bool, error) {
	if look.LookedAt == nil || !look.Tells(a.Clock.Now(), a.Every) && !look.LookedAt.After(refused) {
		return false, nil
	}
	told, err := a.Sessions.Reported(ctx, telemetry.Shown{
		OrgID: org, SubscriberID: row.SubscriberID, SubscriptionID: row.SubscriptionID, DeviceID: row.DeviceID,
		At: *look.LookedAt,
	}, a.Clock.Now(), a.LostAfter)
	return !told, err
}
