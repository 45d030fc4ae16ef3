package renewal_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// dunned is the subscription that events of dunning are about.
var dunned = events.DunningSubject{SubscriptionID: line, SubscriberID: who}

// TestCut_IsToldToPostpaidSubscriptions: once for each cut, and again after a pause that began in it.
func TestCut_IsToldToPostpaidSubscriptions(t *testing.T) {
	t.Parallel()
	at := events.DunningStep{At: start}
	walled, off := events.WalledGardenEntered{DunningSubject: dunned, DunningStep: at},
		events.ServiceSuspended{DunningSubject: dunned, DunningStep: at}
	over := events.DunningEnded{DunningSubject: dunned, At: until}
	suspend := does(commands.SuspendBilling{SubscriptionID: line, At: start})
	resume := does(commands.ResumeBilling{SubscriptionID: line, At: until})
	s := after(t, created(line, events.Postpaid, 1500, calendar.Month))
	s.When(over).ThenNothing()
	s.When(walled).Then(suspend)
	s.When(off).Then(suspend)
	s.When(events.WriteOffProposed{DunningSubject: dunned, DunningStep: at}).Then(suspend)
	isCut := s.Given(walled)
	isCut.When(off).ThenNothing()
	isCut.When(over).Then(resume)
	isCut.When(events.DunningBegan{DunningSubject: dunned, DunningStep: events.DunningStep{At: until}}).Then(resume)
	back := isCut.Given(events.SubscriptionPaused{SubscriptionID: line, SubscriberID: who, At: start}).
		When(events.SubscriptionResumed{SubscriptionID: line, SubscriberID: who, At: until}).Output()
	if n := len(back.Commands); n == 0 || back.Commands[n-1] != commands.Command(commands.SuspendBilling{
		SubscriptionID: line, At: until,
	}) {
		t.Errorf("after a pause %+v", back)
	}
	after(t, prepaid(line)).When(walled).ThenNothing()
	after(t).When(walled).ThenNothing() // has ended
}

// TestCut_NothingBecomesDueBeforeServiceDoes: the timer is taken away, and what begins then is asked for at once.
func TestCut_NothingBecomesDueBeforeServiceDoes(t *testing.T) {
	t.Parallel()
	suspended := events.BillingSuspended{SubscriptionID: line, SubscriberID: who, At: start}
	s := after(t, created(line, events.Postpaid, 100, calendar.Day),
		events.PeriodDue{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, From: start, To: until})
	s.When(suspended).Then(leaves(line))
	isCut := s.Given(suspended)
	isCut.When(events.SubscriptionPlanChanged{SubscriptionID: line, SubscriberID: who, Terms: events.PlanTerms{
		Mode: events.Postpaid, Price: kes(100), Period: calendar.Day,
	}}).Then(leaves(line))
	resumed := events.BillingResumed{
		SubscriptionID: line, SubscriberID: who, From: start, NextFrom: until, At: until,
		Credits: []events.DaysCredit{{InvoiceID: inv1, Days: 4, Of: 28}},
	}
	out := isCut.When(resumed).Output()
	if len(out.Timers) != 1 || out.Timers[0] != arms(line, until).Timers[0] || len(out.Commands) != 1 {
		t.Fatalf("%+v", out)
	}
	if note, _ := out.Commands[0].(commands.CreditDays); note.Days != 4 || note.Reason != "days without service" {
		t.Errorf("%+v", note)
	}
}
