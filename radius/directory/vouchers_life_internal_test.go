package directory

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
)

// life is one voucher, two servers that know it, and its log.
type life struct {
	t       *rapid.T
	made    []events.Event
	log     []events.VoucherEvent
	state   access.Voucher
	servers [2]*Directory
	nas     *radius.NAS
	voucher events.VoucherSubject
	now     time.Time
	classes [][]byte // of accepted sessions, with the device
	devices []radius.MAC
}

// newLife makes a voucher of a day.
func newLife(t *rapid.T) *life {
	l := &life{
		t: t, nas: &radius.NAS{ID: id.New[id.Device](), Org: id.New[id.Organization]()},
		now: time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC),
	}
	l.voucher = events.VoucherSubject{
		VoucherID: id.New[id.Voucher](), OrgID: l.nas.Org, BatchID: id.New[id.VoucherBatch](),
	}
	l.made = []events.Event{
		events.OrganizationCreated{OrgID: l.nas.Org, Billing: events.BillingSettings{Timezone: "Europe/Berlin"}},
		events.VoucherBatchMade{BatchID: l.voucher.BatchID, OrgID: l.nas.Org, Terms: events.PlanTerms{
			Kind: "hotspot", Period: calendar.Day,
		}},
		events.VouchersAdded{
			BatchID: l.voucher.BatchID, OrgID: l.nas.Org, Vouchers: []id.Voucher{l.voucher.VoucherID},
		},
	}
	for i := range l.servers {
		l.restart(i)
	}
	return l
}

// restart gives a server nothing but the log; what waited to be recorded is lost.
func (l *life) restart(server int) {
	d := New(Config{ClassKey: []byte("key"), Clock: clock.NewManual(l.now)})
	for _, e := range l.made {
		d.Apply(events.Envelope{Event: e, Meta: events.Metadata{At: l.now}})
	}
	for _, e := range l.log {
		d.Apply(events.Envelope{Event: e, Meta: events.Metadata{At: l.now}})
	}
	l.servers[server] = d
}

// decide executes a command by the real rule, and tells both servers what it led to.
func (l *life) decide(c commands.VoucherCommand) {
	definition := access.Vouchers()
	list, err := definition.Decide(l.state, c, l.now)
	if err != nil {
		return
	}
	for _, e := range list {
		l.state = definition.Evolve(l.state, e)
		l.log = append(l.log, e)
		for _, d := range l.servers {
			d.Apply(events.Envelope{Event: e, Meta: events.Metadata{At: l.now}})
		}
	}
}

// shorten lets a server keep little of the voucher when it ends until tomorrow, as when all clocks are ahead for days.
func (l *life) shorten(server int) {
	b := l.servers[server].vouchers
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(l.now.Add(keepWhole + 24*time.Hour))
}

// record records what waits at a server.
func (l *life) record(server int) {
	b := l.servers[server].vouchers
	for in, ok := b.next(); ok; in, ok = b.next() {
		l.decide(commands.SignInVoucher{
			Subject: in.Subject, DeviceID: in.NAS, MAC: personal.Of(in.MAC.String()), FirstAt: in.First,
			EndsAt: in.Ends, At: in.At,
		})
		b.done(in.Subject, false)
	}
}

// signIn lets a device try, and checks the answer against the log.
func (l *life) signIn(server int, mac radius.MAC) {
	d := l.servers[server]
	given, code := d.admit(l.voucher.VoucherID, l.nas, mac, l.now)
	void := !l.state.VoidedAt.IsZero()
	switch {
	case code == "" && void:
		l.t.Fatal("a void voucher lets somebody in")
	case code == "" && !l.state.FirstAt.IsZero() && !l.now.Before(l.state.EndsAt):
		l.t.Fatalf("let in at %s, after the end at %s", l.now, l.state.EndsAt)
	case code == "" && given.ends.Sub(given.pass.first) != 23*time.Hour &&
		given.ends.Sub(given.pass.first) != 24*time.Hour:
		l.t.Fatalf("a day is %s", given.ends.Sub(given.pass.first))
	case code == CodeVoucherVoid && !void:
		l.t.Fatal("refused as void")
	}
	if code == "" {
		l.classes = append(l.classes, given.pass.class([]byte("key")))
		l.devices = append(l.devices, mac)
	}
}

// report gives an interim report of an accepted session.
func (l *life) report(n int) telemetry.Report {
	return telemetry.Report{
		Kind: telemetry.Interim, Org: l.nas.Org, Device: l.nas.ID, Class: l.classes[n], MAC: l.devices[n].String(),
	}
}

// check compares the log with the rules.
func (l *life) check() {
	redeemed, moves := 0, []time.Time{}
	for _, e := range l.log {
		switch e := e.(type) {
		case events.VoucherRedeemed:
			redeemed++
		case events.VoucherMoved:
			if e.MAC.Equal(e.FormerMAC) {
				l.t.Fatal("moved to the device that had it")
			}
			moves = append(moves, e.At)
		case events.VoucherVoided, events.VoucherBeganEarlier:
		}
	}
	if redeemed > 1 {
		l.t.Fatalf("redeemed %d times", redeemed)
	}
	for i := range moves {
		if i > 0 && !moves[i].After(moves[i-1]) {
			l.t.Fatal("moves out of order")
		}
	}
}

// TestVouchers_ALifeKeepsTheRules: devices sign in at two servers, the clock jumps, servers are killed before they
// record, accounting comes late and again, somebody voids the voucher, and servers keep little of one that has ended.
func TestVouchers_ALifeKeepsTheRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := newLife(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			server := rapid.IntRange(0, 1).Draw(t, "server")
			switch rapid.IntRange(0, 10).Draw(t, "step") {
			case 0, 1, 2, 3:
				l.signIn(server, radius.MAC{2, byte(rapid.IntRange(1, 3).Draw(t, "device"))})
			case 4, 5:
				l.record(server)
			case 6:
				l.now = l.now.Add(time.Duration(rapid.IntRange(-60, 600).Draw(t, "minutes")) * time.Minute)
			case 7:
				l.restart(server)
			case 8:
				if len(l.classes) > 0 {
					n := rapid.IntRange(0, len(l.classes)-1).Draw(t, "session")
					l.servers[server].Heard(l.report(n))
				}
			case 9:
				if rapid.IntRange(0, 2).Draw(t, "void") == 0 {
					l.decide(commands.VoidVoucher{Subject: l.voucher, Reason: "lost"})
				}
			case 10:
				l.shorten(server)
			}
			l.check()
		}
		l.healed()
	})
}

// counts reports whether somebody was let in before the voucher was voided.
func (l *life) counts(n int) (voucherPass, bool) {
	pass, _ := readVoucherPass([]byte("key"), l.classes[n])
	return pass, l.state.VoidedAt.IsZero() || pass.first.Before(l.state.VoidedAt)
}

// healed kills both servers and lets the newest session report: the log then has the first sign-in of somebody whom a
// server had let in, also when the voucher was voided since. When nothing was recorded before, it is the instant of the
// session's own sign-in, and not that of the report. When all sessions have reported, no time is given twice: it runs
// from the first sign-in of all, in the log and in both servers.
func (l *life) healed() {
	for i := range l.servers {
		l.restart(i)
		if rapid.Bool().Draw(l.t, "shortened") {
			l.shorten(i)
		}
	}
	last, unrecorded := len(l.classes)-1, l.state.FirstAt.IsZero()
	for ; last >= 0; last-- {
		if _, ok := l.counts(last); ok {
			break
		}
	}
	if last < 0 {
		return
	}
	l.servers[0].Heard(l.report(last))
	l.record(0)
	l.check()
	pass, _ := l.counts(last)
	if l.state.FirstAt.IsZero() || unrecorded && !l.state.FirstAt.Equal(pass.first) {
		l.t.Fatal(fmt.Sprintf("accepted and not recorded: %+v", l.state))
	}
	first := pass.first
	for n := range l.classes {
		server := n % 2
		l.servers[server].Heard(l.report(n))
		l.record(server)
		if pass, ok := l.counts(n); ok && pass.first.Before(first) {
			first = pass.first
		}
	}
	l.check()
	for _, d := range l.servers {
		if u, _ := d.vouchers.look(l.voucher.VoucherID); !u.first.Equal(l.state.FirstAt) ||
			l.state.FirstAt.After(first) || u.void() == l.state.VoidedAt.IsZero() {
			l.t.Fatalf("a server has %+v, the log %+v, and the first sign-in was at %s", u, l.state, first)
		}
	}
}
