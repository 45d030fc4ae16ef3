package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// decideCloseAccount closes the account once, unless a prompt is open whose money may be on its way.
func decideCloseAccount(s Account, c commands.CloseAccount, now time.Time) ([]events.AccountEvent, error) {
	switch open := s.open(); {
	case c.Forget && s.Closed && !s.Forgotten:
		return nil, commands.ErrAccountClosed() // an undo of the import is removing the customer
	case s.Closed:
		return nil, nil
	case c.Forget && len(open) > 0:
		return nil, commands.ErrMoneyOpen(open[0])
	case len(s.Prompts) > 0:
		return nil, errPaidSince()
	}
	b, err := opened(s, c.SubscriberID, c.OrgID, c.Currency, now)
	if err != nil {
		return nil, err
	}
	b.record(events.AccountClosed{
		SubscriberID: c.SubscriberID, OrgID: c.OrgID, Reason: c.Reason, Forget: c.Forget, At: now,
	})
	return b.events(), nil
}

// Open lists what keeps the customer from being forgotten; nothing does once the account is closed for it.
func (s Account) Open() []commands.MoneyOpen {
	if s.Forgotten {
		return nil
	}
	return s.open()
}

// open lists what is open on the account. An order that nobody owes counts as well: it waits for money.
func (s Account) open() []commands.MoneyOpen {
	var list []commands.MoneyOpen
	add := func(is bool, what commands.MoneyOpen) {
		if is {
			list = append(list, what)
		}
	}
	drafts := len(s.Notes) > 0
	for _, i := range s.Invoices {
		drafts = drafts || i.Seq == 0
	}
	refunds := false
	for _, r := range s.Receipts {
		for _, a := range r.Allocations {
			refunds = refunds || a.Target.Kind == events.ForRefund && !a.Done
		}
	}
	add(s.Due().Positive(), commands.OpenBalance)
	add(s.Credit().Positive(), commands.OpenCredit)
	add(len(s.Prompts) > 0, commands.OpenPrompt)
	add(refunds, commands.OpenRefund)
	add(drafts, commands.OpenDraft)
	return list
}
