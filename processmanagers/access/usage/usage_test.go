package usage_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/access/usage"
)

// The cap of these tests is reached in March.
var (
	start   = time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
	resets  = time.Date(2026, 3, 31, 21, 0, 0, 0, time.UTC)
	subject = events.UsageSubject{
		SubscriptionID: id.Derive[id.Subscription]("test", "line"),
		OrgID:          id.Derive[id.Organization]("test", "org"),
		SubscriberID:   id.Derive[id.Subscriber]("test", "amina"),
	}
	march    = events.CapPeriod{Period: "month", Starts: calendar.Date{Year: 2026, Month: 3, Day: 1}, ResetsAt: resets}
	reached  = events.CapReached{UsageSubject: subject, CapPeriod: march, At: start}
	resetCap = commands.ResetCap{Subject: subject, Starts: march.Starts}
)

// wakes is the output that arms the timer.
func wakes(at time.Time) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: "reset", At: at}}}
}

// asks is the output that resets the cap.
func asks() processmanagers.Output {
	return processmanagers.Output{Commands: []commands.Command{resetCap}}
}

func TestUsage_AReachedCapIsResetOnceHoweverFarTheClockJumps(t *testing.T) {
	t.Parallel()
	processtest.For(t, usage.Process(), start).
		Given(reached).Then(wakes(resets)).
		WhenDue("reset", start.AddDate(1, 0, 0)).Then(asks()).
		Given(events.CapReset{UsageSubject: subject, CapPeriod: march}).ThenNothing()
}

func TestUsage_ATopUpWithAPriceIsInvoiced(t *testing.T) {
	t.Parallel()
	free := events.TopUpAdded{
		UsageSubject: subject, TopUpID: id.Derive[id.TopUp]("one"), Bytes: 5_000_000_000, At: start,
	}
	sold := free
	sold.Price, sold.InvoiceID = money.Major(250, money.KES), id.Derive[id.Invoice]("one")
	draft := commands.DraftTopUpInvoice{
		SubscriberID: subject.SubscriberID, OrgID: subject.OrgID, InvoiceID: sold.InvoiceID, Price: sold.Price,
		SubscriptionID: subject.SubscriptionID, Description: "Top-up of 5.0 GB", SoldAt: start,
	}
	drafts := processmanagers.Output{Commands: []commands.Command{draft}}
	processtest.For(t, usage.Process(), start).
		Given(free).ThenNothing().
		Given(sold).Then(drafts).
		WhenRefused(draft, "concurrent_change").Then(drafts).
		WhenRefused(draft, "currency_mismatch").ThenNothing().
		Given(reached).Then(wakes(resets)).
		Given(sold).Then(drafts)
}

func TestUsage_AnEndedSubscriptionIsNotReset(t *testing.T) {
	t.Parallel()
	processtest.For(t, usage.Process(), start).
		Given(reached).Then(wakes(resets)).
		Given(events.SubscriptionEnded{SubscriptionID: subject.SubscriptionID}).ThenNothing()
}

func TestUsage_ARefusedResetIsTriedAgain(t *testing.T) {
	t.Parallel()
	processtest.For(t, usage.Process(), start).
		Given(reached).Then(wakes(resets)).
		WhenDue("reset", resets).Then(asks()).
		WhenRefused(resetCap, "concurrent_change").Then(wakes(start.Add(time.Minute)))
}

func TestUsage_TheTimerFollowsTheZoneAndATopUpDisarmsIt(t *testing.T) {
	t.Parallel()
	moved := march
	moved.ResetsAt = resets.Add(-8 * time.Hour)
	processtest.For(t, usage.Process(), start).
		Given(events.CapPeriodMoved{UsageSubject: subject, CapPeriod: moved}).ThenNothing().
		Given(reached).Then(wakes(resets)).
		Given(events.CapPeriodMoved{UsageSubject: subject, CapPeriod: moved}).Then(wakes(moved.ResetsAt)).
		Given(events.CapReset{UsageSubject: subject, CapPeriod: march, Reason: events.ResetTopUp}).ThenNothing()
}
