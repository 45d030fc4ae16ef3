package messagingcases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// runPart is how many customers one job tells of their invoice of a billing run.
const runPart = 500

// OfRun lists the messages about one part of the invoices of a billing run, and the job of the next part, nil when
// there is none. Of a run that is repeated they are the invoices that are news yet. again is set when that has to wait
// until then: for the hours in which messages go. Of invoices that a tax authority is to sign, customers are told with
// their signatures instead.
func (d *Delivery) OfRun(
	ctx context.Context, args commands.TellRun,
) (list []commands.SendMessage, next *commands.TellRun, again time.Time, err error) {
	now := d.Clock.Now()
	opens, err := d.issuesGo(ctx, args, now)
	switch {
	case err != nil || !now.Before(args.Until):
		return nil, nil, time.Time{}, err
	case opens.After(now):
		return nil, nil, opens, nil
	}
	for _, model := range []string{billingviews.RunsName, billingviews.InvoicesName} {
		if err := d.Views.WaitFor(ctx, model, args.Position); err != nil {
			return nil, nil, time.Time{}, err
		}
	}
	rows, err := billingviews.RunsQuery{Views: d.Views}.MadeFrom(ctx, args.OrgID, billingviews.MadePart{
		RunID: args.RunID, After: args.After, Max: runPart,
		Since: args.At.Add(-args.Until.Sub(args.At)), // as long before the run was over as it is told of after that
	})
	if err != nil {
		return nil, nil, time.Time{}, err
	}
	made := make([]id.Invoice, len(rows))
	for i, row := range rows {
		made[i] = row.InvoiceID
	}
	shown, err := billingviews.InvoicesQuery{Views: d.Views}.Payables(ctx, args.OrgID, made)
	if err != nil {
		return nil, nil, time.Time{}, err
	}
	for _, row := range rows {
		if !row.Undone && !shown[row.InvoiceID].ToBeSigned {
			list = append(list, commands.SendMessage{
				OrgID: args.OrgID, SubscriberID: row.SubscriberID, InvoiceID: row.InvoiceID,
				Template: events.NoticeIssued, At: args.At, Until: args.Until, Position: args.Position,
			})
		}
	}
	if len(rows) == runPart {
		args.After = rows[runPart-1].InvoiceID
		next = &args
	}
	return list, next, time.Time{}, nil
}

// issuesGo is the first instant from another one on at which customers are told of issued invoices, the end of the news
// at the latest.
func (d *Delivery) issuesGo(ctx context.Context, args commands.TellRun, from time.Time) (time.Time, error) {
	f, err := d.ofOrganization(ctx, args.OrgID)
	if err == nil {
		err = d.settings(ctx, &f)
	}
	if err != nil {
		return time.Time{}, err
	}
	opens := f.opens(events.NoticeIssued, from)
	if opens.IsZero() || opens.After(args.Until) {
		return args.Until, nil
	}
	return opens, nil
}
