package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/simulators/provider"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// outageSeeds is how many random courses of outages are run, from seed 1 on; OUTAGE_SEEDS asks for more.
func outageSeeds(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("OUTAGE_SEEDS")
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil {
		t.Fatal("OUTAGE_SEEDS:", err)
	}
	return n
}

// TestOutages_WhoPaysInTimeIsNeverCut: for five months a customer pays late, by paybill or by a prompt, but before he
// is cut, or as soon as he can. In one month PostgreSQL is away while the provider tells of the payment, in one no
// program runs, in one the provider cannot be reached, and in one the customer's router, all until after the instant of
// the cut, and in one nothing fails; how late and how long is random. The organization's zone changes its time
// meanwhile. Nobody is ever cut, each payment is credited once, and the times in which he could not pay or had no line
// are shown.
func TestOutages_WhoPaysInTimeIsNeverCut(t *testing.T) {
	t.Parallel()
	for seed := range outageSeeds(t) {
		t.Run(strconv.FormatUint(seed+1, 10), func(t *testing.T) {
			t.Parallel()
			newOutages(t, seed+1).run()
		})
	}
}

// outageCourse has the program, the customer and what is expected of both.
type outageCourse struct {
	*kit
	draw     *rand.Rand
	url      string // of PostgreSQL
	stop     func() // PostgreSQL
	restart  func()
	router   simRouter
	customer string
	account  string
	line     string
	paid     int
}

// outagePhone pays.
const outagePhone = "254711000666"

// newOutages has one customer who has paid for the first month and was online at the router.
func newOutages(t *testing.T, seed uint64) *outageCourse {
	t.Helper()
	cluster := startCluster(t)
	k := newKit(t, "DATABASE_URL="+cluster.URL(), "DEV_CLOCK=true", "HTTP_ADDR="+freePort(t), "RATE_LIMIT_PROMPT=100",
		"ACCESS_AUDIT_INTERVAL=10000h", "DRIFT_CHECK_INTERVAL=10000h")
	o := &outageCourse{
		kit: k, draw: rand.New(rand.NewPCG(seed, seed)), //nolint:gosec // a reproducible sequence
		stop: func() { stopCluster(t, cluster) },
		restart: func() {
			if err := cluster.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	}
	o.url = cluster.URL()
	o.routers = o.nearRouter()
	k.start().signIn()
	k.paybillReady()
	k.must(k.admin, "PUT", "/settings/organization", map[string]any{"timezone": "Europe/Berlin"})
	k.advance(map[string]any{"to": timeChange(t, k.app.clock.Now(), "Europe/Berlin").AddDate(0, -2, -15)})
	k.dunningDays(nil)
	o.router = simRouter{Router: k.routers.Routers()[0]}
	o.router.device = k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": "tower", "ipAddress": "203.0.113.20", "radiusSecret": "secret-of-acme", "apiUsername": "admin",
		"apiPassword": routerPassword, "apiPort": 80, "managementAddress": "127.0.0.1",
	}).text("id")
	o.customer, o.account = k.subscriber(outagePhone)
	made := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": o.customer, "planId": k.plan("home", 1500), "username": "late",
	})
	o.line = made.text("id")
	k.issued(o.customer, 1)
	o.pays()
	k.paidUntil(o.line, "")
	login := connection{secret: "secret-of-acme", username: "late", password: made.text("password")}
	k.report(login, rfc2865.Class_Get(k.online(login)), told{
		session: "81000001", mac: "AA-BB-CC-00-11-22", status: rfc2866.AcctStatusType_Value_Stop, online: time.Minute,
	})
	return o
}

// nearRouter starts a router whose reports come from the address at which it is managed.
func (o *outageCourse) nearRouter() *router.Simulator {
	o.t.Helper()
	sim, err := router.New(router.Config{Routers: []router.RouterConfig{{
		Name: "tower", Version: "7.16", Password: routerPassword, Tunnel: netip.MustParseAddr("127.0.0.1"),
	}}})
	if err == nil {
		err = sim.Start(context.Background())
	}
	if err != nil {
		o.t.Fatal(err)
	}
	atEnd(o.t, func() { _ = sim.Stop(context.Background()) })
	return sim
}

// timeChange is the first change to or from summer time in a zone that is at least two months later.
func timeChange(t *testing.T, now time.Time, zone string) time.Time {
	t.Helper()
	where, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	for at := now.AddDate(0, 2, 0); ; at = at.Add(time.Hour) {
		_, before := at.In(where).Zone()
		if _, after := at.Add(time.Hour).In(where).Zone(); before != after {
			return at
		}
	}
}

// run goes through five months, one with each kind of outage.
func (o *outageCourse) run() {
	o.t.Helper()
	kinds := []struct {
		name string
		with func(away time.Duration)
	}{
		{"PostgreSQL", o.withoutDatabase}, {"every program", o.withoutProgram}, {"the provider", o.withoutProvider},
		{"the router", o.withoutRouter}, {"nothing", func(time.Duration) { o.pays() }},
	}
	for _, n := range o.draw.Perm(len(kinds)) {
		before := o.paidUntil(o.line, "")
		until, err := time.Parse(time.RFC3339Nano, before)
		if err != nil {
			o.t.Fatal(err)
		}
		late := 4 + o.draw.IntN(66) // hours
		o.advance(map[string]any{"to": until.Add(time.Duration(late) * time.Hour)})
		o.dunning(o.line, events.DunningReminding)
		// Until after the cut, and less than the 72 hours that customers cannot pay at most.
		away := time.Duration((73-late)*60+o.draw.IntN((late-3)*60)) * time.Minute
		o.t.Logf("%d hours late, %s is away for %s", late, kinds[n].name, away)
		kinds[n].with(away)
		o.paidUntil(o.line, before)
		o.received(o.customer, o.paid)
		o.dunning(o.line, events.DunningNone)
		o.neverCut(o.line)
		o.advance(map[string]any{"advance": "1m"})
	}
}

// pays lets the customer pay a month, by paybill or by a prompt.
func (o *outageCourse) pays() {
	o.t.Helper()
	if o.draw.IntN(2) == 0 {
		o.pay(outagePhone, o.account, 1500)
	} else {
		o.prompt(o.customer, 1500)
	}
	o.paid++
}

// withoutDatabase lets the customer pay while PostgreSQL is away for so long, by the product's clock. A prompt was made
// before.
func (o *outageCourse) withoutDatabase(d time.Duration) {
	o.t.Helper()
	prompted := o.draw.IntN(2) == 0
	if prompted {
		o.faults(provider.Faults{DropCallbacks: 1, C2BAlso: true})
		o.prompt(o.customer, 1500)
		o.eventually("the customer's answer", func(context.Context) (bool, error) {
			list := o.sim.Transactions()
			return list[len(list)-1].Channel != "c2b", nil
		})
		o.faults(provider.Faults{C2BAlso: true})
	}
	o.stop()
	if prompted {
		list := o.sim.Prompts()
		o.sim.Resend(list[len(list)-1].CheckoutRequestID)
	} else {
		o.pay(outagePhone, o.account, 1500)
	}
	o.paid++
	o.eventually("the callback to be kept", func(context.Context) (bool, error) { return o.app.kept.Len() == 1, nil })
	o.app.clock.(*clock.Movable).Advance(d) //nolint:forcetypeassert // in development
	o.restart()
	o.signsInAgain()
}

// signsInAgain waits until users can sign in after an outage.
func (o *outageCourse) signsInAgain() {
	o.t.Helper()
	o.eventually("the administrator to sign in", func(ctx context.Context) (bool, error) {
		var err error // connections of before the outage fail once
		o.admin, _, err = o.client("acme").login(ctx, testAdminEmail, testPassword)
		return err == nil, err
	})
	o.eventually("the root to sign in", func(ctx context.Context) (bool, error) {
		var err error
		o.root, _, err = o.client("").login(ctx, testRootEmail, testPassword)
		return err == nil, err
	})
}

// withoutProgram stops the program for so long.
func (o *outageCourse) withoutProgram(d time.Duration) {
	o.t.Helper()
	from := o.app.clock.Now()
	o.app.Stop()
	stopped := o.app.clock.Now()
	o.db = pgtest.Open(o.t, o.url, o.db.Namespace)
	o.absentFor(d)
	o.starts()
	const beat = 15 * time.Second // the last sign of life was at most so long before
	o.stoodStill("no_payment", span{from.Add(-beat), stopped}, span{from.Add(d - beat), o.app.clock.Now()})
	o.pays()
}

// starts starts the program again.
func (o *outageCourse) starts() {
	o.t.Helper()
	o.start()
	o.root, _ = o.login("", testRootEmail, testPassword)
	o.admin, _ = o.login("acme", testAdminEmail, testPassword)
}

// passes lets so much time pass, in the middle of which the program may be started again, or PostgreSQL.
func (o *outageCourse) passes(d time.Duration) {
	o.t.Helper()
	first := d * time.Duration(1+o.draw.IntN(8)) / 10
	o.advance(map[string]any{"advance": first.String()})
	switch o.draw.IntN(3) {
	case 0:
		o.t.Logf("after %s the program is started again", first)
		o.app.Stop()
		o.starts()
	case 1:
		o.t.Logf("after %s PostgreSQL is started again", first)
		o.stop()
		o.restart()
		o.signsInAgain()
	}
	o.advance(map[string]any{"advance": "2m"})
	o.advance(map[string]any{"advance": (d - first).String()})
}

// withoutProvider lets no prompt reach the provider for so long.
func (o *outageCourse) withoutProvider(d time.Duration) {
	o.t.Helper()
	began := span{after: o.app.clock.Now()}
	o.faults(provider.Faults{Down: true, C2BAlso: true})
	o.refusedPrompts(o.customer)
	began.before = o.app.clock.Now()
	o.advance(map[string]any{"advance": "6m"})
	o.stopped("no_payment")
	o.passes(d)
	ended := span{after: o.app.clock.Now()} // it may be reached before the next line has ended
	o.faults(provider.Faults{C2BAlso: true})
	o.advance(map[string]any{"advance": coolDown})
	o.eventually("the provider to be reached", func(ctx context.Context) (bool, error) {
		err := o.prompted(ctx, o.customer, 1500)
		return err == nil, err
	})
	o.paid++
	o.received(o.customer, o.paid)
	o.advance(map[string]any{"advance": "2m"})
	ended.before = o.app.clock.Now()
	o.stoodStill("no_payment", began, ended)
}

// prompted asks a customer for an amount.
func (k *kit) prompted(ctx context.Context, customer string, amount int) error {
	_, err := k.admin.call(ctx, "POST", "/payments/initiate", "", map[string]any{
		"subscriberId": customer, "amount": amount,
	})
	return err
}

// refusedPrompts asks a customer for money until the provider's breaker opens.
func (k *kit) refusedPrompts(customer string) {
	k.t.Helper()
	amount := 0
	k.eventually("the provider's breaker to open", func(ctx context.Context) (bool, error) {
		amount++ // there is one prompt of an amount at a time
		err := k.prompted(ctx, customer, amount)
		no := asAPIError(err)
		return no != nil && no.Code == "provider_unavailable", err
	})
}

// coolDown is longer than a breaker refuses at most.
const coolDown = "11m"

// withoutRouter lets the customer's router not be reached for so long.
func (o *outageCourse) withoutRouter(d time.Duration) {
	o.t.Helper()
	reached := func(want bool) (during span) {
		during.after = o.app.clock.Now()
		o.reaches(o.router, want)
		during.before = o.app.clock.Now()
		return during
	}
	began := reached(false)
	o.stopped("no_line")
	o.passes(d)
	o.stoodStill("no_line", began, reached(true))
	o.pays()
}

// stopped waits until the clock of the customer's dunning stands still for a cause.
func (o *outageCourse) stopped(cause string) {
	o.t.Helper()
	o.eventually("the clock to stand still: "+cause, func(ctx context.Context) (bool, error) {
		s, _, err := bus.LoadUnchecked[access.Dunning](ctx, o.app.engines.bus, id.Must[id.Subscription](o.line))
		for one := range s.Stopped {
			if strings.HasPrefix(one, cause) {
				return true, nil
			}
		}
		return false, fmt.Errorf("%+v %w", s, err)
	})
}

// span is a time in which something happened.
type span struct{ after, before time.Time }

// has reports whether an instant is in the span.
func (s span) has(at time.Time) bool { return !at.Before(s.after) && !at.After(s.before) }

// stoodStill waits until the log and the timeline tell that the clock stood still for a cause.
func (o *outageCourse) stoodStill(cause string, began, ended span) {
	o.t.Helper()
	o.eventually("the clock to have stood still: "+cause, func(ctx context.Context) (bool, error) {
		list, err := o.app.storage.store.Read(ctx, commands.DunningCategory+"-"+o.line, 0)
		var all []events.DunningClockStarted
		for _, e := range list {
			v, ok := e.Event.(events.DunningClockStarted)
			if !ok {
				continue
			}
			if strings.HasPrefix(v.Cause, cause) && began.has(v.From) && ended.has(v.Until) {
				return true, nil
			}
			all = append(all, v)
		}
		return false, fmt.Errorf("from %v to %v: %+v %w", began, ended, all, err)
	})
	o.tells(o.customer, "stood still from", strings.ReplaceAll(cause, "_", " "))
}
