package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// payer is a prepaid customer who is due to be cut.
type payer struct {
	phone, account, customer, line string
}

// twoPrograms runs the log by itself, and two programs beside it that both answer requests and do all work.
func (k *kit) twoPrograms() {
	k.t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(k.t.Context()))
	var out, errs logBuffer
	ended := make(chan int, 1)
	go func() { ended <- program{environ: k.environ, out: &out, err: &errs}.run(ctx, []string{"eventstore"}) }()
	atEnd(k.t, func() {
		stop()
		<-ended
	})
	k.eventually("event store node",
		func(context.Context) (bool, error) { return strings.HasPrefix(out.String(), "esdb://"), nil })
	k.environ = append(k.environ, "EVENTSTORE_URL="+strings.TrimSpace(out.String()))
	for range 2 {
		app, err := StartApp(k.t.Context(), k.config(), roles{roleAPI, roleProjections, roleProcesses, roleJobs},
			slog.New(withoutRequests{slog.NewJSONHandler(k.log, nil)}), k.options())
		if err != nil {
			k.t.Fatalf("start: %v", err)
		}
		atEnd(k.t, app.Stop)
		if k.app == nil {
			k.app, k.addr = app, app.Addr()
			k.environ = append(k.environ, "PAYMENT_CALLBACK_URL="+app.callbackURL())
		}
	}
}

// cutsOf counts how often the log has a customer enter the walled garden and leave dunning.
func (k *kit) cutsOf(p payer) (garden, ended int) {
	k.t.Helper()
	line := id.Must[id.Subscription](p.line)
	list, err := bus.HistoryUnchecked[access.Dunning](k.t.Context(), k.app.engines.bus, line)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, e := range list {
		switch e.Event.(type) {
		case events.WalledGardenEntered:
			garden++
		case events.DunningEnded:
			ended++
		}
	}
	return garden, ended
}

// Customers pay one after the other while the instant comes at which all of them are cut: some right before it, some
// right after it, and some never. Two programs work on the same data, so each job and timer is one of both.
func TestDunning_APaymentAndACutInTheSameInstant(t *testing.T) {
	t.Parallel()
	const paying, owing, late = 12, 2, 2
	k, now := newKit(t), clock.NewMovable(clock.System(), 0)
	k.clock = now
	k.twoPrograms()
	k.signIn()
	k.paybillReady()
	k.dunningDays(map[string]any{ // all are cut at one instant, when the only day with cuts begins
		"graceDays":    1,
		"noCutDays":    weekdaysBut(t, now.Now().AddDate(0, 1, 4)), // days after the one day of grace
		"messageHours": map[string]string{"from": "00:00", "to": "24:00"},
	})
	all, cut := k.overdue(now, paying+owing)
	k.jump(now, cut.Add(-3*time.Second))
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for i, p := range all[:paying] { // the real time passes the instant meanwhile
		if i >= paying-late {
			k.dunning(p.line, events.DunningWalledGarden)
		}
		k.pay(p.phone, p.account, 1500)
		<-tick.C
	}
	if !now.Now().After(cut) {
		t.Fatalf("the payments ended at %v, before the cut", now.Now())
	}
	k.nobodyWhoPaidIsCut(all[:paying])
	for _, p := range all[paying:] {
		k.dunning(p.line, events.DunningWalledGarden)
		k.eventually("one message to "+p.phone, func(ctx context.Context) (bool, error) {
			got, err := k.toldOfCuts(ctx, p)
			return slices.Equal(got, []string{"walled_garden"}), err
		})
	}
	k.jump(now, cut.Add(3*time.Hour)) // whatever was due again by then has come
	k.nobodyWhoPaidIsCut(all[:paying])
	cuts := map[int]int{}
	for i, p := range all {
		garden, ended := k.cutsOf(p)
		if garden > 1 || i < paying && ended != 1 || i >= paying && (garden != 1 || ended != 0) {
			t.Errorf("customer %d: %d cuts, %d ends", i, garden, ended)
		}
		if i < paying {
			cuts[garden]++
		}
	}
	t.Logf("of those who paid %d were cut before, and %d were not", cuts[1], cuts[0])
}

// weekdaysBut are the names of the days of the week without that of an instant in the organization's zone.
func weekdaysBut(t *testing.T, at time.Time) (names []string) {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if day != at.In(zone).Weekday() {
			names = append(names, strings.ToLower(day.String()))
		}
	}
	return names
}

// overdue makes customers whose paid time is over and who have the next invoice, and gives the one instant at which all
// of them are cut.
func (k *kit) overdue(now *clock.Movable, n int) (all []payer, cut time.Time) {
	k.t.Helper()
	plan := k.plan("home", 1500)
	for i := range n {
		p := payer{phone: fmt.Sprintf("2547110009%02d", i)}
		p.customer, p.account = k.subscriber(p.phone)
		p.line = k.subscribe(p.customer, plan)
		k.issued(p.customer, 1)
		k.pay(p.phone, p.account, 1500)
		all = append(all, p)
	}
	var until time.Time
	for _, p := range all {
		at, err := time.Parse(time.RFC3339Nano, k.paidUntil(p.line, ""))
		if err != nil {
			k.t.Fatal(err)
		}
		until = at
	}
	k.jump(now, until.Add(time.Minute))
	cut = k.dunning(all[0].line, events.DunningReminding).Reviewed.NextAt
	for _, p := range all {
		if next := k.dunning(p.line, events.DunningReminding).Reviewed.NextAt; !next.Equal(cut) {
			k.t.Fatalf("cut at %v and at %v", cut, next)
		}
		k.issued(p.customer, 2)
	}
	return all, cut
}

// jump moves the clock of all programs and signs in anew.
func (k *kit) jump(c *clock.Movable, to time.Time) {
	k.t.Helper()
	c.Advance(to.Sub(c.Now()))
	k.root, _ = k.login("", testRootEmail, testPassword)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
}

// nobodyWhoPaidIsCut waits until customers who have paid have all access, and have been told of a cut and then of its
// end, each once, or of no cut: one that was over before it could be told may leave the news of its end alone.
func (k *kit) nobodyWhoPaidIsCut(list []payer) {
	k.t.Helper()
	for _, p := range list {
		k.dunning(p.line, events.DunningNone)
		k.eventually("full access of "+p.phone, func(ctx context.Context) (bool, error) {
			a, err := k.admin.call(ctx, "GET", "/subscribers/"+p.customer+"/access", "", nil)
			return a.text("entitled") == "full", err
		})
		k.eventually("the last message to "+p.phone+" to be the restoration", func(ctx context.Context) (bool, error) {
			got, err := k.toldOfCuts(ctx, p)
			if err != nil {
				return false, err
			}
			ends := slices.Equal(got, []string{"restored"}) || slices.Equal(got, []string{"walled_garden", "restored"})
			return ends || len(got) == 0, fmt.Errorf("told %v", got)
		})
	}
}

// toldOfCuts are the templates of the messages about a cut and its end, the oldest first.
func (k *kit) toldOfCuts(ctx context.Context, p payer) (got []string, err error) {
	list, err := k.devMessages(ctx, "+"+p.phone)
	for _, m := range list {
		if name := m.text("template"); name == "walled_garden" || name == "restored" {
			got = append(got, name)
		}
	}
	return got, err
}
