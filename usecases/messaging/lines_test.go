package messagingcases_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// lines are two postpaid lines of the customer, with the name of the job that tells of each.
type lines map[string]id.Subscription

// twoLines makes two lines that are in the walled garden.
func (k *kit) twoLines(t *testing.T) lines {
	t.Helper()
	made := lines{}
	for _, job := range []string{"one", "other"} {
		k.invoiced(t, -5)
		made[job] = k.args.SubscriptionID
	}
	k.args.Until = noon.Add(72 * time.Hour)
	return made
}

// tell makes an attempt of the job about a line.
func (k *kit) tell(t *testing.T, all lines, job string) (again time.Time) {
	t.Helper()
	k.args.SubscriptionID = all[job]
	again, err := k.send(t, job)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// settled ends the course of a line, because it was paid.
func (k *kit) settled(t *testing.T, line id.Subscription) {
	t.Helper()
	subject := events.DunningSubject{
		SubscriptionID: line, OrgID: k.args.OrgID, SubscriberID: k.args.SubscriberID,
	}
	at := k.clock.Now()
	k.appendAfter(t, 1, k.args.OrgID, "dunning-"+line.String(),
		events.DunningEnded{DunningSubject: subject, Before: events.DunningWalledGarden, At: at},
		events.DunningReviewed{
			DunningSubject: subject, State: events.DunningNone, At: at, Owed: events.DunningOwed{At: at},
		})
	k.WaitForAll(t, k.delivery.Views, accessviews.DunningName)
}

// orders are those in which the jobs about two lines may come.
var orders = [][]string{{"one", "other"}, {"other", "one"}}

// TestSend_WhatHoldsForALineIsToldOnce: two lines of a customer are walled in, or reminded of, in one night, and some
// are paid before the message hours. The job of each line comes twice in the morning, in any order.
func TestSend_WhatHoldsForALineIsToldOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		template events.MessageTemplate
		paid     []string
		state    string
	}{
		"both cut":           {events.NoticeGarden, nil, "sent"},
		"the first is paid":  {events.NoticeGarden, []string{"one"}, "sent"},
		"the other is paid":  {events.NoticeGarden, []string{"other"}, "sent"},
		"both are paid":      {events.NoticeGarden, []string{"one", "other"}, "dropped no_longer_true"},
		"reminded":           {events.ReminderOverdue, nil, "sent"},
		"reminded, one paid": {events.ReminderOverdue, []string{"one"}, "sent"},
	} {
		for _, order := range orders {
			t.Run(name+", "+order[0]+" first", func(t *testing.T) {
				t.Parallel()
				k := newKit(t, phone())
				all := k.twoLines(t)
				k.args.Template = c.template
				k.clock.Advance(11 * time.Hour) // 23:00 in Nairobi
				for _, job := range []string{"one", "other"} {
					if again := k.tell(t, all, job); !again.Equal(noon.Add(20 * time.Hour)) {
						t.Fatalf("job %s looks again at %s", job, again)
					}
				}
				for _, job := range c.paid {
					k.settled(t, all[job])
				}
				k.clock.Advance(9 * time.Hour)
				again := k.tell(t, all, order[0])
				if next := k.tell(t, all, order[1]); !next.IsZero() {
					t.Errorf("the second job looks again at %s", next)
				}
				if !again.IsZero() {
					k.clock.Advance(again.Sub(k.clock.Now()))
					must(t, k.tell(t, all, order[0]), nil)
				}
				if got := k.state(t); got != c.state || (len(k.sent) == 1) != (c.state == "sent") {
					t.Errorf("%s, sent %+v, want %s", got, k.sent, c.state)
				}
			})
		}
	}
}

// TestSend_WhoIsBackBesideAPausedLineIsTold: both lines are paid, and the news about the paused one is not told.
func TestSend_WhoIsBackBesideAPausedLineIsTold(t *testing.T) {
	t.Parallel()
	for _, order := range orders {
		k := newKit(t, phone())
		all := k.twoLines(t)
		k.appendAfter(t, 1, k.args.OrgID, "subscription-"+all["one"].String(), events.SubscriptionPaused{
			SubscriptionID: all["one"], SubscriberID: k.args.SubscriberID, At: noon,
		})
		k.WaitForAll(t, k.delivery.Views, subscribersviews.SubscriptionsName)
		for _, line := range all {
			k.settled(t, line)
		}
		k.args.Template = events.NoticeRestored
		for _, job := range order {
			must(t, k.tell(t, all, job), nil)
		}
		if len(k.sent) != 1 || k.state(t) != "sent" {
			t.Errorf("%v: %s, sent %+v", order, k.state(t), k.sent)
		}
	}
}

// TestSend_AnotherLineWaitsWhileAMessageIsOnItsWay: the gateway is down, and the line whose message it did not take is
// paid. The other line is told of when its job looks again, within its moment.
func TestSend_AnotherLineWaitsWhileAMessageIsOnItsWay(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	all := k.twoLines(t)
	k.args.Template, k.down = events.NoticeGarden, true
	if _, err := k.send(t, "other"); err == nil {
		t.Fatal("the gateway is not down")
	}
	again := k.tell(t, all, "one")
	if !again.Equal(noon.Add(10 * time.Minute)) {
		t.Fatalf("looks again at %s", again)
	}
	k.settled(t, all["other"])
	k.down = false
	must(t, k.tell(t, all, "other"), nil)
	k.clock.Advance(10 * time.Minute)
	for range 2 {
		must(t, k.tell(t, all, "one"), nil)
	}
	if len(k.sent) != 1 || !strings.Contains(k.sent[0].Text, "your internet is limited") || k.state(t) != "sent" {
		t.Errorf("%s, sent %+v", k.state(t), k.sent)
	}
}

// TestSend_APrepaidLineThatIsCutAgainIsTold: the news of the first cut was dropped, so it is not the one of the day.
func TestSend_APrepaidLineThatIsCutAgainIsTold(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.args.Template = events.NoticeGarden
	again, err := k.send(t, "first cut")
	must(t, again, err)
	if got := k.state(t); got != "dropped no_longer_true" {
		t.Fatal(got)
	}
	k.appendAfter(t, 1, k.args.OrgID, "dunning-"+k.args.SubscriptionID.String(), events.WalledGardenEntered{
		DunningSubject: events.DunningSubject(k.subject()),
		DunningStep:    events.DunningStep{DueAt: k.args.DueAt, Before: events.DunningReminding, At: noon},
	})
	k.WaitForAll(t, k.delivery.Views, accessviews.DunningName)
	for _, job := range []string{"first cut", "second cut", "third cut"} {
		again, err := k.send(t, job)
		must(t, again, err)
	}
	if len(k.sent) != 1 || k.state(t) != "sent" {
		t.Errorf("%s, sent %+v", k.state(t), k.sent)
	}
}
