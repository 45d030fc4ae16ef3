package accessjobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// When customers count as unable to pay (docs/rules/access-dunning.md#no-fault-grace).
const (
	watchEvery = time.Minute
	// awayFor is how long the provider must be unreachable, with no money coming in.
	awayFor = 5 * time.Minute
	// Silence counts when the same hours of each of these weeks had at least so many receipts.
	weeksBack, fewestReceipts = 4, 20
	// longest bounds an outage of payments. An organization that gives up mobile money has none.
	longest = 72 * time.Hour
)

// Evidence of outages of payments.
const (
	EvidenceProvider = "provider_unreachable"
	evidenceSilence  = "no_receipts"
)

// perPage is how many organizations are read at once.
const perPage = 100

// outageActor is the actor of what is recorded of outages of payments.
var outageActor = events.Actor{Kind: events.ActorProcess, ID: "outages"}

// WatchPayments looks at all organizations, and at the clocks that outages have stopped. An organization that cannot be
// looked at does not keep others from it.
func (w Workers) WatchPayments(ctx context.Context, _ commands.WatchPayments, cause jobs.Cause) error {
	var faults []error
	var after identityviews.OrganizationKey
	for {
		list, err := identityviews.OrganizationsQuery{Views: w.Views}.List(ctx, identityviews.OrganizationFilter{},
			after, perPage)
		if err != nil {
			return errors.Join(append(faults, err)...)
		}
		for _, org := range list {
			if err := w.watchOne(ctx, org, cause); err != nil {
				faults = append(faults, fmt.Errorf("watch payments of %s: %w", org.ID, err))
			}
			if err := w.placeClocks(ctx, org.ID, cause); err != nil {
				faults = append(faults, fmt.Errorf("place clocks of %s: %w", org.ID, err))
			}
		}
		if len(list) < perPage {
			return errors.Join(faults...)
		}
		after = list[len(list)-1].Key()
	}
}

// watchOne compares one organization with what is recorded of it. Both commands change nothing when it is so already.
func (w Workers) watchOne(ctx context.Context, org identityviews.OrganizationRow, cause jobs.Cause) error {
	now := w.Clock.Now()
	from, evidence, err := w.outage(ctx, org, now)
	if err != nil {
		return err
	}
	present, err := w.Outage(ctx, org.ID)
	if err != nil {
		return err
	}
	cause.OrgID, cause.Actor = org.ID, outageActor
	if present.After(now) { // a clock that was ahead gave it a wrong place: it begins anew in the right one
		_, err := w.Bus.Execute(ctx, commands.ResumePayments{OrgID: org.ID, Until: now},
			cause.Meta("displace "+org.ID.String()))
		if err != nil {
			return err
		}
		present = time.Time{}
	}
	switch {
	case present.IsZero() && evidence != "":
		_, err = w.Bus.Execute(ctx, commands.InterruptPayments{OrgID: org.ID, Evidence: evidence, From: from},
			cause.Meta("interrupt "+org.ID.String()))
	case !present.IsZero():
		var paid time.Time
		paid, err = paymentsviews.ReceiptsQuery{Views: w.Views}.NextMobile(ctx, org.ID, present)
		until := now
		switch {
		case err != nil:
			return err
		case !paid.IsZero():
			until = paid
		case now.Sub(present) >= longest:
			until = present.Add(longest)
		case evidence != "":
			return nil
		}
		_, err = w.Bus.Execute(ctx, commands.ResumePayments{OrgID: org.ID, Until: until},
			cause.Meta("resume "+org.ID.String()))
	}
	return err
}

// outage says since when customers cannot pay, and by which evidence; "" = they can.
func (w Workers) outage(
	ctx context.Context, org identityviews.OrganizationRow, now time.Time,
) (from time.Time, evidence string, err error) {
	receipts := paymentsviews.ReceiptsQuery{Views: w.Views}
	last, err := receipts.LastMobile(ctx, org.ID, now)
	if err != nil {
		return time.Time{}, "", err
	}
	away, err := w.ProviderAway(ctx, org.ID)
	if err != nil {
		return time.Time{}, "", err
	}
	if !away.IsZero() && now.Sub(away) >= awayFor && now.Sub(away) < longest && !last.After(away) {
		return away, EvidenceProvider, nil
	}
	if last.IsZero() || now.Sub(last) >= longest {
		return time.Time{}, "", nil
	}
	zone, err := calendar.Zone(org.Billing.Timezone)
	if err != nil {
		return time.Time{}, "", fmt.Errorf("zone of the organization: %w", err)
	}
	for week := 1; week <= weeksBack; week++ { // the same local hours, whatever summer time did in between
		n, err := receipts.CountMobile(ctx, org.ID, last.In(zone).AddDate(0, 0, -7*week),
			now.In(zone).AddDate(0, 0, -7*week), fewestReceipts)
		if err != nil || n < fewestReceipts {
			return time.Time{}, "", err
		}
	}
	return last, evidenceSilence, nil
}
