package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// The year of the demo, in days before the present. Each day that is played costs a move of the clock and all that
// falls due by it, so for most of the year customers come on market days only, of which each month has one.
const (
	demoYear    = 365
	marketDays  = 27
	lastMarket  = 37 // who came then and paid for a month is walled in at the present
	daily       = 25 // from here on the clock stops on every day, because routers report what was used
	payDays     = 4  // of these days customers act on every fourth
	routersFrom = 24 // the day on which the ISP's routers are registered; before it there are no sessions
)

// demoBegins is how far the demo's clock is behind the machine's at its first start.
const demoBegins = demoYear * 24 * time.Hour

// demoChance makes all that is left to chance in the year, so that every demo has the same year.
const demoChance = 2026

// chance gives numbers that are always the same for a name and a number, in whichever order they are asked for.
func chance(name string, n int) *rand.Rand {
	sum := uint64(n) //nolint:gosec // any number will do
	for _, c := range name {
		sum = sum*131 + uint64(c) //nolint:gosec // as above
	}
	return rand.New(rand.NewPCG(demoChance, sum)) //nolint:gosec // is no secret
}

// demoDay is one time of the year at which something is played.
type demoDay struct {
	ago   int // days before the present
	since int // the first day that no earlier time has played: what happens on all days until ago is played
	at    time.Time
	next  time.Time // when customers act next
	quiet bool      // customers only use what they have
}

// demoDays gives the days of the year before an instant, and a few hours of its day, in the ISP's zone.
func demoDays(present time.Time, zone *time.Location) []demoDay {
	y, m, d := present.In(zone).Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, zone)
	var days []demoDay
	since := demoYear
	add := func(ago int, at time.Time) {
		day := demoDay{ago: ago, since: since, at: at, quiet: 0 < ago && ago < daily && ago%payDays != 0}
		if days = append(days, day); !day.quiet {
			since = ago - 1
		}
	}
	for ago := demoYear - 1 - (demoYear-1-lastMarket)%marketDays; ago > 0; {
		minutes := 8*60 + chance("opening hours", ago).IntN(9*60)
		if ago <= daily { // reports of routers come once a day: each tells what was used in 24 hours
			minutes = 20 * 60
		}
		add(ago, midnight.AddDate(0, 0, -ago).Add(time.Duration(minutes)*time.Minute))
		switch {
		case ago > lastMarket:
			ago -= marketDays
		case ago == lastMarket:
			ago = daily
		default:
			ago--
		}
	}
	past := present.Sub(midnight)
	for _, part := range []float64{0.4, 0.7, 0.95} {
		add(0, midnight.Add(time.Duration(part*float64(past))))
	}
	next := present
	for i := len(days) - 1; i >= 0; i-- {
		if days[i].next = next; !days[i].quiet {
			next = days[i].at
		}
	}
	return days
}

// playYear plays what is left of the year, and brings the clock to the machine's time. An interrupted start goes on
// with the day that it was playing: whatever was done on it is not done twice.
func (s *demoSeed) playYear(ctx context.Context, c *clock.Movable, routers *router.Simulator) error {
	zone, err := time.LoadLocation(demoZone)
	if err != nil {
		return fmt.Errorf("the ISP's time zone: %w", err)
	}
	if err := s.recall(ctx); err != nil {
		return err
	}
	// Simulated routers begin empty at every start; at the first one there are none yet.
	if err := s.plugRouters(ctx, routers, false); err != nil {
		return err
	}
	days := demoDays(clock.System().Now(), zone)
	from := 0
	for i, day := range days {
		if !day.at.After(c.Now()) {
			from = i
		}
	}
	// A provider tells of a prompt's money twice; once is enough for history.
	if _, err := s.sim.call(ctx, http.MethodPut, "/sim/faults", "", map[string]any{"c2bAlso": false}); err != nil {
		return err
	}
	for i, day := range days[from:] {
		if err := s.app.mover.move(ctx, day.at); err != nil {
			return err
		}
		if err := s.play(ctx, day, routers); err != nil {
			return fmt.Errorf("%d days before the present: %w", day.ago, err)
		}
		if i%8 == 0 {
			_, _ = fmt.Fprintf(s.out, "  %s\n", day.at.Format("2 January 2006"))
		}
	}
	if _, err := s.sim.call(ctx, http.MethodPut, "/sim/faults", "", map[string]any{}); err != nil {
		return err
	}
	if err := s.app.mover.catchUp(ctx); err != nil {
		return err
	}
	s.cutPower(routers)
	return nil
}

// recall finds the customers that an interrupted start has made.
func (s *demoSeed) recall(ctx context.Context) error {
	list, err := s.all(ctx, "/subscribers")
	if err != nil {
		return err
	}
	for i, c := range s.customers {
		for _, sub := range list {
			if sub.text("phone") == "+"+demoPhone(i+1) {
				s.accounts[c.user()] = c.account(i+1, sub)
			}
		}
	}
	return nil
}

// all reads all pages of a list.
func (s *demoSeed) all(ctx context.Context, path string) ([]answer, error) {
	var rows []answer
	for cursor := ""; ; {
		page, err := s.admin.call(ctx, http.MethodGet, path+"?limit=100"+cursor, "", nil)
		if err != nil {
			return nil, err
		}
		rows = append(rows, page.list("data")...)
		if page.text("nextCursor") == "" {
			return rows, nil
		}
		cursor = "&cursor=" + page.text("nextCursor")
	}
}

// signInAgain signs the administrator in, whose token has ended with the move of the clock, before calls are made side
// by side.
func (s *demoSeed) signInAgain(ctx context.Context) error {
	_, err := s.admin.call(ctx, http.MethodGet, "/auth/me", "", nil)
	return err
}

// play plays one day: who signs up and who pays, side by side, and then the stories of the day one by one. It ends when
// the program has done all that follows from it.
func (s *demoSeed) play(ctx context.Context, day demoDay, routers *router.Simulator) error {
	if err := s.app.settled(ctx); err != nil { // what fell due in the days before
		return err
	}
	if day.quiet {
		s.switchDevices(day, routers)
		return nil
	}
	if err := s.signInAgain(ctx); err != nil {
		return err
	}
	served, err := s.served(ctx)
	if err != nil {
		return err
	}
	var early, acts []func() error
	for i, c := range s.customers {
		switch sub, known := served[c.user()]; {
		case !known && c.since >= day.ago:
			acts = append(acts, func() error { return s.makeSubscriber(ctx, i+1, c) })
		case known && c.due(sub, day):
			a := s.accounts[c.user()]
			a.key = fmt.Sprintf("%s-%s", a.key, day.at.Format(time.DateOnly))
			if fails := c.stumbles(day); fails != nil {
				early = append(early, func() error { return fails(ctx, s, a) })
			}
			acts = append(acts, func() error { return c.pays.by(ctx, s, a) })
		}
	}
	if err := sideBySide(early); err != nil {
		return err
	}
	if len(early) > 0 {
		if err := s.app.settled(ctx); err != nil {
			return err
		}
	}
	if err := sideBySide(acts); err != nil {
		return err
	}
	s.switchDevices(day, routers)
	for _, story := range demoStories {
		if story.ago < day.ago || story.ago > day.since {
			continue
		}
		if err := s.tell(ctx, story, routers); err != nil {
			return err
		}
	}
	return s.app.settled(ctx)
}

// served gives the subscriptions as they are, by the username with which the customer came.
func (s *demoSeed) served(ctx context.Context) (map[string]answer, error) {
	list, err := s.all(ctx, "/subscriptions")
	if err != nil {
		return nil, err
	}
	bySubscriber := map[string]answer{}
	for _, sub := range list {
		bySubscriber[sub.text("subscriberId")] = sub
	}
	out := map[string]answer{}
	for user, a := range s.accounts {
		if sub, is := bySubscriber[a.subscriber]; is {
			a.subscription = sub.text("id")
			s.accounts[user], out[user] = a, sub
		}
	}
	return out, nil
}

// atOnce is how many customers act at the same time.
const atOnce = 16

// sideBySide calls functions, some of them at the same time, and gives one of the errors.
func sideBySide(acts []func() error) error {
	var wg sync.WaitGroup
	errs := make([]error, len(acts))
	seats := make(chan struct{}, atOnce)
	for i, act := range acts {
		wg.Go(func() {
			seats <- struct{}{}
			defer func() { <-seats }()
			errs[i] = act()
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// due reports whether a customer pays the next period on a day. Who wants to pay before the next one comes today.
func (c demoCustomer) due(sub answer, day demoDay) bool {
	if c.pays.by == nil || day.ago < c.quits || !slices.Contains([]string{"pending", "active"}, sub.text("state")) {
		return false
	}
	began, err := time.Parse(time.RFC3339Nano, sub.text("startsAt"))
	if err != nil {
		return false
	}
	ends := began
	if until, err := time.Parse(time.RFC3339Nano, sub.text("paidUntil")); err == nil {
		ends = until
	} else if planOf(c.plan).mode == "prepaid" {
		return true // the first payment
	}
	if planOf(c.plan).mode == "postpaid" { // what is served now is paid at its end
		ends = ends.AddDate(0, 1, 0)
	}
	days := c.pays.late
	if c.pays.wanders > 0 {
		period := int(math.Round(ends.Sub(began).Hours() / 24 / month))
		days += max(0, chance(c.first, period).IntN(2*c.pays.wanders)-c.pays.wanders)
	}
	wants := ends.AddDate(0, 0, days)
	return !wants.After(day.at) || days < 0 && !wants.After(day.next)
}

// stumbles gives the way in which a customer fails to pay on a day before it works; nil for nearly all.
func (c demoCustomer) stumbles(day demoDay) demoAct {
	n := chance(c.first+" stumbles", day.ago).IntN(12 * len(stumbles))
	if n >= len(stumbles) || c.pays.wanders == 0 {
		return nil
	}
	return stumbles[n]
}

// switchDevices lets customers switch their devices off for a day or on again, so that sessions end and begin.
func (s *demoSeed) switchDevices(day demoDay, routers *router.Simulator) {
	if day.ago >= routersFrom || day.ago == 0 {
		return
	}
	for _, r := range routers.Routers() {
		for _, c := range r.Customers() {
			off := chance(c.User+" sleeps", day.ago).IntN(6) == 0 && day.ago > 1
			if c.On == off {
				r.SetCustomer(c.User, !off)
			}
		}
	}
}
