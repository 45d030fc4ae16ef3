package billingcases

import (
	"context"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/usecases"
)

// PeriodInvoices is a bus for processes. It makes a DraftInvoice of each DraftPeriodInvoice and DraftTopUpInvoice, with
// the organization's present settings, and adds the prefix of the credit note that may take the place of a VoidOrders
// or a VoidInvoice with ReleaseMoney; other commands pass unchanged. Safe for concurrent use.
type PeriodInvoices struct{ *bus.Bus }

// Execute fails as the bus does, and with organization_not_found.
func (u PeriodInvoices) Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error) {
	switch c := cmd.(type) {
	case commands.DraftPeriodInvoice:
		draft, err := u.draft(ctx, c)
		if err != nil {
			return bus.Result{}, err
		}
		cmd = draft
	case commands.DraftTopUpInvoice:
		draft, err := u.draftTopUp(ctx, c)
		if err != nil {
			return bus.Result{}, err
		}
		cmd = draft
	case commands.VoidInvoice:
		if c.ReleaseMoney {
			var err error
			if c.NotePrefix, err = usecases.NotePrefix(ctx, u.Bus, meta.OrgID); err != nil {
				return bus.Result{}, err
			}
			cmd = c
		}
	case commands.VoidOrders:
		var err error
		if c.NotePrefix, err = usecases.NotePrefix(ctx, u.Bus, meta.OrgID); err != nil {
			return bus.Result{}, err
		}
		cmd = c
	}
	return u.Bus.Execute(ctx, cmd, meta)
}

// draft is an invoice of one line under the settings of the organization.
func (u PeriodInvoices) draft(ctx context.Context, p commands.DraftPeriodInvoice) (commands.DraftInvoice, error) {
	settings, err := usecases.BillingSettings(ctx, u.Bus, p.OrgID)
	if err != nil {
		return commands.DraftInvoice{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return commands.DraftInvoice{}, err
	}
	return commands.DraftInvoice{
		SubscriberID: p.SubscriberID, OrgID: p.OrgID, InvoiceID: p.InvoiceID, SubscriptionID: p.SubscriptionID,
		PeriodFrom: p.PeriodFrom, PeriodTo: p.PeriodTo,
		Lines:    []commands.LineInput{{Description: describe(p, zone), Quantity: "1", UnitPrice: p.Price}},
		Tax:      settings.Tax,
		Currency: p.Price.Currency, Prefix: settings.InvoicePrefix, DueOn: calendar.On(p.DueAt, zone),
	}, nil
}

// draftTopUp is an invoice of one line under the settings of the organization. It is due as one that is made by hand,
// and that of an order on the day on which the order lapses.
func (u PeriodInvoices) draftTopUp(
	ctx context.Context, t commands.DraftTopUpInvoice,
) (commands.DraftInvoice, error) {
	settings, err := usecases.BillingSettings(ctx, u.Bus, t.OrgID)
	if err != nil {
		return commands.DraftInvoice{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return commands.DraftInvoice{}, err
	}
	due := calendar.On(t.SoldAt, zone).AddDays(daysToPay)
	if !t.OrderedUntil.IsZero() {
		due = calendar.On(t.OrderedUntil, zone)
	}
	return commands.DraftInvoice{
		SubscriberID: t.SubscriberID, OrgID: t.OrgID, InvoiceID: t.InvoiceID, SoldTo: t.SubscriptionID,
		Order: !t.OrderedUntil.IsZero(),
		Lines: []commands.LineInput{{Description: t.Description, Quantity: "1", UnitPrice: t.Price}}, Tax: settings.Tax,
		Currency: t.Price.Currency, Prefix: settings.InvoicePrefix, DueOn: due,
	}, nil
}

// describe returns the text of the line: "Home 10 Mbps, 1 month", or with the days or hours covered when they are
// known. A long name is cut, because a line that is too long would be refused and never invoiced.
func describe(p commands.DraftPeriodInvoice, zone *time.Location) string {
	period, name := describePeriod(p, zone), []rune(p.PlanName)
	return string(name[:min(len(name), commands.MaxLineDescription-len(period))]) + period
}

// describePeriod is the end of the line's text, in the organization's zone. Both days are included.
func describePeriod(p commands.DraftPeriodInvoice, zone *time.Location) string {
	if p.PeriodFrom.IsZero() || p.PeriodTo.IsZero() {
		return fmt.Sprintf(", 1 %s", p.Period)
	}
	from, to := p.PeriodFrom.In(zone), p.PeriodTo.In(zone)
	if p.Period == calendar.Hour {
		return fmt.Sprintf(", %s to %s", from.Format("2006-01-02 15:04"), to.Format("15:04"))
	}
	last := calendar.On(to.Add(-time.Second), zone) // the end of a period is exclusive
	return fmt.Sprintf(", %s to %s", calendar.On(from, zone), last)
}
