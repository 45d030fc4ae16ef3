package telemetry_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// ended are stops of sessions that nobody has begun, of one user each, each of ten seconds and ten bytes.
func (k *kit) ended(device id.Device, first, n int, at time.Time) []telemetry.Report {
	list := make([]telemetry.Report, n)
	for i := range list {
		list[i] = k.start(device, first+i, 0)
		list[i].Kind, list[i].At = telemetry.Stop, at
		list[i].Online, list[i].Down = 10*time.Second, 10
	}
	return list
}

// stranger makes reports those of an organization whose customers nobody knows.
func stranger(org id.Organization, list []telemetry.Report) []telemetry.Report {
	for i := range list {
		list[i].Org = org
	}
	return list
}

// total counts the rows of sessions.
func (k *kit) total(t *testing.T) (n int) {
	t.Helper()
	if err := k.db.Owner.QueryRow(t.Context(), "select count(*) from "+k.schema()+".sessions").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// stories are the ways in which a router begins five sessions.
var stories = map[string]func(k *kit, device id.Device, round int, at time.Time) []telemetry.Report{
	"ended": func(k *kit, device id.Device, round int, at time.Time) []telemetry.Report {
		return k.ended(device, 100*round, 5, at)
	},
	"replaced": func(k *kit, device id.Device, round int, at time.Time) (list []telemetry.Report) {
		for i := range 5 {
			r := k.start(device, 1, 0)
			r.Session, r.At = string(rune('a'+5*round+i)), at.Add(time.Duration(i)*time.Second)
			list = append(list, r)
		}
		return list
	},
	"restarted": func(k *kit, device id.Device, round int, at time.Time) (list []telemetry.Report) {
		for i := range 5 {
			r := k.start(device, 100*round+i, 0)
			r.At = at
			list = append(list, r)
		}
		return append(list, telemetry.Report{
			Kind: telemetry.On, Org: k.org, Device: device, At: at.Add(time.Second),
		})
	},
}

// TestCommit_SessionsOfStrangersAreBoundedByDay: also those that have ended already, that replace others, and that a
// restart has ended, at a router and at all of an organization. Other organizations and the next day have their own.
func TestCommit_SessionsOfStrangersAreBoundedByDay(t *testing.T) {
	t.Parallel()
	for what, begin := range stories {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k, clock, org, dropped := open(t), noon, id.New[id.Organization](), 0
			k.BoundDay(7, 10, 100)
			round := 0
			report := func(of id.Organization, device id.Device) {
				t.Helper()
				done, err := k.Commit(t.Context(), k.now(&clock), stranger(of, begin(k, device, round, clock)))
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range done.Crowded {
					dropped += n
				}
				clock, round = clock.Add(time.Minute), round+1
			}
			is := func(rows, drops int) {
				t.Helper()
				if n := k.total(t); n != rows || dropped != drops {
					t.Errorf("%d rows and %d dropped, want %d and %d", n, dropped, rows, drops)
				}
			}
			for range 4 {
				report(org, k.device)
			}
			is(7, 13)
			second := id.New[id.Device]()
			report(org, second)
			is(10, 15)
			report(id.New[id.Organization](), id.New[id.Device]())
			is(15, 15)
			clock = clock.AddDate(0, 0, 1)
			report(org, second)
			is(20, 15)
		})
	}
}

// TestCommit_ADroppedSessionBeginsWithAllItUsedWhenItsNameIsACustomers: nothing is lost but its start.
func TestCommit_ADroppedSessionBeginsWithAllItUsedWhenItsNameIsACustomers(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.BoundDay(0, 0, 20)
	known, d := false, k.directory()
	d.Resolve = func(r telemetry.Report) telemetry.Given {
		if !known {
			return telemetry.Given{}
		}
		return k.resolve(r)
	}
	for _, online := range []time.Duration{0, time.Minute, time.Hour} {
		known = online == time.Hour
		report := k.at(telemetry.Interim, online, uint64(online/time.Second), 0) //nolint:gosec // not negative
		if _, err := k.Commit(t.Context(), d, []telemetry.Report{report}); err != nil {
			t.Fatal(err)
		}
		if n := k.total(t); !known && n != 0 {
			t.Errorf("%d rows without a customer", n)
		}
	}
	if got := k.only(t); !got.Started.Equal(noon) || got.Down != 3600 {
		t.Errorf("%+v", got)
	}
	if used := k.used(t, calendar.On(noon, time.UTC)); used != 3600 {
		t.Errorf("%d bytes were used", used)
	}
}

// TestCommit_ManySessionsOfASubscriptionAreThinnedAndAllTheirUsageCounts: the longest ones stay, and the newest, of
// which a report may come again.
func TestCommit_ManySessionsOfASubscriptionAreThinnedAndAllTheirUsageCounts(t *testing.T) {
	t.Parallel()
	k, clock := open(t), noon
	k.BoundDay(1, 1, 20)
	commit := func(list ...telemetry.Report) telemetry.Committed {
		t.Helper()
		done, err := k.Commit(t.Context(), k.now(&clock), list)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	thinned := 0
	for round := range 30 {
		clock = noon.Add(time.Duration(round) * 5 * time.Minute)
		list := k.ended(k.device, 100*round, 10, clock)
		if round == 10 {
			list[3].Online, list[3].Session = time.Hour, "long"
		}
		for _, n := range commit(list...).Thinned {
			thinned += n
		}
		for range 2 { // repeats
			if done := commit(list...); len(done.Crowded)+len(done.Used) > 0 {
				t.Errorf("round %d: a repeat was dropped or counted: %v", round, done.Used)
			}
		}
	}
	rows := k.rows(t.Context(), t, k.device)
	if len(rows) > 20+30 || len(rows)+thinned != 300 {
		t.Errorf("%d rows of 300 sessions, %d thinned", len(rows), thinned)
	}
	long := false
	for _, r := range rows {
		long = long || r.Key == "long"
	}
	if !long {
		t.Error("the longest one of a day is gone")
	}
	day := calendar.On(noon, time.UTC)
	if used := k.used(t, day); used != 3000 {
		t.Errorf("%d bytes were used, want 3000", used)
	}
}

// TestCommit_ManyOpenSessionsOfASubscriptionAreBounded until some have ended, and one that has ended counts.
func TestCommit_ManyOpenSessionsOfASubscriptionAreBounded(t *testing.T) {
	t.Parallel()
	k, clock := open(t), noon
	k.BoundDay(1, 1, 20)
	commit := func(list ...telemetry.Report) int {
		t.Helper()
		done, err := k.Commit(t.Context(), k.now(&clock), list)
		if err != nil {
			t.Fatal(err)
		}
		return done.Crowded[k.device]
	}
	dropped := 0
	for n := range 100 {
		dropped += commit(k.start(k.device, n, time.Duration(n)*time.Second))
	}
	if n := k.total(t); n != 50 || dropped != 50 {
		t.Fatalf("%d rows and %d dropped", n, dropped)
	}
	var group []telemetry.Report
	for n := range 100 {
		group = append(group, k.start(id.New[id.Device](), n, 0))
		group[n].Device = group[0].Device
	}
	commit(group...)
	if n := k.total(t); n != 80 {
		t.Fatalf("%d rows after a group of 100 sessions of another subscription", n)
	}
	if commit(k.ended(k.device, 500, 1, noon.Add(time.Hour))...) != 0 {
		t.Error("a session that has ended is dropped")
	}
	if used := k.used(t, calendar.On(noon, time.UTC)); used != 10 {
		t.Errorf("%d bytes were used", used)
	}
	restart := telemetry.Report{Kind: telemetry.On, Org: k.org, Device: k.device, At: noon.Add(2 * time.Hour)}
	clock = clock.Add(2 * time.Hour)
	commit(restart)
	commit(k.start(k.device, 200, 2*time.Hour))
	if commit(k.start(k.device, 201, 2*time.Hour)) != 0 {
		t.Error("after the restart there is no room for a session")
	}
}

// TestPurge_SessionsOfStrangersStayForAMonth, also where sessions of customers stay for ever.
func TestPurge_SessionsOfStrangersStayForAMonth(t *testing.T) {
	t.Parallel()
	k, clock := open(t), noon
	nobody, other := id.New[id.Organization](), id.New[id.Device]()
	k.commit(t, k.ended(k.device, 1, 2, noon)...)
	for day := range 4 {
		k.commit(t, stranger(nobody, k.ended(other, 10*day, 3, noon.AddDate(0, 0, day)))...)
	}
	purge := func(days, hours, want int) {
		t.Helper()
		clock = noon.AddDate(0, 0, days).Add(time.Duration(hours) * time.Hour)
		if err := k.Purge(t.Context(), clock, telemetry.Retention{}); err != nil {
			t.Fatal(err)
		}
		if n := len(k.rows(t.Context(), t, other)); n != want {
			t.Errorf("after %d days %d sessions without a customer, want %d", days, n, want)
		}
	}
	purge(29, 0, 12)
	purge(32, 1, 3)
	purge(10, 0, 3)
	k.commit(t, stranger(nobody, k.ended(other, 70, 1, noon.AddDate(0, 0, 2)))...)
	purge(33, 0, 3)
	purge(33, 1, 0)
	if n := len(k.rows(t.Context(), t, k.device)); n != 2 {
		t.Errorf("a customer has %d sessions, want 2", n)
	}
}

// TestPurge_OpenSessionsOfStrangersHaveABound in each organization; the newest stay, and those of customers.
func TestPurge_OpenSessionsOfStrangersHaveABound(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.BoundDay(100, 2, 100)
	strange, other := []id.Device{id.New[id.Device](), id.New[id.Device]()}, id.New[id.Device]()
	begin := func(org id.Organization, device id.Device, day, n int) {
		t.Helper()
		clock := noon.AddDate(0, 0, day)
		for i := range n {
			r := k.start(device, 100*day+i, 0)
			r.At, r.Org = clock.Add(time.Duration(i)*time.Second), org
			if _, err := k.Commit(t.Context(), k.now(&clock), []telemetry.Report{r}); err != nil {
				t.Fatal(err)
			}
		}
	}
	one, two := id.New[id.Organization](), id.New[id.Organization]()
	for day := range 4 {
		begin(one, strange[0], day, 2)
		begin(k.org, other, day, 3)
	}
	begin(two, strange[1], 4, 2)
	if err := k.Purge(t.Context(), noon.AddDate(0, 0, 5), telemetry.Retention{}); err != nil {
		t.Fatal(err)
	}
	rows := k.rows(t.Context(), t, strange[0])
	if len(rows) != 4 || !rows[0].Started.Equal(noon.AddDate(0, 0, 2)) {
		t.Errorf("an organization with eight has %v, want the four newest", rows)
	}
	if a, b := len(k.rows(t.Context(), t, strange[1])), len(k.rows(t.Context(), t, other)); a != 2 || b != 12 {
		t.Errorf("another organization has %d of 2, customers %d of 12", a, b)
	}
}

// TestCommit_WhoHadAnAddressIsKnownForAThousandSessionsOfASubscriptionInADay, whatever comes after them: here sessions
// that are longer, and newer.
func TestCommit_WhoHadAnAddressIsKnownForAThousandSessionsOfASubscriptionInADay(t *testing.T) {
	t.Parallel()
	k, clock, count := open(t), noon, 0
	at := func(n int) (netip.Addr, time.Time) {
		return netip.AddrFrom4([4]byte{100, 64, byte(n >> 8), byte(n)}), noon.Add(time.Duration(n) * 30 * time.Second)
	}
	dials := func(n int, online time.Duration) {
		t.Helper()
		var list []telemetry.Report
		for range n {
			var stop telemetry.Report
			stop, count = k.ended(k.device, count, 1, noon)[0], count+1
			stop.IP, stop.At = at(count)
			stop.Online, clock = online, stop.At
			list = append(list, stop)
		}
		if _, err := k.Commit(t.Context(), k.now(&clock), list); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		dials(100, 10*time.Second)
	}
	for range 8 {
		dials(50, 20*time.Second)
	}
	if n := k.total(t); n >= count {
		t.Errorf("%d rows of %d sessions", n, count)
	}
	for _, n := range []int{1, 500, 1000} {
		ip, ended := at(n)
		asked := telemetry.SessionFilter{IP: ip, At: ended.Add(-time.Second)}
		if list, err := k.List(t.Context(), k.org, asked, telemetry.SessionKey{}, 10); len(list) != 1 || err != nil {
			t.Errorf("session %d: %d had its address, %v", n, len(list), err)
		}
	}
}
