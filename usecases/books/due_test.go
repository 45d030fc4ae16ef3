package bookscases_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// TestDue_ARunLooksWhereTheSubscriptionHasAPeriod: whatever happens to subscriptions, the rows by which billing runs
// find them say the same as their decisions, for each day and for an undone run that is asked for again.
func TestDue_ARunLooksWhereTheSubscriptionHasAPeriod(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	rows, err := runner.NewScratch(t.Context(), db, billingviews.Due{}, "course")
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{}
	for _, name := range (billingviews.Due{}).Handles() {
		wanted[name] = true
	}
	courses := make([]*course, dueCourses)
	var log []events.Envelope
	for i := range courses {
		courses[i] = newCourse(t, uint64(i)) //nolint:gosec // an index
		for range 10 + courses[i].chance.IntN(30) {
			courses[i].operate()
		}
		for _, e := range courses[i].log {
			if wanted[e.Type] {
				e.Position = uint64(len(log) + 1)
				log = append(log, e)
			}
		}
	}
	if err := rows.Apply(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	found, err := db.Owner.Query(t.Context(),
		rows.SQL(`select subscription_id, due, again, short, undone_run from {schema}.due`))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := pgx.CollectRows(found, pgx.RowToStructByName[keptDue])
	if err != nil {
		t.Fatal(err)
	}
	of := map[id.Subscription]keptDue{}
	for _, row := range kept {
		of[row.Subscription] = row
	}
	for _, c := range courses {
		c.compare(of[c.sub]) // none of one that has ended
	}
}

// dueCourses is how many courses are compared. They are not drawn by rapid, which prefers what comes first.
const dueCourses = 3000

// keptDue is a row of the read model; instants are in microseconds since 1970.
type keptDue struct {
	Subscription id.Subscription `db:"subscription_id"`
	Due          *int64          `db:"due"`
	Again        *int64          `db:"again"`
	Short        bool            `db:"short"`
	Run          *id.BillingRun  `db:"undone_run"`
}

// by reports whether a run for a day finds the row, at an instant.
func (k keptDue) by(due *int64, day calendar.Date, now time.Time) bool {
	return due != nil && *due < day.AddDays(1).Start(nairobi).UnixMicro() && (!k.Short || *due <= now.UnixMicro())
}

// course has all that happens to one subscription.
type course struct {
	*world
	seed   uint64
	chance *rand.Rand
	run    id.BillingRun // that makes periods
	gave   []id.Compensation
}

// oneOf chooses, each with the same chance.
func oneOf[T any](c *course, list ...T) T { return list[c.chance.IntN(len(list))] }

// newCourse begins with a subscription that chance chooses.
func newCourse(t *testing.T, seed uint64) *course {
	t.Helper()
	c := &course{
		world: emptyWorld(t), seed: seed, chance: rand.New(rand.NewPCG(seed, 0)), run: id.New[id.BillingRun](),
	}
	c.org, c.amina, c.sub = id.New[id.Organization](), id.New[id.Subscriber](), id.New[id.Subscription]()
	mode := oneOf(c, events.Prepaid, events.Postpaid)
	unit := oneOf(c, calendar.Month, calendar.Month, calendar.Day)
	new := c.subscription(c.sub, c.amina, mode, unit)
	if unit == calendar.Month {
		new.Terms.AnchorDay = oneOf(c, 0, 0, 1, 28)
	}
	new.Terms.BillWhileSuspended = oneOf(c, events.BillAll, events.BillNothing, events.BillUsedDays)
	c.try(new)
	return c
}

// try lets the subscription decide. A refusal is a possible answer.
func (c *course) try(command commands.SubscriptionCommand) { _, _ = c.subs.try(command) }

// line has the subscription as it is now.
func (c *course) line() subscribers.Subscription { return c.subs.states[id.As[id.Any](c.sub)] }

// invoice is one of the subscription's invoices, the newest most often.
func (c *course) invoice() id.Invoice {
	periods := c.line().Periods
	if len(periods) == 0 {
		return id.Invoice{}
	}
	back := min(oneOf(c, 0, 0, 0, 1, 2), len(periods)-1)
	return periods[len(periods)-1-back].InvoiceID
}

// operate does one thing that chance chooses.
func (c *course) operate() {
	of := c.sub
	to := newPlan(c.line(), oneOf[int64](c, 500, 1500))
	if oneOf(c, true, false) {
		to.Terms.Period, to.Terms.AnchorDay = oneOf(c, calendar.Day, calendar.Month), 0
	}
	switch oneOf(c,
		"day", "day", "day", "time", "time", "time", "pay", "pay", "pay", "withdraw", "cancel", "undo", "again",
		"pause",
		"resume", "resume", "cut", "restore", "restore", "change", "change, and keep", "move", "move", "apply",
		"pay, and compensate", "compensate", "take back", "compensate, and take back", "reissue", "end",
	) {
	case "day":
		c.try(commands.MakePeriodDue{SubscriptionID: of, On: calendar.On(c.now, nairobi), RunID: c.run})
	case "time":
		c.now = c.now.Add(time.Duration(1+c.chance.IntN(20*24)) * time.Hour)
	case "pay":
		c.pay()
	case "withdraw":
		c.try(commands.WithdrawPeriod{SubscriptionID: of, InvoiceID: c.invoice(), Reason: "bounced"})
	case "cancel":
		c.try(commands.CancelPeriod{SubscriptionID: of, InvoiceID: c.invoice()})
	case "undo":
		c.try(commands.UndoPeriod{SubscriptionID: of, InvoiceID: c.invoice(), RunID: c.run})
	case "again":
		c.try(commands.MakePeriodDue{SubscriptionID: of, On: calendar.On(c.now, nairobi), RunID: c.run, Again: true})
	case "pause":
		c.try(commands.PauseSubscription{SubscriptionID: of, Reason: "holiday"})
	case "resume":
		c.try(commands.ResumeSubscription{SubscriptionID: of, Reason: "back"})
	case "cut":
		c.try(commands.SuspendBilling{SubscriptionID: of, At: c.now})
	case "restore":
		c.try(commands.ResumeBilling{SubscriptionID: of, At: c.now})
	case "change":
		c.change(to)
	case "change, and keep":
		c.change(to)
		c.change(commands.NewPlan{PlanID: c.line().PlanID, Version: c.line().PlanVersion, Terms: c.line().Terms})
	case "move":
		c.try(commands.MovePlan{SubscriptionID: of, NewPlan: to})
	case "apply":
		c.try(commands.ApplyPlanChange{SubscriptionID: of})
	case "compensate, and take back":
		c.compensate()
		c.takeBack()
	case "pay, and compensate":
		c.pay()
		c.now = c.now.Add(60 * time.Hour)
		c.compensate()
	case "compensate":
		c.compensate()
	case "take back":
		c.takeBack()
	case "reissue":
		c.try(commands.ReissuePeriod{SubscriptionID: of, InvoiceID: c.invoice(), CorrectedID: id.New[id.Invoice]()})
	case "end":
		c.try(commands.EndSubscription{SubscriptionID: of, Reason: "moved away"})
	}
}

// pay pays one of the invoices.
func (c *course) pay() {
	c.try(commands.ExtendSubscription{SubscriptionID: c.sub, InvoiceID: c.invoice(), PaidAt: c.now})
}

// change changes the plan as its preview tells. The present plan drops a change that is planned.
func (c *course) change(to commands.NewPlan) {
	if preview, err := c.line().PlanChange(to, c.now); err == nil {
		c.try(commands.ChangePlan{SubscriptionID: c.sub, NewPlan: to, Preview: preview.Preview})
	}
}

// compensate gives days for a time that was bad.
func (c *course) compensate() {
	c.gave = append(c.gave, id.New[id.Compensation]())
	c.try(commands.CompensateSubscription{
		SubscriptionID: c.sub, CompensationID: c.gave[len(c.gave)-1], From: c.now.Add(-50 * time.Hour),
		To: c.now.Add(-time.Hour), Give: events.CompensationGive{Days: 1 + c.chance.IntN(9)},
	})
}

// takeBack takes off what was given last.
func (c *course) takeBack() {
	if n := len(c.gave); n > 0 {
		c.try(commands.TakeBackCompensation{SubscriptionID: c.sub, CompensationID: c.gave[n-1]})
	}
}

// compare asks for some days what a run finds, and what the subscription decides.
func (c *course) compare(row keptDue) {
	for _, ahead := range []int{-1, 0, 1, 2, 5, 10, 20, 31, 62} {
		day := calendar.On(c.now, nairobi).AddDays(ahead)
		at := day.AddDays(1).Start(nairobi).Add(-time.Microsecond)
		decides := func(ask commands.MakePeriodDue) bool {
			ask.SubscriptionID, ask.On = c.sub, day
			made, err := c.subs.def.Decide(c.line(), ask, at)
			return err == nil && slices.ContainsFunc(made, isDue)
		}
		once := commands.MakePeriodDue{RunID: id.New[id.BillingRun]()}
		if finds, has := row.by(row.Due, day, at), decides(once); finds != has {
			c.fail("for %s a run finds the subscription: %t, and a period is due: %t", day, finds, has)
		}
		if row.Run == nil {
			continue
		}
		again := commands.MakePeriodDue{RunID: *row.Run, Again: true}
		if finds, has := row.by(row.Again, day, at), decides(again); finds != has {
			c.fail("for %s the undone run counts the subscription: %t, and a period is due: %t", day, finds, has)
		}
	}
}

// isDue reports whether an event is of a period that becomes due.
func isDue(e events.SubscriptionEvent) bool { _, is := e.(events.PeriodDue); return is }

// fail tells what has happened.
func (c *course) fail(format string, args ...any) {
	for _, e := range c.log {
		c.t.Logf("%s %s %+v", e.Meta.At.Format(time.DateTime), e.Type, e.Event)
	}
	c.t.Fatalf("course %d: "+format, append([]any{c.seed}, args...)...)
}
