package billingcases

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// PeriodInvoices is a bus for processes. It makes a DraftInvoice of each DraftPeriodInvoice and DraftTopUpInvoice, with
// the organization's present settings, and adds the prefix of credit notes to CreditDays, SellDays, VoidOrders and a
// VoidInvoice with ReleaseMoney, whose place a credit note may take, and the rule of taxes to TellCredit and
// CreditReceipt; other commands pass unchanged. Safe for concurrent use.
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
	case commands.TellCredit:
		settings, err := usecases.BillingSettings(ctx, u.Bus, meta.OrgID)
		if err != nil {
			return bus.Result{}, err
		}
		c.Tax = &settings.Tax
		cmd = c
	case commands.CreditReceipt:
		settings, err := usecases.BillingSettings(ctx, u.Bus, c.OrgID)
		if err != nil {
			return bus.Result{}, err
		}
		c.Tax = &settings.Tax
		cmd = c
	case commands.VoidInvoice:
		if c.ReleaseMoney {
			var err error
			if c.NotePrefix, err = usecases.NotePrefix(ctx, u.Bus, meta.OrgID); err != nil {
				return bus.Result{}, err
			}
			cmd = c
		}
	case commands.CreditDays:
		var err error
		if c.Prefix, err = usecases.NotePrefix(ctx, u.Bus, meta.OrgID); err != nil {
			return bus.Result{}, err
		}
		cmd = c
	case commands.SellDays:
		var err error
		if c.Prefix, err = usecases.NotePrefix(ctx, u.Bus, meta.OrgID); err != nil {
			return bus.Result{}, err
		}
		cmd = c
	case commands.VoidOrders:
		var err error
		if c.NotePrefix, err = usecases.NotePrefix(ctx, u.Bus, meta.OrgID); err != nil {
			return bus.Result{}, err
		}
		cmd = c
	}
	return u.Bus.Execute(ctx, cmd, meta)
}

// draft is the invoice of a period under the present settings of its organization.
func (u PeriodInvoices) draft(ctx context.Context, p commands.DraftPeriodInvoice) (commands.DraftInvoice, error) {
	settings, err := usecases.BillingSettings(ctx, u.Bus, p.OrgID)
	if err != nil {
		return commands.DraftInvoice{}, err
	}
	called, err := extrasCalled(ctx, u.Bus, p)
	if err != nil {
		return commands.DraftInvoice{}, err
	}
	return DraftUnder(settings, p, called)
}

// extrasCalled tells what the extras of a draft are called: the subscription knows, because it is personal.
func extrasCalled(
	ctx context.Context, b *bus.Bus, p commands.DraftPeriodInvoice,
) (func(id.Extra) string, error) {
	if len(p.Extras) == 0 {
		return nil, nil
	}
	s, _, err := bus.LoadOwned[subscribers.Subscription](ctx, b, p.OrgID, p.SubscriptionID)
	return s.ExtraCalled, err
}

// DraftUnder is the invoice of a period under the settings of its organization. called tells what its extras are
// called; it may be nil without extras.
func DraftUnder(
	settings events.BillingSettings, p commands.DraftPeriodInvoice, called func(id.Extra) string,
) (commands.DraftInvoice, error) {
	zone, err := usecases.Zone(settings)
	if err != nil {
		return commands.DraftInvoice{}, err
	}
	draft := commands.DraftInvoice{
		SubscriberID: p.SubscriberID, OrgID: p.OrgID, InvoiceID: p.InvoiceID, RunID: p.RunID, Tax: settings.Tax,
		Currency: p.Price.Currency, Prefix: settings.InvoicePrefix, DueOn: calendar.On(p.DueAt, zone),
	}
	switch {
	case len(p.Change) > 0:
		draft.SoldTo, draft.Lines = p.SubscriptionID, changeLines(p.Change)
		return draft, nil
	case p.Price.Currency == "": // what is left to pay at an end
		draft.SoldTo, draft.Currency = p.SubscriptionID, p.Extras[0].Amount.Currency
	default:
		draft.SubscriptionID, draft.PeriodFrom, draft.PeriodTo = p.SubscriptionID, p.PeriodFrom, p.PeriodTo
		draft.Lines = []commands.LineInput{{Description: describe(p, zone), Quantity: "1", UnitPrice: p.Price}}
	}
	for _, x := range p.Extras {
		draft.Lines = append(draft.Lines, commands.LineInput{
			Description: cmp.Or(called(x.ID), extraNames[x.Kind]), Quantity: "1", UnitPrice: x.Amount,
			Once: x.Kind == events.ChargeExtra,
		})
	}
	return draft, nil
}

// extraNames stand in the place of descriptions that were erased.
var extraNames = map[events.ExtraKind]string{
	events.ChargeExtra: "Charge", events.AddOnExtra: "Add-on", events.DiscountExtra: "Discount",
}

// changeLines are the lines of an invoice over a change of plan.
func changeLines(change []events.PlanChangeLine) (lines []commands.LineInput) {
	for _, l := range change {
		if l.Percent > 0 {
			lines = append(lines, commands.LineInput{
				Description: "Discount " + money.Percent(l.Percent) + " %", Quantity: "1", UnitPrice: l.Amount,
			})
			continue
		}
		days := fmt.Sprintf(", %s to %s (%d of %d days)", l.From, l.To, l.Days, l.Of)
		if l.Days > l.Of {
			days = fmt.Sprintf(", %s to %s (%d days, at %d days a month)", l.From, l.To, l.Days, l.Of)
		}
		name := []rune(l.PlanName)
		lines = append(lines, commands.LineInput{
			Description: string(name[:min(len(name), commands.MaxLineDescription-len(days))]) + days, Quantity: "1",
			UnitPrice: l.Amount,
		})
	}
	return lines
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
	period, name := describePeriod(p, zone)+describePart(p), []rune(p.PlanName)
	return string(name[:min(len(name), commands.MaxLineDescription-len(period))]) + period
}

// describePart says how much of a month a shorter period is.
func describePart(p commands.DraftPeriodInvoice) string {
	if p.Days == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d days)", p.Days, p.Of)
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
