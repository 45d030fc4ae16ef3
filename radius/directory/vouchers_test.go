package directory_test

import (
	"context"
	"crypto/md5" //nolint:gosec // CHAP demands it
	"log/slog"
	"strings"
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/vouchers"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// codes are those of tests.
var codes = vouchers.NewCodes([]byte("key"))

// Devices of customers.
const (
	phone  = "02:00:00:00:00:01"
	laptop = "02:00:00:00:00:02"
)

// sale is a batch of vouchers at a hotspot.
type sale struct {
	isp
	batch id.VoucherBatch
	codes []string
}

// sell makes vouchers with the time of a period, and the events that make them known.
func sell(s *safe, period calendar.Period, count int) (sale, []events.Event) {
	v := sale{isp: newISP(), batch: id.New[id.VoucherBatch]()}
	v.terms.Kind, v.terms.Period, v.terms.Price = "hotspot", period, money.Major(20, money.KES)
	v.codes = codes.Make(v.batch, "cafe", count)
	added := events.VouchersAdded{BatchID: v.batch, OrgID: v.org}
	for _, code := range v.codes {
		one, _ := codes.ID(v.org, code)
		added.Vouchers = append(added.Vouchers, one)
	}
	return v, append(v.begin(s, "127.0.0.1", "amina", "pw"),
		events.VoucherBatchMade{BatchID: v.batch, OrgID: v.org, Terms: v.terms, Count: count}, added)
}

// subject names a voucher in events.
func (v sale) subject(n int) events.VoucherSubject {
	one, _ := codes.ID(v.org, v.codes[n])
	return events.VoucherSubject{VoucherID: one, OrgID: v.org, BatchID: v.batch}
}

// hotspot is a sign-in at a hotspot by PAP.
func hotspot(mac, name, password string) *layeh.Packet {
	p := request(name, password)
	_ = rfc2865.ServiceType_Set(p, rfc2865.ServiceType_Value_LoginUser)
	p.Del(rfc2865.FramedProtocol_Type)
	_ = rfc2865.CallingStationID_SetString(p, mac)
	return p
}

// typed is a sign-in with a code in both fields.
func typed(mac, code string) *layeh.Packet { return hotspot(mac, code, code) }

// recorded runs a recorder until n sign-ins were recorded.
func (k *kit) recorded(n int) []directory.VoucherSignIn {
	k.t.Helper()
	got := make(chan directory.VoucherSignIn, 100)
	r := directory.NewVoucherRecorder(k.dir, func(_ context.Context, in directory.VoucherSignIn) error {
		got <- in
		return nil
	}, slog.New(slog.DiscardHandler))
	if err := r.Start(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	defer r.Stop()
	list := make([]directory.VoucherSignIn, n)
	for i := range list {
		list[i] = <-got
	}
	return list
}

// redeemed is the event of a recorded first sign-in.
func redeemed(in directory.VoucherSignIn) events.VoucherRedeemed {
	return events.VoucherRedeemed{
		VoucherSubject: in.Subject, DeviceID: in.NAS, MAC: personal.Of(in.MAC.String()), At: in.First, EndsAt: in.Ends,
	}
}

func TestVouchers_TimeRunsFromTheFirstSignIn(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Hour, 2)
	k := newKit(t, s, history...)
	code := strings.ToLower(strings.ReplaceAll(v.codes[0], "-", ""))
	k.refused(request(code, code), directory.CodeUnknownUser) // PPPoE
	k.refused(hotspot(phone, code, "else"), directory.CodeWrongPassword)
	k.clock.Advance(24 * time.Hour)
	answer, rate := k.accepted(typed(phone, code))
	if rate != "1500k/10M" || rfc2865.SessionTimeout_Get(answer) != 3600 {
		t.Errorf("accepted with %q, %v", rate, answer.Attributes)
	}
	k.clock.Advance(30 * time.Minute)
	if answer, _ = k.accepted(typed(phone, v.codes[0])); rfc2865.SessionTimeout_Get(answer) != 1800 {
		t.Errorf("half an hour later: %v", answer.Attributes)
	}
	list := k.recorded(1)
	if in := list[0]; !in.First.Equal(noon.Add(24*time.Hour)) || in.Ends.Sub(in.First) != time.Hour ||
		in.MAC.String() != phone || in.Subject != v.subject(0) || in.Price != v.terms.Price || in.NAS != v.router {
		t.Errorf("recorded %+v", in)
	}
	k.apply(redeemed(list[0]))
	h, ok := k.dir.Holder(v.org, rfc2865.Class_Get(answer), "any", k.clock.Now())
	if !ok || h.SubscriptionID != directory.VoucherService(v.subject(0).VoucherID) ||
		h.Grant.Access.String() != "full" || h.Grant.Down != 10_000 || !h.Told {
		t.Errorf("holder %+v %v", h, ok)
	}
	if _, ok := k.dir.Holder(id.New[id.Organization](), rfc2865.Class_Get(answer), "any", noon); ok {
		t.Error("another organization's router reports for the voucher")
	}
	k.clock.Advance(30 * time.Minute)
	k.refused(typed(phone, v.codes[0]), directory.CodeVoucherUsed)
	k.accepted(typed(phone, v.codes[1]))
}

func TestVouchers_AnyProofOfTheTypedCode(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Hour, 1)
	k := newKit(t, s, history...)
	for i, code := range []string{v.codes[0], strings.ToLower(v.codes[0]), strings.ReplaceAll(v.codes[0], "-", " ")} {
		p := typed(phone, code)
		p.Del(rfc2865.UserPassword_Type)
		challenge := []byte("sixteen octets..")
		proof := md5.Sum([]byte("7" + code + string(challenge))) //nolint:gosec // CHAP demands it
		_ = rfc2865.CHAPChallenge_Set(p, challenge)
		_ = rfc2865.CHAPPassword_Set(p, append([]byte("7"), proof[:]...))
		if answer := k.ask(p); answer.Code != layeh.CodeAccessAccept {
			t.Errorf("CHAP %d: %v", i, answer.Code)
		}
	}
}

func TestVouchers_OneDeviceAtATimeAndFiveMovesADay(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Week, 1)
	k := newKit(t, s, history...)
	k.accepted(typed(phone, v.codes[0]))
	k.accepted(hotspot(phone, phone, "")) // by its MAC
	for i := range 5 {
		k.clock.Advance(2 * time.Minute)
		k.accepted(typed([]string{laptop, phone}[i%2], v.codes[0]))
	}
	k.clock.Advance(2 * time.Minute)
	k.refused(hotspot(phone, phone, ""), directory.CodeUnknownUser)
	k.refused(typed(phone, v.codes[0]), directory.CodeVoucherMoves)
	answer, _ := k.accepted(typed(laptop, v.codes[0]))
	if got := rfc2865.SessionTimeout_Get(answer); got != 7*24*3600-720 {
		t.Errorf("%d seconds are left", got)
	}
	list := k.recorded(6)
	if last := list[5]; last.MAC.String() != laptop || !last.First.Equal(list[0].At) {
		t.Errorf("recorded %+v", last)
	}
	k.clock.Advance(24 * time.Hour)
	k.accepted(typed(phone, v.codes[0]))
}

// TestVouchers_ADeviceThatLostOneDoesNotTakeItBackByItself: a phone that signs in again because its session was ended
// does not undo the move that its owner has made; nothing of it is counted. A server that reads the log knows it too.
func TestVouchers_ADeviceThatLostOneDoesNotTakeItBackByItself(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Week, 1)
	k := newKit(t, s, history...)
	k.accepted(typed(phone, v.codes[0]))
	k.clock.Advance(time.Minute)
	k.accepted(typed(laptop, v.codes[0]))
	for range 20 {
		k.clock.Advance(5 * time.Second)
		k.refused(typed(phone, v.codes[0]), directory.CodeVoucherMoved)
		k.accepted(typed(laptop, v.codes[0]))
	}
	list := k.recorded(2)
	restarted := newKit(t, s, append(history, redeemed(list[0]), events.VoucherMoved{
		VoucherSubject: list[1].Subject, DeviceID: list[1].NAS, MAC: personal.Of(laptop), FormerMAC: personal.Of(phone),
		At: list[1].At,
	})...)
	restarted.clock.Advance(k.clock.Now().Sub(restarted.clock.Now()))
	restarted.refused(typed(phone, v.codes[0]), directory.CodeVoucherMoved)
	k.clock.Advance(20 * time.Second)
	k.accepted(typed(phone, v.codes[0]))
	k.refused(typed(laptop, v.codes[0]), directory.CodeVoucherMoved)
}

func TestVouchers_VoidEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Day, 2)
	k := newKit(t, s, history...)
	answer, _ := k.accepted(typed(phone, v.codes[0]))
	here := directory.VoucherService(v.subject(0).VoucherID)
	before, held := k.dir.Present(here, noon), rfc2865.Class_Get(answer)
	if h, _ := k.dir.Holder(v.org, held, "", noon); h.Grant != before.Grant || !before.Allows(phone) ||
		before.Allows(laptop) {
		t.Errorf("granted %+v, present %+v", h.Grant, before)
	}
	k.apply(events.VoucherVoided{VoucherSubject: v.subject(0), At: noon},
		events.VoucherVoided{VoucherSubject: v.subject(1), At: noon})
	for n := range 2 {
		k.refused(typed(phone, v.codes[n]), directory.CodeVoucherVoid)
	}
	k.refused(hotspot(phone, phone, ""), directory.CodeUnknownUser)
	if p := k.dir.Present(here, noon); p.Grant.Access.String() != "none" {
		t.Errorf("present %+v", p)
	}
	k.apply(events.VouchersAdded{BatchID: v.batch, OrgID: v.org, Vouchers: []id.Voucher{v.subject(0).VoucherID}})
	k.refused(typed(phone, v.codes[0]), directory.CodeVoucherVoid)
}

func TestVouchers_GuessingSlowsTheGuesserAlone(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Day, 3)
	k := newKit(t, s, history...)
	k.accepted(typed(phone, v.codes[0]))
	wrong := codes.Make(id.New[id.VoucherBatch](), "", 200)
	for n := range 10 {
		k.refused(typed(phone, wrong[n]), directory.CodeUnknownUser)
	}
	k.refused(typed(phone, wrong[11]), directory.CodeTooManyCodes)
	k.refused(typed(phone, v.codes[1]), directory.CodeTooManyCodes) // a right one would tell the guesser
	k.accepted(typed(phone, v.codes[0]))                            // what the device has already
	k.accepted(hotspot(phone, phone, ""))
	k.accepted(typed(laptop, v.codes[1]))
	k.clock.Advance(2 * time.Minute)
	k.accepted(typed(phone, v.codes[2]))
	for n := range 150 { // many devices guess: each has one try, and customers none of them has hindered sign in
		mac := radius.MAC{2, 1, 0, 0, 0, byte(n)}.String()
		k.ask(typed(mac, wrong[n]))
	}
	k.refused(typed("02:01:00:00:00:95", wrong[0]), directory.CodeTooManyCodes)
	k.accepted(typed("02:00:00:00:00:09", v.codes[1]))
}

// TestGuesses_AreForgivenAlsoAfterAClockThatWasAhead: wrong codes and wrong passwords that were tried at that time make
// a device wait no longer than others do.
func TestGuesses_AreForgivenAlsoAfterAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Month, 1)
	k := newKit(t, s, append(history, v.paid(noon.AddDate(1, 0, 0))...)...)
	wrong := codes.Make(id.New[id.VoucherBatch](), "", 10)
	k.clock.Set(noon.AddDate(0, 4, 0))
	for _, code := range wrong {
		k.refused(typed(phone, code), directory.CodeUnknownUser)
		k.refused(request("amina", "guess"), directory.CodeWrongPassword)
	}
	k.clock.Set(noon)
	k.refused(typed(phone, v.codes[0]), directory.CodeTooManyCodes)
	k.refused(request("amina", "pw"), directory.CodeTooManyCodes)
	k.clock.Advance(2 * time.Minute)
	k.accepted(typed(phone, v.codes[0]))
	k.accepted(request("amina", "pw"))
}

func TestVouchers_WhatWasAcceptedBeforeAKillIsRecordedByAccounting(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Hour, 1)
	killed := newKit(t, s, history...)
	first, _ := killed.accepted(typed(phone, v.codes[0]))
	killed.clock.Advance(10 * time.Minute)
	moved, _ := killed.accepted(typed(laptop, v.codes[0]))
	killed.stop()
	k := newKit(t, s, history...)
	k.clock.Advance(20 * time.Minute)
	mac := radius.MAC{2, 0, 0, 0, 0, 2}
	told := telemetry.Report{Org: v.org, Device: v.router, Class: rfc2865.Class_Get(moved), MAC: laptop}
	foreign, forged, late := told, told, told
	foreign.Org, forged.Class = id.New[id.Organization](), append(told.Class[:40:40], 1)
	late.Class, late.MAC = rfc2865.Class_Get(first), phone // an interim of the old session
	k.dir.Heard(foreign)
	k.dir.Heard(forged)
	for range 3 {
		k.dir.Heard(told)
		k.dir.Heard(late)
	}
	in := k.recorded(1)[0]
	if !in.First.Equal(noon) || !in.At.Equal(noon.Add(10*time.Minute)) || !in.Ends.Equal(noon.Add(time.Hour)) ||
		in.MAC != mac {
		t.Errorf("recorded %+v", in)
	}
	answer, _ := k.accepted(typed(laptop, v.codes[0]))
	if got := rfc2865.SessionTimeout_Get(answer); got != 40*60 {
		t.Errorf("%d seconds are left", got)
	}
}

func TestVouchers_ADayIsOneOfTheCalendar(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Day, 1)
	history[0] = events.OrganizationCreated{OrgID: v.org, Billing: events.BillingSettings{Timezone: "Europe/Berlin"}}
	k := newKit(t, s, history...)
	k.clock.Advance(time.Date(2026, 3, 28, 18, 0, 0, 0, time.UTC).Sub(noon)) // summer time begins in the night
	answer, _ := k.accepted(typed(phone, v.codes[0]))
	if got := rfc2865.SessionTimeout_Get(answer); got != 23*3600 {
		t.Errorf("%d seconds", got)
	}
	k.clock.Set(noon) // a clock that goes back makes no time
	if answer, _ = k.accepted(typed(phone, v.codes[0])); rfc2865.SessionTimeout_Get(answer) != 23*3600 {
		t.Errorf("%d seconds after the jump", rfc2865.SessionTimeout_Get(answer))
	}
	k.clock.Advance(365 * 24 * time.Hour)
	k.refused(typed(phone, v.codes[0]), directory.CodeVoucherUsed)
}

func TestVouchers_TheSameCodeOfAnotherOrganizationIsUnknown(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Day, 1)
	k := newKit(t, s, history...)
	r := &radius.Request{
		UserName: []byte(v.codes[0]), Service: radius.ServiceHotspot, MAC: radius.MAC{1}, At: noon,
	}
	if k.dir.Find(&radius.NAS{ID: v.router, Org: v.org}, r) == nil {
		t.Fatal("not found at home")
	}
	if k.dir.Find(&radius.NAS{ID: v.router, Org: id.New[id.Organization]()}, r) != nil {
		t.Error("found at another organization's router")
	}
}

func TestVouchers_ACapThrottlesOrStopsUntilItsPeriodIsOver(t *testing.T) {
	t.Parallel()
	for _, then := range []events.CapAct{events.CapThrottle, events.CapStop} {
		s := newSafe()
		v, history := sell(s, calendar.Week, 2)
		made, _ := history[len(history)-2].(events.VoucherBatchMade)
		made.Terms.Access.Cap = events.Cap{
			Bytes: 1000, Period: "day", Then: then, Throttle: events.Speed{Down: 1000, Up: 500},
		}
		history[len(history)-2] = made
		k := newKit(t, s, history...)
		k.accepted(typed(phone, v.codes[0]))
		k.accepted(typed(laptop, v.codes[1]))
		about := events.VoucherUsage(v.org, v.subject(0).VoucherID)
		period := events.CapPeriod{Period: "day", ResetsAt: noon.Add(10 * time.Minute)}
		k.apply(events.CapReached{UsageSubject: about, CapPeriod: period, At: noon})
		present := func() directory.Present { return k.dir.Present(about.SubscriptionID, k.clock.Now()) }
		for _, mac := range []string{phone, laptop} {
			p := typed(mac, v.codes[0])
			if then == events.CapStop {
				k.refused(p, directory.CodeCapReached)
				if now := present(); now.Code != entitlement.CodeCapStopped || now.Grant != (directory.Grant{}) {
					t.Errorf("stopped: %+v", now)
				}
				continue
			}
			answer, rate := k.accepted(p)
			holder, found := k.dir.Holder(v.org, rfc2865.Class_Get(answer), "x", noon)
			if now := present(); rate != "500k/1M" || now.RateLimit != rate || !found || holder.Grant != now.Grant ||
				now.Grant.Access != entitlement.Throttled {
				t.Errorf("throttled to %q: %+v, %+v", rate, now, holder.Grant)
			}
		}
		if _, rate := k.accepted(typed(laptop, v.codes[1])); rate != "1500k/10M" {
			t.Errorf("another voucher has %q", rate)
		}
		k.clock.Advance(10 * time.Minute)
		if _, rate := k.accepted(typed(phone, v.codes[0])); rate != "1500k/10M" {
			t.Errorf("whole again: %q", rate)
		}
	}
}

// A Class counts for the routers of the voucher's organization, and for nobody once the voucher is forgotten.
func TestHolder_AVouchersClassIsNobodysElsewhere(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, "day", 1)
	other := newISP()
	theirs := other.begin(s, "127.0.0.2", "x", "pw")
	k := newKit(t, s, append(history, theirs...)...)
	answer, _ := k.accepted(hotspot(phone, v.codes[0], v.codes[0]))
	class := rfc2865.Class_Get(answer)
	for name, dir := range map[string]*kit{"known": k, "forgotten": newKit(t, s, theirs...)} {
		if h, found := dir.dir.Holder(other.org, class, "x", noon); !found || h.SubscriberID != other.subscriber {
			t.Errorf("%s: another organization's router was believed: %v %v", name, h.SubscriberID, found)
		}
	}
}
