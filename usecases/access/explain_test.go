package accesscases_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// world has one organization on a real log, its read models, and the memory from which routers are answered.
type world struct {
	*coretest.Kit
	clock     *clock.Manual
	org       id.Organization
	views     *runner.Views
	directory *directory.Directory
	memory    *runner.Memory
	cases     accesscases.Explanations
	people    int
}

// newWorld starts a world on a Monday at noon in Nairobi, by a clock with nanoseconds. Streams are closed often, so
// that the past lies in several periods of them.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		clock:     clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 345, time.UTC)),
		org:       id.New[id.Organization](),
		directory: directory.New(directory.Config{ClassKey: []byte("key")}),
	}
	w.Kit = coretest.NewWithVault(t, vault.Config{Clock: w.clock},
		subscribersviews.Subscribers{}, subscribersviews.Subscriptions{}, accessviews.Dunning{},
		accessviews.Usage{}, subscribersviews.Timeline{}, networkviews.History{})
	w.Bus = bus.New(bus.Config{
		Store: w.Store, Claims: w.Vault.ClaimKey, Clock: w.clock, Logger: storetest.Quiet(), PeriodLength: 7,
	})
	bus.Register(w.Bus, identity.Organizations())
	bus.Register(w.Bus, subscribers.Subscribers())
	bus.Register(w.Bus, subscribers.Subscriptions())
	bus.Register(w.Bus, access.Dunnings())
	bus.Register(w.Bus, access.Usages())
	w.views = w.Show(t)
	w.memory = w.Memory(t, w.directory)
	coretest.Start(t, "directory", w.memory)
	w.cases = accesscases.Explanations{
		Bus: w.Bus, Settings: usecases.RecordedSettings(w.Bus),
		Subscribers:   subscribersviews.SubscribersQuery{Views: w.views},
		Subscriptions: subscribersviews.SubscriptionsQuery{Views: w.views},
		Dunning:       accessviews.DunningQuery{Views: w.views}, Clock: w.clock, Logger: storetest.Quiet(),
	}
	w.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(w.org, "acme"))
	return w
}

// customer is a subscriber with subscriptions, and what was answered about it at earlier instants.
type customer struct {
	id       id.Subscriber
	lines    []id.Subscription
	owed     map[id.Subscription][]events.DunningOwed
	answered []accesscases.Explanation
}

// register makes a customer with one subscription.
func (w *world) register(t *testing.T, r *rand.Rand) *customer {
	t.Helper()
	c := &customer{id: id.New[id.Subscriber](), owed: map[id.Subscription][]events.DunningOwed{}}
	w.people++
	w.Run(t, coretest.Operator(w.org), coretest.NewSubscriber(c.id, w.org, w.people))
	w.subscribe(t, r, c)
	return c
}

// subscribe gives a customer one more subscription, of a plan with other hours at night.
func (w *world) subscribe(t *testing.T, r *rand.Rand, c *customer) {
	t.Helper()
	line := id.New[id.Subscription]()
	c.lines = append(c.lines, line)
	w.Run(t, coretest.Operator(w.org), commands.CreateSubscription{
		SubscriptionID: line, OrgID: w.org, SubscriberID: c.id, PlanID: id.New[id.Plan](), PlanVersion: 1,
		Terms: events.PlanTerms{
			Name: "Home", Kind: "pppoe", Mode: []events.BillingMode{events.Prepaid, events.Postpaid}[r.IntN(4)/3],
			Period: []calendar.Period{calendar.Day, calendar.Week}[r.IntN(2)], Price: money.Major(1500, money.KES),
			Rates: events.Rates{Down: 10_000, Up: 2_000},
			Access: events.AccessTerms{Schedule: []events.ScheduleWindow{{
				Days: []time.Weekday{0, 1, 2, 3, 4, 5, 6}, From: 22 * 60, To: 6 * 60,
				Speed: events.Speed{Down: 40_000, Up: 8_000},
			}}, Cap: events.Cap{
				Bytes: 1000, Period: "day", Then: []events.CapAct{events.CapStop, events.CapThrottle}[r.IntN(2)],
				Throttle: events.Speed{Down: 1_000, Up: 500},
			}},
		},
		Timezone: "Africa/Nairobi", StartsAt: w.clock.Now().AddDate(0, 0, r.IntN(3)), Username: w.username(line),
	})
}

// username is a name that nobody else has.
func (w *world) username(line id.Subscription) personal.Text {
	return personal.Of("u" + line.String()[24:])
}

// commands draws what happens to a customer.
func (w *world) commands(t *testing.T, r *rand.Rand, c *customer) []commands.Command {
	t.Helper()
	line := c.lines[r.IntN(len(c.lines))]
	s, _, err := bus.LoadOwned[subscribers.Subscription](t.Context(), w.Bus, w.org, line)
	if err != nil {
		t.Fatal(err)
	}
	subject := events.DunningSubject{SubscriptionID: line, OrgID: w.org, SubscriberID: c.id}
	review := w.review(c, subject, s, r)
	invoice := commands.PeriodInvoice(line, 1+r.IntN(1+len(s.Periods)))
	pay := commands.ExtendSubscription{SubscriptionID: line, InvoiceID: invoice, PaidAt: w.clock.Now()}
	switch r.IntN(28) {
	case 0, 1, 2, 14, 15, 16:
		return []commands.Command{commands.MakePeriodDue{SubscriptionID: line}, pay, review}
	case 3:
		return []commands.Command{pay} // the review comes late
	case 4:
		return []commands.Command{commands.WithdrawPeriod{SubscriptionID: line, InvoiceID: invoice, Reason: "bounced"}}
	case 5:
		return []commands.Command{commands.CancelPeriod{SubscriptionID: line, InvoiceID: invoice}, review}
	case 6:
		return []commands.Command{commands.PauseSubscription{SubscriptionID: line, Reason: "away"}}
	case 7:
		return []commands.Command{commands.ResumeSubscription{SubscriptionID: line, Reason: "back"}, review}
	case 8:
		return []commands.Command{commands.BlockSubscriber{SubscriberID: c.id, Reason: "abuse"}}
	case 9, 17, 18:
		return []commands.Command{commands.UnblockSubscriber{SubscriberID: c.id, Reason: "sorry"}}
	case 10:
		return []commands.Command{commands.PlaceHold{
			Subject: subject, Until: w.clock.Now().AddDate(0, 0, 1+r.IntN(9)), Reason: "in hospital",
		}, review}
	case 11:
		return []commands.Command{commands.LiftHold{Subject: subject}, review}
	case 12:
		return []commands.Command{commands.SetCredentials{
			SubscriptionID: line, Username: w.username(id.New[id.Subscription]()), PasswordRef: id.New[id.Secret](),
		}}
	case 19:
		return []commands.Command{
			commands.StopClock{Subject: subject, Cause: "no_line:1", From: w.clock.Now().Add(-time.Hour)},
			commands.StopClock{Subject: subject, Cause: "no_payment:2", From: w.clock.Now()}, review,
		}
	case 20:
		return []commands.Command{commands.StartClock{Subject: subject, Cause: "no_line:1", Until: pay.PaidAt}, review}
	case 21, 22:
		return []commands.Command{
			commands.StartClock{Subject: subject, Cause: "no_line:1", Until: w.clock.Now()},
			commands.StartClock{Subject: subject, Cause: "no_payment:2", Until: w.clock.Now()}, review,
		}
	case 24, 25, 26:
		return []commands.Command{w.traffic(subject, s.Terms.Access.Cap, r)}
	case 13:
		if r.IntN(5) == 0 {
			return []commands.Command{commands.EndSubscription{SubscriptionID: line, Reason: "moved"}}
		}
	}
	return []commands.Command{review}
}

// traffic counts what a line used on the present day, or adds to its cap.
func (w *world) traffic(about events.DunningSubject, cap events.Cap, r *rand.Rand) commands.Command {
	zone, terms := time.FixedZone("EAT", 3*60*60), commands.CapTerms{Cap: cap, Timezone: "Africa/Nairobi"}
	starts := calendar.On(w.clock.Now(), zone)
	if r.IntN(3) == 0 {
		return commands.AddTopUp{
			Subject: events.UsageSubject(about), TopUpID: id.New[id.TopUp](), Bytes: 900, Terms: terms, Starts: starts,
		}
	}
	return commands.CountTraffic{
		Subject: events.UsageSubject(about), Terms: terms, Starts: starts, Used: int64(900 + r.IntN(1000)),
	}
}

// review looks at what a subscription owes, by a policy with a grace of one day or none.
func (w *world) review(
	c *customer, about events.DunningSubject, s subscribers.Subscription, r *rand.Rand,
) commands.Command {
	owed := events.DunningOwed{At: w.clock.Now(), PaidUntil: s.PaidUntil()}
	if s.State != subscribers.Active || s.Terms.Mode == events.Postpaid {
		owed.PaidUntil = time.Time{}
	}
	if s.State == subscribers.Active && r.IntN(5) > 0 {
		owed.Debts = []events.DunningDebt{{
			InvoiceID: commands.PeriodInvoice(s.ID, 1), Amount: money.Major(1500, money.KES),
			DueOn: calendar.On(s.StartsAt, time.UTC),
		}}
	}
	c.owed[s.ID] = append(c.owed[s.ID], owed)
	return commands.ReviewDunning{
		Subject: about, Owed: slices.Clone(c.owed[s.ID]), Rules: commands.DunningRules{
			Zone: time.FixedZone("EAT", 3*60*60), Policy: events.DunningPolicy{
				GraceDays: r.IntN(2), WalledGardenDays: 1, WriteOffDays: 6, MinimumDue: money.Major(50, money.KES),
			},
		},
	}
}

// settle waits until all see the end of the log.
func (w *world) settle(t *testing.T) {
	t.Helper()
	w.WaitForAll(t, w.views, subscribersviews.SubscribersName, subscribersviews.SubscriptionsName,
		accessviews.DunningName, accessviews.UsageName)
	head, err := w.Store.Head(t.Context())
	if err == nil {
		err = w.memory.WaitFor(t.Context(), head)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// explain asks for an instant; zero is the present.
func (w *world) explain(t *testing.T, c *customer, at time.Time) accesscases.Explanation {
	t.Helper()
	x, err := w.cases.Of(t.Context(), w.org, c.id, at)
	if err != nil {
		t.Fatal(err)
	}
	return *x
}

// check compares the read models, the log and the directory at the present instant.
func (w *world) check(t *testing.T, c *customer) {
	t.Helper()
	now := w.clock.Now()
	shown, folded := w.explain(t, c, time.Time{}), w.explain(t, c, now)
	if diff := cmp.Diff(shown, folded); diff != "" {
		t.Fatalf("at %v the read models and the log differ (-read models +log)\n%s", now, diff)
	}
	rows, err := w.cases.Subscriptions.List(t.Context(), w.org, subscribersviews.SubscriptionFilter{Subscriber: c.id},
		subscribersviews.SubscriptionKey{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shown.Services {
		held, found := w.directory.Holder(w.org, nil, s.Username, now)
		answered := w.directory.Present(held.SubscriptionID, now)
		if s.State == entitlement.Ended {
			found = true // its name may be another one's, and only what it gives is compared
			answered = w.directory.Present(s.SubscriptionID, now)
		}
		if !found || answered.Grant.Access != s.Access || answered.Grant.Down != s.Rate.Speed.Down ||
			answered.Grant.Up != s.Rate.Speed.Up || answered.Code != s.Decided.Code {
			t.Fatalf("at %v routers are answered %+v %v, explained is %+v", now, answered, found, s.Service)
		}
		at := slices.IndexFunc(rows, func(r subscribersviews.SubscriptionRow) bool { return r.ID == s.SubscriptionID })
		unpaid := []entitlement.Code{
			entitlement.CodeAwaitingPayment, entitlement.CodeExpired, entitlement.CodeOverdue,
			entitlement.CodeSuspended,
		}
		if rows[at].Terms.Mode == events.Prepaid && s.PaidUntil.After(now) &&
			slices.Contains(unpaid, s.Decided.Code) {
			t.Fatalf("at %v %s although it is paid until %v", now, s.Decided.Code, s.PaidUntil)
		}
		steps, err := w.cases.Dunning.Steps(t.Context(), w.org, []id.Subscription{s.SubscriptionID})
		if err != nil {
			t.Fatal(err)
		}
		used, err := accessviews.UsageQuery{Views: w.views}.Reached(t.Context(), w.org,
			[]id.Subscription{s.SubscriptionID})
		if err != nil {
			t.Fatal(err)
		}
		rows[at].Dunning, rows[at].Used = steps[s.SubscriptionID], used[s.SubscriptionID]
		if got := rows[at].Access(now); got != s.Access.String() {
			t.Fatalf("at %v the list says %s, explained is %s", now, got, s.Access)
		}
	}
	c.answered = append(c.answered, shown)
}

// TestExplanations_ReadModelsLogAndRoutersAgreeAtEachInstant: whatever happens to customers, what the API says, what
// routers are answered and what the log leads to are the same at each instant, and the same when it is asked later.
// Nobody who has prepaid up to the instant is refused for want of payment.
func TestExplanations_ReadModelsLogAndRoutersAgreeAtEachInstant(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(t), rand.New(rand.NewPCG(seed, 0))
			var people []*customer
			for range 9 {
				people = append(people, w.register(t, r))
			}
			for range 18 {
				for _, c := range people {
					if r.IntN(30) == 0 {
						w.subscribe(t, r, c)
					}
					w.happens(t, w.commands(t, r, c)...)
				}
				w.settle(t)
				for _, c := range people {
					w.check(t, c)
				}
				w.clock.Advance(time.Duration(1+r.IntN(48)) * time.Hour)
			}
			seen := map[entitlement.Code]int{}
			for _, c := range people {
				for _, then := range c.answered {
					if diff := cmp.Diff(then, w.explain(t, c, then.At)); diff != "" {
						t.Fatalf("about %v (-then +now)\n%s", then.At, diff)
					}
					for _, reason := range then.Entitlement.Reasons {
						seen[reason.Code]++
					}
				}
			}
			for _, code := range []entitlement.Code{
				entitlement.CodePaid, entitlement.CodeGrace, entitlement.CodeOverdue, entitlement.CodeSuspended,
				entitlement.CodeExpired, entitlement.CodeBlocked, entitlement.CodePaused,
			} {
				if seen[code] == 0 {
					t.Errorf("nobody was ever %s: %v", code, seen)
				}
			}
		})
	}
}

// happens executes commands; what the rules refuse does not happen.
func (w *world) happens(t *testing.T, list ...commands.Command) {
	t.Helper()
	for _, c := range list {
		if _, err := w.Bus.Execute(t.Context(), c, coretest.Operator(w.org)); err != nil &&
			failure.KindOf(err) != failure.Conflict && failure.KindOf(err) != failure.NotFound {
			t.Fatalf("%s: %v", c.CommandName(), err)
		}
	}
}

// TestExplanations_AnInstantAsItIsShownHasItsEvent: answers have whole microseconds, and what happened in one of them
// holds at that instant.
func TestExplanations_AnInstantAsItIsShownHasItsEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.register(t, rand.New(rand.NewPCG(0, 0)))
	w.clock.Advance(time.Hour)
	w.happens(t, commands.BlockSubscriber{SubscriberID: c.id, Reason: "abuse"})
	w.settle(t)
	shown := w.explain(t, c, time.Time{}).Entitlement.Reasons
	w.clock.Advance(time.Minute)
	for _, reason := range shown {
		then := w.explain(t, c, reason.Since)
		if !slices.ContainsFunc(then.Entitlement.Reasons, func(r entitlement.Reason) bool {
			return r.Code == reason.Code && r.Since.Equal(reason.Since)
		}) {
			t.Errorf("%s since %s; at that instant %+v", reason.Code, reason.Since, then.Entitlement.Reasons)
		}
	}
	before := w.explain(t, c, shown[0].Since.Add(-time.Microsecond))
	if shown[0].Code != entitlement.CodeBlocked || before.Entitlement.Reasons[0].Code == entitlement.CodeBlocked {
		t.Errorf("%+v, a microsecond before %+v", shown, before.Entitlement.Reasons)
	}
}

func TestExplanations_RefuseTheFutureAndWhatWasBeforeTheCustomer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.register(t, rand.New(rand.NewPCG(0, 0)))
	w.settle(t)
	for _, at := range []time.Time{w.clock.Now().Add(time.Second), w.clock.Now().Add(-time.Second)} {
		_, err := w.cases.Of(t.Context(), w.org, c.id, at)
		coretest.Refused(t, at.String(), err, "invalid_input")
	}
	_, err := w.cases.Of(t.Context(), id.New[id.Organization](), c.id, time.Time{})
	coretest.Refused(t, "another organization", err, "subscriber_not_found")
	if x := w.explain(t, c, time.Time{}); x.Observed != accesscases.Unknown || len(x.Services) != 1 ||
		!strings.HasPrefix(x.Services[0].Username, "u") || x.Services[0].PlanName != "Home" {
		t.Errorf("without telemetry: %+v", x)
	}
}
