package bookscases_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers/access/dunning"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// dunned has the decisions of dunning in a simulation, under a policy, and the access that follows from them.
// It is a worker that only hears.
type dunned struct {
	*rules[access.Dunning, commands.DunningCommand, events.DunningEvent]
	s         *simulation
	process   *instances
	zone      *time.Location
	policy    events.DunningPolicy
	histories map[id.Subscriber]*entitlement.History
}

// withDunning lets dunning work in the simulation. Each thing that a process does takes a moment.
func (s *simulation) withDunning() {
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		s.t.Fatal(err)
	}
	s.dunned = &dunned{
		rules: under(s.world, access.Dunnings()), s: s, process: newInstances(s, dunning.Process()), zone: zone,
		policy: access.DefaultDunningPolicy(money.KES), histories: map[id.Subscriber]*entitlement.History{},
	}
	s.workers = append(s.workers, s.dunned.process, s.dunned)
	s.pace = time.Millisecond
}

// decide decides a command by the rules that hold.
func (d *dunned) decide(c commands.DunningCommand) error {
	if review, ok := c.(commands.ReviewDunning); ok {
		review.Rules = commands.DunningRules{Policy: d.policy, Zone: d.zone}
		c = review
	}
	_, err := d.try(c)
	return err
}

// hear follows the access of everybody.
func (d *dunned) hear(e events.Envelope) {
	switch v := e.Event.(type) {
	case events.SubscriptionCreated:
		if d.histories[v.SubscriberID] == nil {
			d.histories[v.SubscriberID] = &entitlement.History{}
		}
		d.histories[v.SubscriberID].Apply(e)
	case events.SubscriptionEvent, events.DunningEvent:
		for _, h := range d.histories {
			h.Apply(e)
		}
	}
}

func (d *dunned) lanes() []lane        { return nil }
func (d *dunned) first() (alarm, bool) { return alarm{}, false }

// access is that of a subscription now.
func (d *dunned) access(of id.Subscription) entitlement.Access {
	h := d.histories[d.s.line(of).SubscriberID]
	for _, line := range entitlement.Of(h.State(d.zone), d.s.now).Services {
		if line.SubscriptionID == of {
			return line.Access
		}
	}
	return entitlement.None
}

// counting are the invoices of the account that count for a subscription, the first due first.
func (d *dunned) counting(of id.Subscription) []billing.Invoice {
	var list []billing.Invoice
	for _, i := range d.s.account(d.s.line(of).SubscriberID).Invoices {
		own := i.SubscriptionID == of || i.SubscriptionID.IsZero() && (i.SoldTo.IsZero() || i.SoldTo == of)
		if i.Seq > 0 && !i.Order && own {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b billing.Invoice) int {
		return a.DueOn.Start(time.UTC).Compare(b.DueOn.Start(time.UTC))
	})
	return list
}

// due is the instant from which the days of a subscription count, by the books alone; zero = nothing is owed.
func (d *dunned) due(of id.Subscription) time.Time {
	if line := d.s.line(of); line.Terms.Mode == events.Prepaid {
		return line.PaidUntil()
	}
	sum := kes(0)
	for _, i := range d.counting(of) {
		if sum = sum.Add(i.Due); sum.Cmp(d.policy.MinimumDue) >= 0 {
			return i.DueOn.AddDays(1).Start(d.zone)
		}
	}
	return time.Time{}
}

// pauses are the operations that stop the clock of dunning, and let it go on.
func (d *dunned) pauses() []operation {
	subject := func() events.DunningSubject {
		of, _ := pick(d.s, d.s.subscriptions, "subscription")
		return events.DunningSubject{SubscriptionID: of, OrgID: d.s.org, SubscriberID: d.s.line(of).SubscriberID}
	}
	ago := func(units int64) time.Time { return d.s.now.Add(-time.Duration(units) * time.Minute) }
	const cause = "no_line"
	return []operation{
		{"hold", 1, func(s *simulation, _ id.Subscriber, units int64) commands.Command {
			until := s.now.Add(days(int(units / 100)))
			return commands.PlaceHold{Subject: subject(), Until: until, Reason: "in hospital"}
		}},
		{"lift a hold", 1, func(*simulation, id.Subscriber, int64) commands.Command {
			return commands.LiftHold{Subject: subject()}
		}},
		{"stop the clock", 1, func(_ *simulation, _ id.Subscriber, units int64) commands.Command {
			return commands.StopClock{Subject: subject(), Cause: cause, From: ago(units)}
		}},
		{"start the clock", 2, func(_ *simulation, _ id.Subscriber, units int64) commands.Command {
			return commands.StartClock{Subject: subject(), Cause: cause, Until: ago(units)}
		}},
	}
}

// follows compares the access of each subscription with the books, when nothing waits and nothing was owed or paid for
// some time. Where a debt was given up, other rules decide, and where the clock ever stood still, cuts come later.
func (d *dunned) follows(quiet time.Duration) {
	for _, of := range d.s.subscriptions {
		line := d.s.line(of)
		account := d.s.account(line.SubscriberID)
		lost := len(account.Archived) > 0
		for _, r := range account.Receipts {
			lost = lost || r.WriteOff
		}
		now := d.states[id.As[id.Any](of)]
		stood := len(now.Stopped)+len(now.Pauses) > 0 || !now.HoldFrom.IsZero()
		due, got := d.due(of), d.access(of)
		grace, garden := due.AddDate(0, 0, 3), due.AddDate(0, 0, 3+7)
		wrong := ""
		switch {
		case line.State != subscribers.Active || lost || line.Terms.Mode == events.Prepaid && due.IsZero():
		case due.IsZero() || d.s.now.Before(grace):
			if got != entitlement.Full {
				wrong = "the grace is not over"
			}
		case stood:
		case quiet > days(20) && d.s.now.After(garden.Add(days(10))) && got != entitlement.None:
			wrong = "the walled garden is over"
		case quiet > days(6) && d.s.now.After(grace.Add(days(5))) && got == entitlement.Full:
			wrong = "the grace is over"
		}
		if wrong != "" {
			d.s.fail("%s has %s, %s: due at %s, now %s; dunning %+v", of, got, wrong, due, d.s.now, now)
		}
	}
}

// TestSimulation_AccessFollowsTheBooks: whatever customers and clerks do, and in whatever order the processes follow
// it, who is paid up or in grace has access, and who is not has none.
func TestSimulation_AccessFollowsTheBooks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(t)
		s.withDunning()
		mode := rapid.SampledFrom([]events.BillingMode{events.Postpaid, events.Prepaid}).Draw(t, "mode")
		s.must(
			s.subscription(made[id.Subscription](s), s.amina, mode, calendar.Month),
			s.subscription(made[id.Subscription](s), s.brian, mode, calendar.Month),
		)
		// An order whose payment is taken back is due at once, whatever its invoice says.
		orders := func(o operation) bool { return o.name == "order" }
		all := weighted(append(slices.DeleteFunc(operations(), orders), s.dunned.pauses()...))
		for range rapid.IntRange(5, 40).Draw(t, "operations") {
			s.operate(all)
			for range rapid.IntRange(0, 4).Draw(t, "steps") {
				s.step()
			}
			if s.one(2, "time passes") {
				s.elapse(s.jump(calendar.Month))
				s.dunned.follows(0)
			}
		}
		s.elapse(3 * time.Hour)
		s.dunned.follows(0)
		s.elapse(days(25))
		s.dunned.follows(days(25))
	})
}

// Amina has not paid her invoices of February, for which a write-off is proposed, March and April. On May 1, a day
// into the grace of the last one, she pays the first two.
func TestDunning_OnePaymentOfTwoMonthsIsWorthAsMuchAsTwo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(t)
		s.withDunning()
		s.must(s.subscription(made[id.Subscription](s), s.amina, events.Postpaid, calendar.Month))
		s.elapse(time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC).Sub(s.now))
		line := s.subscriptions[0]
		if got := s.dunned.states[id.As[id.Any](line)].State; got != events.DunningWrittenOff {
			s.fail("the state is %s", got)
		}
		for _, units := range rapid.SampledFrom([][]int64{{2000}, {1000, 1000}}).Draw(t, "payments") {
			s.must(s.cash(s.amina, units))
		}
		for range 2 {
			if got := s.dunned.access(line); got != entitlement.Full {
				s.fail("access is %s: %+v", got, s.dunned.states[id.As[id.Any](line)])
			}
			s.elapse(days(1))
		}
	})
}

// Amina pays 999 of 1,000, a clerk gives up the last one, and the payment is taken back: 999 are owed, and due on
// February 28.
func TestDunning_APaymentTakenBackAfterItsRestWasGivenUpIsOwed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(t)
		s.withDunning()
		paid := s.cash(s.amina, 999)
		s.must(
			s.subscription(made[id.Subscription](s), s.amina, events.Postpaid, calendar.Month), paid,
			commands.WriteOffDebt{SubscriberID: s.amina, WriteOffID: made[id.Receipt](s), Reason: "a shilling"},
			commands.ReverseReceipt{ReceiptID: paid.ReceiptID, OrgID: s.org, Reason: "returned"},
		)
		s.elapse(time.Date(2026, 3, 17, 0, 0, 0, 0, time.UTC).Sub(s.now))
		if got := s.dunned.access(s.subscriptions[0]); got != entitlement.None {
			s.fail("access is %s, owed %s", got, s.account(s.amina).Owed())
		}
	})
}

// Amina owes two months; the older one has suspended her, the younger one is in its grace. She pays the older one while
// the clock is ahead, and of the other one five minutes later, when the clock is right.
func TestDunning_WhoPaysWhileTheClockIsAheadAndAgainWhenItIsRightHasAccess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(t)
		s.withDunning()
		s.must(s.subscription(made[id.Subscription](s), s.amina, events.Postpaid, calendar.Month))
		s.elapse(time.Date(2026, 4, 2, 6, 0, 0, 0, time.UTC).Sub(s.now))
		line, right := s.subscriptions[0], s.now
		ahead := []time.Duration{0, time.Hour, days(1), days(12), days(366)}
		s.now = right.Add(rapid.SampledFrom(ahead).Draw(t, "ahead"))
		s.must(s.cash(s.amina, 1000))
		s.now = right.Add(5 * time.Minute)
		s.must(s.cash(s.amina, rapid.SampledFrom([]int64{500, 1000, 3000}).Draw(t, "units")))
		for range 24 {
			if got := s.dunned.access(line); got != entitlement.Full {
				s.fail("access is %s: %+v", got, s.dunned.states[id.As[id.Any](line)])
			}
			s.elapse(time.Hour)
		}
	})
}

// Amina is cut, and her subscription is paused for a while: it gives her nothing back, and what was left of the walled
// garden is left afterwards. Whoever pays meanwhile is full when the pause is over.
func TestDunning_APauseGivesNoAccessBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(t)
		s.withDunning()
		mode := rapid.SampledFrom([]events.BillingMode{events.Postpaid, events.Prepaid}).Draw(t, "mode")
		s.must(s.subscription(made[id.Subscription](s), s.amina, mode, calendar.Month))
		if mode == events.Prepaid {
			s.must(s.cash(s.amina, 1000))
		}
		line := s.subscriptions[0]
		state := func() events.DunningState { return s.dunned.states[id.As[id.Any](line)].State }
		for !state().Cut() {
			s.elapse(days(1))
		}
		s.elapse(days(rapid.IntRange(0, 12).Draw(t, "days until the pause")))
		before := state()
		s.must(commands.PauseSubscription{SubscriptionID: line, Reason: "router swap"})
		s.elapse(rapid.SampledFrom([]time.Duration{0, time.Second, days(1), days(40)}).Draw(t, "length"))
		if pays := s.one(3, "pays"); pays {
			s.must(s.cash(s.amina, 5000))
			s.elapse(time.Minute)
			before = events.DunningNone
		}
		s.must(commands.ResumeSubscription{SubscriptionID: line, Reason: "done"})
		for range 4 {
			if got := state(); got != before {
				s.fail("the state is %s after %s: %+v", got, before, s.dunned.states[id.As[id.Any](line)])
			}
			want := map[events.DunningState]entitlement.Access{
				events.DunningNone: entitlement.Full, events.DunningWalledGarden: entitlement.WalledGarden,
			}[before]
			if got := s.dunned.access(line); got != want {
				s.fail("access is %s in %s", got, before)
			}
			s.elapse(time.Minute)
		}
		if before != events.DunningNone {
			s.elapse(days(14))
			if got := s.dunned.access(line); got != entitlement.None {
				s.fail("access is %s two weeks later", got)
			}
		}
	})
}
