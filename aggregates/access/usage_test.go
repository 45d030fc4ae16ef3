package access_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// The line of these tests may use 1,000 bytes in a month of Nairobi, and is stopped after that.
var (
	usage = events.UsageSubject{
		SubscriptionID: id.Derive[id.Subscription]("amina"), OrgID: org,
		SubscriberID: id.Derive[id.Subscriber]("amina"),
	}
	monthly = commands.CapTerms{
		Cap: events.Cap{Bytes: 1000, Period: "month", Then: events.CapStop}, Timezone: "Africa/Nairobi",
	}
	noon  = time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
	march = events.CapPeriod{
		Period: "month", Starts: calendar.Date{Year: 2026, Month: 3, Day: 1},
		ResetsAt: time.Date(2026, 3, 31, 21, 0, 0, 0, time.UTC),
	}
)

// counted is a count of March.
func counted(used int64) commands.CountTraffic {
	return commands.CountTraffic{Subject: usage, Terms: monthly, Starts: march.Starts, Used: used}
}

// of writes bytes as the events of the line do.
func of(used, allowed int64) events.CapCount {
	return events.CapCount{Allowed: allowed, Used: used, Then: events.CapStop}
}

// added is a top-up of 500 bytes in March.
func added(name string, used int64) commands.AddTopUp {
	return commands.AddTopUp{
		Subject: usage, TopUpID: id.Derive[id.TopUp](name), Bytes: 500, Reason: "the match", Terms: monthly,
		Starts: march.Starts, Used: used,
	}
}

func TestUsage_EachGradeIsRecordedOnceInAPeriod(t *testing.T) {
	t.Parallel()
	first := counted(10)
	first.FirstSeen = noon.Add(-time.Hour)
	april := march
	april.Starts.Month, april.ResetsAt = 4, time.Date(2026, 4, 30, 21, 0, 0, 0, time.UTC)
	inApril := counted(900)
	inApril.Starts = april.Starts
	next := march.ResetsAt.Add(time.Hour)
	decidertest.For(t, access.Usages(), noon).BelongsTo(id.Organization{}, "not_found").
		When(counted(10)).ThenNothing().
		When(first).Then(events.FirstSessionBegan{UsageSubject: usage, BeganAt: noon.Add(-time.Hour), At: noon}).
		When(first).ThenNothing().BelongsTo(org, "not_found").
		When(counted(799)).ThenNothing().
		When(counted(800)).
		Then(events.CapWarned{UsageSubject: usage, CapPeriod: march, CapCount: of(800, 1000), At: noon}).
		When(counted(999)).ThenNothing().SurvivesClosing().
		When(counted(1000)).
		Then(events.CapReached{UsageSubject: usage, CapPeriod: march, CapCount: of(1000, 1000), At: noon}).
		When(counted(5000)).ThenNothing().When(counted(900)).ThenNothing(). // an older count comes late
		At(next).When(inApril).Then(
		events.CapReset{
			UsageSubject: usage, CapPeriod: march, CapCount: events.CapCount{Used: 1000},
			Reason: events.ResetPeriodOver, At: next,
		},
		events.CapWarned{UsageSubject: usage, CapPeriod: april, CapCount: of(900, 1000), At: next},
	).When(counted(9000)).ThenNothing()
}

func TestUsage_ACapIsResetOnceAndNotBeforeItsTime(t *testing.T) {
	t.Parallel()
	reset := commands.ResetCap{Subject: usage, Starts: march.Starts}
	other := commands.ResetCap{Subject: usage, Starts: calendar.Date{Year: 2026, Month: 2, Day: 1}}
	later := march.ResetsAt.AddDate(1, 0, 0)
	decidertest.For(t, access.Usages(), noon).When(reset).ThenNothing().
		When(counted(1500)).
		Then(events.CapReached{UsageSubject: usage, CapPeriod: march, CapCount: of(1500, 1000), At: noon}).
		When(reset).ThenNothing().At(later).When(other).ThenNothing().
		When(reset).Then(events.CapReset{
		UsageSubject: usage, CapPeriod: march, CapCount: events.CapCount{Used: 1500}, Reason: events.ResetPeriodOver,
		At: later,
	}).When(reset).ThenNothing()
}

func TestUsage_ATopUpEndsTheCapAtOnceAndCountsUntilItsPeriodIsOver(t *testing.T) {
	t.Parallel()
	unlimited := added("two", 0)
	unlimited.Terms.Cap = events.Cap{}
	huge := added("three", 1100)
	huge.Bytes = 1 << 50
	sold := added("two", 1600)
	sold.Price = money.Major(250, money.KES)
	topUp := func(name string, used, allowed int64) events.TopUpAdded {
		return events.TopUpAdded{
			UsageSubject: usage, TopUpID: id.Derive[id.TopUp](name), Bytes: 500, CapPeriod: march,
			CapCount: of(used, allowed), Reason: personal.Of("the match"), At: noon,
		}
	}
	invoiced := topUp("two", 1600, 2000)
	invoiced.Price, invoiced.InvoiceID = sold.Price, id.Derive[id.Invoice]("top_up", sold.TopUpID.String())
	decidertest.For(t, access.Usages(), noon).
		When(unlimited).ThenFails("no_cap").
		When(counted(1600)).
		Then(events.CapReached{UsageSubject: usage, CapPeriod: march, CapCount: of(1600, 1000), At: noon}).
		When(added("one", 1600)).Then(topUp("one", 1600, 1500)).
		When(added("one", 1600)).ThenNothing().
		When(huge).ThenFails("invalid_input").
		When(sold).Then(invoiced, events.CapReset{
		UsageSubject: usage, CapPeriod: march, CapCount: of(1600, 2000), Reason: events.ResetTopUp, At: noon,
	}).SurvivesClosing().
		When(counted(1999)).ThenNothing(). // the warning was given
		When(counted(2000)).
		Then(events.CapReached{UsageSubject: usage, CapPeriod: march, CapCount: of(2000, 2000), At: noon})
}

func TestUsage_ATopUpThatIsLargeLeadsToAnotherWarning(t *testing.T) {
	t.Parallel()
	topUp := events.TopUpAdded{
		UsageSubject: usage, TopUpID: id.Derive[id.TopUp]("one"), Bytes: 500, CapPeriod: march, CapCount: of(900, 1500),
		Reason: personal.Of("the match"), At: noon,
	}
	decidertest.For(t, access.Usages(), noon).
		Given(events.CapWarned{UsageSubject: usage, CapPeriod: march, CapCount: of(900, 1000), At: noon}).
		When(added("one", 900)).Then(topUp).When(counted(1100)).ThenNothing().
		When(counted(1300)).
		Then(events.CapWarned{UsageSubject: usage, CapPeriod: march, CapCount: of(1300, 1500), At: noon})
}

func TestUsage_APlanThatAllowsMoreEndsTheCap(t *testing.T) {
	t.Parallel()
	larger, none, daily := counted(1500), counted(1500), counted(0)
	larger.Terms.Cap.Bytes = 2000
	none.Terms.Cap = events.Cap{}
	daily.Terms.Cap.Period, daily.Starts = "day", calendar.Date{Year: 2026, Month: 3, Day: 20}
	for name, c := range map[string]struct {
		is   commands.CountTraffic
		want events.CapCount
	}{
		"larger": {larger, of(1500, 2000)}, "none": {none, events.CapCount{Used: 1500}},
		"another period": {daily, events.CapCount{Used: 1500}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decidertest.For(t, access.Usages(), noon).
				Given(events.CapReached{UsageSubject: usage, CapPeriod: march, CapCount: of(1500, 1000), At: noon}).
				When(c.is).Then(events.CapReset{
				UsageSubject: usage, CapPeriod: march, CapCount: c.want, Reason: events.ResetPlanChanged, At: noon,
			}).When(c.is).ThenNothing()
		})
	}
}

func TestUsage_APeriodEndsWhereTheZoneSays(t *testing.T) {
	t.Parallel()
	west := counted(1500)
	west.Terms.Timezone = "America/New_York"
	moved := march
	moved.ResetsAt = time.Date(2026, 4, 1, 4, 0, 0, 0, time.UTC)
	decidertest.For(t, access.Usages(), noon).
		Given(events.CapReached{UsageSubject: usage, CapPeriod: march, CapCount: of(1500, 1000), At: noon}).
		When(west).Then(events.CapPeriodMoved{UsageSubject: usage, CapPeriod: moved, At: noon}).
		When(west).ThenNothing()

	// The first of April has begun in Nairobi. In New York it is still March: what was counted stays in April.
	april := march
	april.Starts.Month, april.ResetsAt = 4, time.Date(2026, 4, 30, 21, 0, 0, 0, time.UTC)
	night, kept := march.ResetsAt.Add(time.Hour), april
	kept.ResetsAt = time.Date(2026, 5, 1, 4, 0, 0, 0, time.UTC)
	decidertest.For(t, access.Usages(), night).
		Given(events.CapReached{UsageSubject: usage, CapPeriod: april, CapCount: of(1500, 1000), At: night}).
		When(west).Then(events.CapPeriodMoved{UsageSubject: usage, CapPeriod: kept, At: night})
}

func TestCapPeriod_FollowsTheLocalCalendarOverSummerTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, period, at, starts, resets string
	}{
		{"Africa/Nairobi", "day", "2026-03-20T20:59:59Z", "2026-03-20", "2026-03-20T21:00:00Z"},
		{"Africa/Nairobi", "day", "2026-03-20T21:00:00Z", "2026-03-21", "2026-03-21T21:00:00Z"},
		{"Africa/Nairobi", "month", "2026-12-31T20:00:00Z", "2026-12-01", "2026-12-31T21:00:00Z"},
		{"Africa/Nairobi", "month", "2026-12-31T21:00:00Z", "2027-01-01", "2027-01-31T21:00:00Z"},
		{"Europe/Berlin", "day", "2026-03-29T12:00:00Z", "2026-03-29", "2026-03-29T22:00:00Z"}, // 23 hours
		{"Europe/Berlin", "day", "2026-10-25T12:00:00Z", "2026-10-25", "2026-10-25T23:00:00Z"}, // 25 hours
		{"Europe/Berlin", "month", "2026-03-15T12:00:00Z", "2026-03-01", "2026-03-31T22:00:00Z"},
		{"Africa/Cairo", "day", "2026-04-23T12:00:00Z", "2026-04-23", "2026-04-23T22:00:00Z"}, // no midnight
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		p := events.Cap{Bytes: 1, Period: c.period}.PeriodAt(at, zone)
		if p.Starts.String() != c.starts || p.ResetsAt.Format(time.RFC3339) != c.resets {
			t.Errorf("%s %s at %s: %+v", c.zone, c.period, c.at, p)
		}
	}
	if p := (events.Cap{}).PeriodAt(noon, time.UTC); p != (events.CapPeriod{}) {
		t.Errorf("without a cap: %+v", p)
	}
}

// metered is a simple model of one line: what it used and was given in each period.
type metered struct {
	used, topUps map[events.CapPeriod]int64
	terms        commands.CapTerms
	acts         bool // a cap was reached, and not reset since
}

// newMetered is a line that may use 100 bytes a day.
func newMetered(zone string) *metered {
	return &metered{
		used: map[events.CapPeriod]int64{}, topUps: map[events.CapPeriod]int64{}, terms: commands.CapTerms{
			Cap: events.Cap{Bytes: 100, Period: "day", Then: events.CapStop}, Timezone: zone,
		},
	}
}

// learn checks that the events make sense one after another.
func (m *metered) learn(t *rapid.T, list []events.UsageEvent) {
	for _, e := range list {
		switch e := e.(type) {
		case events.CapWarned:
			if m.acts || e.Used*5 < e.Allowed*4 || e.Used >= e.Allowed {
				t.Fatalf("warned wrongly: %+v", e)
			}
		case events.CapReached:
			if m.acts || e.Used < e.Allowed || e.Allowed == 0 {
				t.Fatalf("reached wrongly: %+v", e)
			}
			m.acts = true
		case events.CapReset:
			if !m.acts {
				t.Fatalf("reset twice: %+v", e)
			}
			m.acts = false
		case events.FirstSessionBegan, events.CapPeriodMoved, events.TopUpAdded, events.UsagePeriodClosed:
		}
	}
}

// period is the present period without its end.
func (m *metered) period(now time.Time, zone *time.Location) events.CapPeriod {
	p := m.terms.Cap.PeriodAt(now, zone)
	p.ResetsAt = time.Time{}
	return p
}

// Whatever is used, topped up, changed and skipped: after each count the cap acts exactly when everything that the
// present period has was used, and its events alternate.
func TestUsage_EqualsASimpleModel(t *testing.T) {
	t.Parallel()
	rules := access.Usages()
	rapid.Check(t, func(t *rapid.T) {
		zoneName := rapid.SampledFrom([]string{"Africa/Nairobi", "Europe/Berlin", "Africa/Cairo"}).Draw(t, "zone")
		zone, err := time.LoadLocation(zoneName)
		if err != nil {
			t.Fatal(err)
		}
		m := newMetered(zoneName)
		state, now := access.Usage{}, time.Date(2026, 3, 25, 21, 30, 0, 0, time.UTC)
		run := func(c commands.UsageCommand) {
			list, err := rules.Decide(state, c, now)
			if err != nil {
				t.Fatal(err)
			}
			m.learn(t, list)
			for _, e := range list {
				state = rules.Evolve(state, e)
			}
			if rapid.Bool().Draw(t, "close") && len(list) > 0 {
				state = rules.Evolve(access.Usage{}, rules.Close(state))
			}
		}
		for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 5, 23, 24, 25, 24 * 31, 24 * 400}).
				Draw(t, "hours")) * time.Hour)
			switch rapid.IntRange(0, 4).Draw(t, "act") {
			case 0, 1:
				for _, period := range []string{"day", "month"} {
					p := events.Cap{Period: period}.PeriodAt(now, zone)
					p.ResetsAt = time.Time{}
					m.used[p] += int64(rapid.IntRange(0, 60).Draw(t, "bytes"))
				}
			case 2:
				if p := m.period(now, zone); p.Period != "" {
					bytes := int64(rapid.IntRange(1, 80).Draw(t, "more"))
					run(commands.AddTopUp{
						Subject: usage, TopUpID: id.Derive[id.TopUp](fmt.Sprint(step)), Bytes: bytes, Terms: m.terms,
						Starts: p.Starts, Used: m.used[p],
					})
					m.topUps[p] += bytes
				}
			case 3:
				m.terms.Cap.Bytes = int64(rapid.SampledFrom([]int{50, 100, 300}).Draw(t, "cap"))
			case 4:
				run(commands.ResetCap{Subject: usage, Starts: state.Period.Starts})
			}
			p := m.period(now, zone)
			run(commands.CountTraffic{Subject: usage, Terms: m.terms, Starts: p.Starts, Used: m.used[p]})
			if want := m.used[p] >= m.terms.Cap.Bytes+m.topUps[p]; m.acts != want || state.Reached != want {
				t.Fatalf("after %d of %d and %d at %s: acts %t", m.used[p], m.terms.Cap.Bytes, m.topUps[p], now, m.acts)
			}
			if state.Crosses(m.terms.Cap, p.Starts, m.used[p]) && state.Began {
				t.Fatalf("crosses again: %+v", state)
			}
		}
	})
}

func TestUsage_AnOrderAddsNothingUntilItIsPaid(t *testing.T) {
	t.Parallel()
	order := added("order", 1100)
	order.Price, order.WhenPaid = money.Major(250, money.KES), true
	invoice := id.Derive[id.Invoice]("top_up", order.TopUpID.String())
	grant := commands.GrantTopUp{
		Subject: usage, TopUpID: order.TopUpID, Bytes: 500, Price: order.Price, InvoiceID: invoice, Terms: monthly,
		Starts: march.Starts, Used: 1200,
	}
	s := decidertest.For(t, access.Usages(), noon)
	s.When(counted(1100)).ThenEvents()
	s.When(order).Then(events.TopUpOrdered{
		UsageSubject: usage, TopUpID: order.TopUpID, Bytes: 500, CapPeriod: march, Reason: personal.Of("the match"),
		Price: order.Price, InvoiceID: invoice, At: noon,
	})
	free := order
	free.Price = money.Amount{}
	if made := s.When(free).ThenEvents(); len(made) != 2 {
		t.Errorf("what costs nothing waits for nothing: %v", made)
	}
	s = decidertest.For(t, access.Usages(), noon)
	s.When(counted(1100)).ThenEvents()
	s.When(order).ThenEvents()
	granted := events.TopUpAdded{
		UsageSubject: usage, TopUpID: order.TopUpID, Bytes: 500, CapPeriod: march, CapCount: of(1200, 1500),
		Price: order.Price, InvoiceID: invoice, Paid: true, At: noon,
	}
	s.When(grant).Then(granted, events.CapReset{
		UsageSubject: usage, CapPeriod: march, CapCount: of(1200, 1500), Reason: events.ResetTopUp, At: noon,
	})
	s.When(grant).ThenNothing()
	s.When(order).ThenNothing()
}
