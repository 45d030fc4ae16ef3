package main

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
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

// TestOutages_WhoPaysInTimeIsNeverCut: for three months a customer pays late, but before he is cut. In one of them
// PostgreSQL is away while the provider tells of the payment, in one no program runs, both until after the instant of
// the cut, and in one nothing fails; how late and how long is random. The organization's zone changes its time
// meanwhile. Nobody is ever cut, and each payment is credited once.
func TestOutages_WhoPaysInTimeIsNeverCut(t *testing.T) {
	t.Parallel()
	for seed := range outageSeeds(t) {
		t.Run(strconv.FormatUint(seed+1, 10), func(t *testing.T) {
			t.Parallel()
			newOutages(t, seed+1).run()
		})
	}
}

// outages is one course.
type outages struct {
	*kit
	draw     *rand.Rand
	url      string // of PostgreSQL
	stop     func() // PostgreSQL
	restart  func()
	customer string
	account  string
	line     string
	paid     int
}

// newOutages has one customer who has paid for the first month.
func newOutages(t *testing.T, seed uint64) *outages {
	t.Helper()
	cluster := startCluster(t)
	k := newKit(t, "DATABASE_URL="+cluster.URL(), "DEV_CLOCK=true", "HTTP_ADDR="+freePort(t)).start().signIn()
	o := &outages{
		kit: k, draw: rand.New(rand.NewPCG(seed, seed)), //nolint:gosec // a reproducible sequence
		stop: func() { stopCluster(t, cluster) },
		restart: func() {
			if err := cluster.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	}
	o.url = cluster.URL()
	k.paybillReady()
	k.must(k.admin, "PUT", "/settings/organization", map[string]any{"timezone": "Europe/Berlin"})
	k.advance(map[string]any{"to": timeChange(t, k.app.clock.Now(), "Europe/Berlin").AddDate(0, -1, -15)})
	k.dunningDays(nil)
	o.customer, o.account = k.subscriber("254711000666")
	o.line = k.subscribe(o.customer, k.plan("home", 1500))
	k.issued(o.customer, 1)
	o.pays()
	k.paidUntil(o.line, "")
	return o
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

// run goes through three months, one with each kind of outage.
func (o *outages) run() {
	o.t.Helper()
	for _, what := range o.draw.Perm(3) {
		before := o.paidUntil(o.line, "")
		until, err := time.Parse(time.RFC3339Nano, before)
		if err != nil {
			o.t.Fatal(err)
		}
		late := time.Duration(o.draw.IntN(70)) * time.Hour
		o.advance(map[string]any{"to": until.Add(late)})
		o.dunning(o.line, events.DunningReminding)
		away := time.Duration(73*60+o.draw.IntN(24*60))*time.Minute - late // until after the cut
		switch what {
		case 0:
			o.t.Logf("%s late, PostgreSQL is away for %s", late, away)
			o.withoutDatabase(away)
		case 1:
			o.t.Logf("%s late, no program runs for %s", late, away)
			o.withoutProgram(away)
			o.pays()
		default:
			o.t.Logf("%s late", late)
			o.pays()
		}
		o.paidUntil(o.line, before)
		o.received(o.customer, o.paid)
		o.dunning(o.line, events.DunningNone)
		o.neverCut(o.line)
		o.advance(map[string]any{"advance": "1m"})
	}
}

// pays lets the customer pay a month.
func (o *outages) pays() {
	o.t.Helper()
	o.pay("254711000666", o.account, 1500)
	o.paid++
}

// withoutDatabase lets the customer pay while PostgreSQL is away for so long, by the product's clock.
func (o *outages) withoutDatabase(d time.Duration) {
	o.t.Helper()
	o.stop()
	o.pays()
	o.eventually("the callback to be kept", func(context.Context) (bool, error) { return o.app.kept.Len() == 1, nil })
	o.app.clock.(*clock.Movable).Advance(d) //nolint:forcetypeassert // in development
	o.restart()
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
func (o *outages) withoutProgram(d time.Duration) {
	o.t.Helper()
	o.app.Stop()
	o.db = pgtest.Open(o.t, o.url, o.db.Namespace)
	o.absentFor(d)
	o.start()
	o.root, _ = o.login("", testRootEmail, testPassword)
	o.admin, _ = o.login("acme", testAdminEmail, testPassword)
}
